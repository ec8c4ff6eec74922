#include "tile.hpp"

#include <cmath>
#include <type_traits>

namespace cprime::CPRIME_PATH {
namespace {

// Calls use(row, vector of the panel, its scores) when all features are in.
template <class Vector, int N, class Scalar, class Use>
[[gnu::always_inline]] inline void score_panel(const Scalar* rows, size_t row_stride, int D,
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

template <int N>
[[gnu::always_inline]] inline void score_panel(const float* rows, size_t row_stride, int D,
                                               const float* panel, const float* constants,
                                               float* scores, size_t stride, float* bins) {
  score_panel<Floats, N>(rows, row_stride, D, panel, constants, [&](int r, const Floats* sum) {
    Floats lowest = load<Floats>(bins + r * BINS);
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) {
      store(scores + r * stride + v * FLOATS, sum[v]);
      lowest = lower(sum[v], lowest);
    }
    store(bins + r * BINS, lowest);
  });
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

void score_tile(const double* rows, int row_stride, int D, const double* panels,
                const double* constants, int width, double* scores, int stride) {
  constexpr int LENGTH = PANEL64 / VECTORS;
  for (int c = 0; c < width; c += PANEL64) {
    const double* panel = panels + size_t(c) * D;
    const auto score = [&](auto n) {
      constexpr int N = decltype(n)::value;
      score_panel<FewDoubles, N>(rows, row_stride, D, panel, constants + c,
                                 [&](int r, const FewDoubles* sum) {
#pragma GCC unroll 3
                                   for (int v = 0; v < N; ++v)
                                     store(scores + size_t(r) * stride + c + v * LENGTH, sum[v]);
                                 });
    };
    switch ((width - c) / LENGTH) {
      case 1: score(std::integral_constant<int, 1>()); break;
      case 2: score(std::integral_constant<int, 2>()); break;
      default: score(std::integral_constant<int, 3>());
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
