// The closest of few clusters, of rows of few features: looked at all, in float64.
#pragma once

#include "exact.hpp"

namespace cprime::CPRIME_ISA {

// Whether to look at all clusters is cheaper than to narrow the search first.
inline bool are_few(int C, int D) { return D <= 32 && C * D <= 128; }

constexpr int MOST_OF_FEW = 5;  // clusters that lanes keep in order

// Rows take the place of clusters, eight side by side, and clusters that of rows: squares of
// differences are the same, and no lane has to look at another.
template <int KEPT>
class ClosestOfFew {
 public:
  explicit ClosestOfFew(const Clusters& clusters)
      : clusters_(clusters), columns_(size_t(clusters.Dp) * LANES, 0.0) {}

  // Sets K to the closest clusters of n <= 8 rows from `first`, best first and ties to the lowest
  // index, and `distances`, unless it is null, to how far they are.
  template <class RowAt>
  void find(int first, int n, RowAt row_at, int32_t* K, double* distances) {
    for (int r = 0; r < n; ++r) {
      const auto y = row_at(first + r);
      for (int d = 0; d < clusters_.D; ++d) columns_[size_t(d) * LANES + r] = double(y.values[d]);
    }
    std::fill_n(lowest_, KEPT, all<Doubles>(INFINITY));
    std::fill_n(closest_, KEPT, Longs{});
    int c = 0;
    for (; c + TOGETHER <= clusters_.C; c += TOGETHER) look_at<TOGETHER>(c);
    for (; c < clusters_.C; ++c) look_at<1>(c);
    for (int r = 0; r < n; ++r)
      for (int j = 0; j < KEPT; ++j) K[r * KEPT + j] = int32_t(closest_[j][r]);
    if (distances == nullptr) return;
    for (int r = 0; r < n; ++r)
      for (int j = 0; j < KEPT; ++j) distances[r * KEPT + j] = lowest_[j][r];
  }

 private:
  static constexpr int TOGETHER = 5;  // clusters

  template <int N>
  [[gnu::always_inline]] void look_at(int c) {
    const Group<N> found = every<N, 1>(clusters_.mean(c), clusters_.Dp, columns_.data(), clusters_.D, 0);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) insert(found.of[i], all<Longs>(int64_t(c + i)));
  }

  // Puts a cluster in its place; those that are farther move up, behind equals it stays.
  [[gnu::always_inline]] void insert(const Doubles& found, const Longs& cluster) {
    Longs nearer = found < lowest_[KEPT - 1];
    if constexpr (KEPT > 2)
      if (!any_true(nearer)) return;
#pragma GCC unroll 8
    for (int j = KEPT - 1; j > 0; --j) {
      const Longs nearer_than_next = found < lowest_[j - 1];
      const Doubles distance = nearer_than_next ? lowest_[j - 1] : found;
      const Longs of = nearer_than_next ? closest_[j - 1] : cluster;
      lowest_[j] = nearer ? distance : lowest_[j];
      closest_[j] = nearer ? of : closest_[j];
      nearer = nearer_than_next;
    }
    closest_[0] = nearer ? cluster : closest_[0];
    lowest_[0] = nearer ? found : lowest_[0];
  }

  const Clusters& clusters_;
  Buffer<double> columns_;  // of rows, feature by feature
  Doubles lowest_[KEPT];
  Longs closest_[KEPT];
};

}  // namespace cprime::CPRIME_ISA
