// A tile of rows times a panel of clusters, with all sums in registers.
#pragma once

#include "lanes.hpp"

namespace cprime::CPRIME_PATH {

// Calls use(row, vector of the panel, its scores) when all features are in.
template <class Vector, int N, class Scalar, class Use>
[[gnu::always_inline]] inline void for_panel(const Scalar* rows, size_t row_stride, int D,
                                               const Scalar* panel, const Scalar* constants,
                                               Use use) {
  constexpr int LENGTH = sizeof(Vector) / sizeof(Scalar);
  Vector sum[TILE][N];
#pragma GCC unroll 8
  for (int r = 0; r < TILE; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) sum[r][v] = load<Vector>(constants + v * LENGTH);
  for (int d = 0; d < D; ++d, panel += N * LENGTH) {
    Vector clusters[N];
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) clusters[v] = load<Vector>(panel + v * LENGTH);
#pragma GCC unroll 8
    for (int r = 0; r < TILE; ++r) {
      const Vector value = all<Vector>(rows[r * row_stride + d]);
#pragma GCC unroll 3
      for (int v = 0; v < N; ++v) sum[r][v] += value * clusters[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < TILE; ++r) use(r, sum[r]);
}

}  // namespace cprime::CPRIME_PATH
