// Masses of positions on a line: what are they together, and where on them does a random point fall?
#pragma once

#include <cstdint>
#include <vector>

namespace cprime {

// A binary tree of sums: one mass that changes changes few of them, and a draw looks at as few.
class Masses {
 public:
  explicit Masses(int64_t n) : n_(n) {
    while (size_ < n) size_ *= 2;
    sums_.assign(size_t(2 * size_), 0.0);
  }

  double total() const { return sums_[1]; }

  // Every position gets mass_of(position).
  template <class MassOf>
  void set_all(MassOf mass_of) {
    for (int64_t i = 0; i < n_; ++i) sums_[size_t(size_ + i)] = mass_of(i);
    int64_t n = n_;
    for (int64_t parents = size_ / 2; parents > 0; parents /= 2) {
      n = (n + 1) / 2;
      for (int64_t i = parents; i < parents + n; ++i) add_up(i);
    }
  }

  void set(int64_t position, double mass) {
    int64_t i = size_ + position;
    sums_[size_t(i)] = mass;
    while (i > 1) add_up(i /= 2);
  }

  // The position at this point, in [0, 1), of the cumulated masses: one that has some, if any has.
  int64_t at(double point) const {
    double left = point * total();
    int64_t i = 1;
    while (i < size_) {
      i *= 2;
      const double before = sums_[size_t(i)];
      // Rounding may have left more than there is.
      if (left < before || sums_[size_t(i) + 1] == 0.0) continue;
      left -= before;
      ++i;
    }
    return i - size_;
  }

 private:
  void add_up(int64_t i) { sums_[size_t(i)] = sums_[size_t(2 * i)] + sums_[size_t(2 * i + 1)]; }

  const int64_t n_;
  int64_t size_ = 1;          // positions, up to a power of two
  std::vector<double> sums_;  // of node i, whose halves are 2 i and 2 i + 1; leaves are from `size_` on
};

}  // namespace cprime
