// The closest of few clusters, of rows of few features: looked at all, in float64.
#pragma once

#include "exact.hpp"

namespace cprime::CPRIME_ISA {

// Whether to look at all clusters is cheaper than to narrow the search first.
inline bool are_few(int C, int D) { return D <= 32 && C * D <= 128; }

// Rows take the place of clusters, eight side by side, and clusters that of rows: squares of
// differences are the same, and no lane has to look at another.
class ClosestOfFew {
 public:
  explicit ClosestOfFew(const Clusters& clusters)
      : clusters_(clusters), columns_(size_t(clusters.Dp) * LANES, 0.0) {}

  // Sets K to the closest clusters of n <= 8 rows from `first`, ties to the lowest index.
  template <class RowAt>
  void find(int first, int n, RowAt row_at, int32_t* K) {
    for (int r = 0; r < n; ++r) {
      const auto y = row_at(first + r);
      for (int d = 0; d < clusters_.D; ++d) columns_[size_t(d) * LANES + r] = double(y.values[d]);
    }
    lowest_ = all<Doubles>(INFINITY);
    closest_ = Longs{};
    int c = 0;
    for (; c + TOGETHER <= clusters_.C; c += TOGETHER) look_at<TOGETHER>(c);
    for (; c < clusters_.C; ++c) look_at<1>(c);
    for (int r = 0; r < n; ++r) K[r] = int32_t(closest_[r]);
  }

 private:
  static constexpr int TOGETHER = 5;  // clusters

  template <int N>
  [[gnu::always_inline]] void look_at(int c) {
    const Group<N> found = every<N, 1>(clusters_.mean(c), clusters_.Dp, columns_.data(), clusters_.D, 0);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      const Longs nearer = found.of[i] < lowest_;
      closest_ = nearer ? all<Longs>(int64_t(c + i)) : closest_;
      lowest_ = nearer ? found.of[i] : lowest_;
    }
  }

  const Clusters& clusters_;
  Buffer<double> columns_;  // of rows, feature by feature
  Doubles lowest_;
  Longs closest_;
};

}  // namespace cprime::CPRIME_ISA
