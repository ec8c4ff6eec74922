// Sums over the rows of a block, once it is known which clusters they keep.
#pragma once

#include <cmath>

#include "load.hpp"
#include "hint_access.hpp"

namespace cprime::CPRIME_ISA {

// Rows between asking for one and adding it: memory is slower than additions are.
constexpr int ASKED_AHEAD = 16;

class Statistics : public HintAccess {
 public:
  using HintAccess::HintAccess;

 protected:
  void count_changes() {
    for (int r = 0; r < n_; ++r) {
      const bool changed = sweep_.before == nullptr ||
                           (C_prime_ == 1 ? before(r)[0] != after(r)[0] : differs(before(r), after(r)));
      sums_.changed += changed && weight(r) != 0.0;
    }
  }

  // Whether two rows of clusters differ as sets.
  bool differs(const int32_t* one, const int32_t* other) {
    if (std::equal(one, one + C_prime_, other)) return false;
    auto& a = work_.sorted_before;
    auto& b = work_.sorted_after;
    a.assign(one, one + C_prime_);
    b.assign(other, other + C_prime_);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a != b;
  }

  template <class RowAt>
  void accumulate_hard(RowAt row_at) {
    double scatter = 0.0, free_energy = 0.0, total = 0.0;
    for (int r = 0; r < n_; ++r) {
      if (r + ASKED_AHEAD < n_) prefetch(row_at(r + ASKED_AHEAD));
      const double w = weight(r);
      if (w == 0.0) continue;
      const int c = after(r)[0];
      const double d = add_row(c, w, row_at(r));
      scatter += w * d;
      free_energy += w * (sweep_.highest_bias - sweep_.sharpness * (d + clusters_.penalty[c]));
      total += w;
    }
    sums_.scatter += scatter;
    sums_.quantization_error += scatter;
    sums_.free_energy += free_energy;
    sums_.weight += total;
  }

  void accumulate_soft() {
    exponentiate();
    for (int r = 0; r < n_; ++r) {
      const double w = weight(r);
      if (w == 0.0) continue;
      double* shares = work_.relative.data() + size_t(r) * C_prime_;
      add_row_sums(r, w, shares);
      for (int j = 0; j < C_prime_; ++j) {
        if (shares[j] == 0.0) continue;
        const int c = after(r)[j];
        add_row(c, shares[j], LoadedRow{row(r)});
        if (clusters_.is_whitened()) add_scatter(c, shares[j], row(r), kept(r)[j]);
      }
    }
  }

  // Sets `relative` to how likely the clusters are that rows keep, the best of each being 1.
  void exponentiate() {
    const int n = n_ * C_prime_;
    auto& relative = work_.relative;
    relative.resize(size_t(n + LANES));
    for (int r = 0; r < n_; ++r) {
      const double best = lowest_score(r);
      for (int j = 0; j < C_prime_; ++j)
        relative[size_t(r) * C_prime_ + j] = sweep_.sharpness * (best - score(r, j));
    }
    std::fill_n(relative.begin() + n, LANES, 0.0);
    exponentials(relative.data(), n);
  }

  // Turns those of one row into its shares w q, and adds up what rows have one of.
  void add_row_sums(int r, double w, double* shares) {
    const double best = lowest_score(r);
    double total = 0.0, surprise = 0.0, scatter = 0.0;
    for (int j = 0; j < C_prime_; ++j) total += shares[j];
    const double log_total = std::log(total);
    for (int j = 0; j < C_prime_; ++j) {
      const double q = shares[j] / total;
      shares[j] = w * q;
      if (q == 0.0) continue;
      surprise += q * (sweep_.sharpness * (best - score(r, j)));
      scatter += shares[j] * kept(r)[j];
    }
    sums_.scatter += scatter;
    sums_.quantization_error += w * kept(r)[0];
    sums_.entropy += w * (log_total - surprise);
    sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * best + log_total);
    sums_.weight += w;
  }

  // Adds to the scatter a cluster has of its own.
  void add_scatter(int c, double share, const double* y, double squared) {
    if (clusters_.whitened == Clusters::Whitening::OF_CLUSTERS) {
      sums_.scatters[c] += share * squared;
      return;
    }
    if (clusters_.whitened == Clusters::Whitening::TRIANGLES) {
      work_.difference.resize(size_t(Dp_));
      subtract(y, mean(c), Dp_, work_.difference.data());
      add_matrix(share, work_.difference.data(), Dp_,
                 sums_.scatters.data() + size_t(c) * triangle_size(Dp_));
      return;
    }
    double* scatter = sums_.scatters.data() + size_t(c) * Dp_;
    const double* mu = mean(c);
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = load<Doubles>(y + d) - load<Doubles>(mu + d);
      store(scatter + d, load<Doubles>(scatter + d) + share * difference * difference);
    }
  }

  double score(int r, int j) { return kept(r)[j] + clusters_.penalty[after(r)[j]]; }

  double lowest_score(int r) {
    double best = score(r, 0);
    for (int j = 1; j < C_prime_; ++j) best = std::min(best, score(r, j));
    return best;
  }

  // Adds w and w (y - mu) to what a cluster has; returns ||y - mu||^2.
  template <class Row>
  [[gnu::always_inline]] double add_row(int c, double w, const Row& y) {
    const double* mu = mean(c);
    double* shift = sums_.shifts.data() + size_t(c) * Dp_;
    Doubles squares{};
    sums_.meet(c);
    sums_.counts[c] += w;
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = y.at(d) - load<Doubles>(mu + d);
      squares += difference * difference;
      store(shift + d, load<Doubles>(shift + d) + w * difference);
    }
    return folded(squares);
  }
};

}  // namespace cprime::CPRIME_ISA
