#include "tile.hpp"

#include <cmath>

namespace cprime::CPRIME_PATH {
namespace {

// A tile of rows times N vectors of clusters, with all sums in registers.
template <int N>
[[gnu::always_inline]] inline void score_panel(const float* rows, size_t row_stride, int D,
                                               const float* panel, const float* constants,
                                               float* scores, size_t stride, float* bins) {
  Floats sum[TILE][N];
#pragma GCC unroll 8
  for (int r = 0; r < TILE; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) sum[r][v] = load<Floats>(constants + v * FLOATS);
  for (int d = 0; d < D; ++d, panel += N * FLOATS) {
    Floats clusters[N];
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) clusters[v] = load<Floats>(panel + v * FLOATS);
#pragma GCC unroll 8
    for (int r = 0; r < TILE; ++r) {
      const Floats value = all<Floats>(rows[r * row_stride + d]);
#pragma GCC unroll 3
      for (int v = 0; v < N; ++v) sum[r][v] += value * clusters[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < TILE; ++r) {
    Floats lowest = load<Floats>(bins + r * BINS);
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) {
      store(scores + r * stride + v * FLOATS, sum[r][v]);
      lowest = lower(sum[r][v], lowest);
    }
    store(bins + r * BINS, lowest);
  }
}

}  // namespace

void score_tile(const float* rows, int row_stride, int D, const float* panels,
                const float* constants, int width, float* scores, int stride, float* bins) {
  for (int i = 0; i < TILE * BINS; ++i) bins[i] = INFINITY;
  for (int c = 0; c < width; c += PANEL) {
    const float* panel = panels + size_t(c) * D;
    float* bin = bins + c / VECTORS % BINS;
    switch ((width - c) / FLOATS) {
      case 1:
        score_panel<1>(rows, row_stride, D, panel, constants + c, scores + c, stride, bin);
        break;
      case 2:
        score_panel<2>(rows, row_stride, D, panel, constants + c, scores + c, stride, bin);
        break;
      default:
        score_panel<3>(rows, row_stride, D, panel, constants + c, scores + c, stride, bin);
    }
  }
}

double multiply_adds(int64_t rounds) {
  Floats sum[TILE * VECTORS];
  for (int i = 0; i < TILE * VECTORS; ++i) sum[i] = all<Floats>(float(i));
  const Floats factor = all<Floats>(0.999f), term = all<Floats>(1e-3f);
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 24
    for (int i = 0; i < TILE * VECTORS; ++i) sum[i] = sum[i] * factor + term;
  volatile float kept = 0;
  for (int i = 0; i < TILE * VECTORS; ++i) kept = kept + sum[i][0];
  return 2.0 * double(rounds) * TILE * PANEL;
}

}  // namespace cprime::CPRIME_PATH
