// Compiled without fused multiply-adds: gaps are reported, so they have the same bits on
// every path.
#include <type_traits>

#include "panel.hpp"
#include "tile.hpp"

namespace cprime::CPRIME_PATH {

void score_tile(const double* rows, int row_stride, int D, const double* panels,
                const double* constants, int width, double* scores, int stride) {
  constexpr int LENGTH = PANEL64 / VECTORS;
  for (int c = 0; c < width; c += PANEL64) {
    const double* panel = panels + size_t(c) * D;
    const auto score = [&](auto n) {
      constexpr int N = decltype(n)::value;
      for_panel<FewDoubles, N>(rows, row_stride, D, panel, constants + c,
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

}  // namespace cprime::CPRIME_PATH
