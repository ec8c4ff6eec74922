#include "tile.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace cprime::CPRIME_ISA {
namespace {

// A tile of rows times N vectors of clusters, with all sums in registers.
template <int N>
[[gnu::always_inline]] inline void multiply(const float* rows, size_t row_stride, int D,
                                            const float* panel, const float* constants,
                                            Floats (&sum)[TILE][N]) {
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
}

// Calls use(place of a panel, its number of vectors as a type) for panels of `width` clusters.
template <class Use>
[[gnu::always_inline]] inline void for_panels(int width, Use use) {
  for (int c = 0; c < width; c += PANEL) {
    switch ((width - c) / FLOATS) {
      case 1:
        use(c, std::integral_constant<int, 1>());
        break;
      case 2:
        use(c, std::integral_constant<int, 2>());
        break;
      default:
        use(c, std::integral_constant<int, VECTORS>());
    }
  }
}

// Clusters whose sums over features are in registers at once, beside the lowest scores.
constexpr int LANES_AT_ONCE = CPRIME_BYTES == 64 ? 8 : 4;

// Keeps so many scores, or a few more if there is no template for as many; NAMED: and their clusters.
template <int KEPT, bool NAMED>
void keep_lowest(const float* columns, int D, const float* panels, const float* constants, int width,
                 int wanted, LaneScores& scores, float (*lowest)[SIXTEEN], int32_t (*clusters)[SIXTEEN]) {
  if constexpr (KEPT < (NAMED ? NAMES : MOST_IN_LANES)) {
    constexpr int NEXT = KEPT < 6 ? KEPT + 1 : KEPT < 8 ? 8 : KEPT + 4;
    if (wanted > KEPT)
      return keep_lowest<NEXT, NAMED>(columns, D, panels, constants, width, wanted, scores, lowest, clusters);
  }
  Sixteen low[KEPT];
  SixteenInts of[NAMED ? KEPT : 1] = {};
  for (int j = 0; j < KEPT; ++j) low[j] = load<Sixteen>(lowest[j]);
  for (int begin = 0; begin < width; begin += PANEL) {
    const int in_panel = std::min(PANEL, width - begin);
    const float* panel = panels + size_t(begin) * D;
    for (int c = 0; c < in_panel; c += LANES_AT_ONCE) {
      Sixteen sum[LANES_AT_ONCE];
#pragma GCC unroll 8
      for (int k = 0; k < LANES_AT_ONCE; ++k) sum[k] = all<Sixteen>(constants[begin + c + k]);
      const float* of_clusters = panel + c;
      for (int d = 0; d < D; ++d, of_clusters += in_panel) {
        const Sixteen values = load<Sixteen>(columns + size_t(d) * SIXTEEN);
#pragma GCC unroll 8
        for (int k = 0; k < LANES_AT_ONCE; ++k) sum[k] += values * of_clusters[k];
      }
#pragma GCC unroll 8
      for (int k = 0; k < LANES_AT_ONCE; ++k) {
        const Sixteen score = sum[k];
        store(scores.of_clusters[begin + c + k], score);
        if constexpr (NAMED) {
          // The last is only a bound.
          const SixteenInts here = all<SixteenInts>(begin + c + k);
#pragma GCC unroll 16
          for (int j = KEPT - 2; j > 0; --j)
            of[j] = score < low[j - 1] ? of[j - 1] : score < low[j] ? here : of[j];
          of[0] = score < low[0] ? here : of[0];
        }
#pragma GCC unroll 16
        for (int j = KEPT - 1; j > 0; --j) low[j] = higher(low[j - 1], lower(score, low[j]));
        low[0] = lower(score, low[0]);
      }
    }
  }
  for (int j = 0; j < KEPT; ++j) store(lowest[j], low[j]);
  if constexpr (NAMED)
    for (int j = 0; j < KEPT; ++j) store(clusters[j], of[j]);
}

// The sums over the lanes of eight vectors, folded side by side.
[[gnu::always_inline]] inline EightFloats sums_of_lanes(const Sixteen (&of)[8]) {
  Sixteen halves[4], quarters[2];
  for (int k = 0; k < 4; ++k)
    halves[k] = __builtin_shufflevector(of[k], of[k + 4], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
                __builtin_shufflevector(of[k], of[k + 4], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  for (int k = 0; k < 2; ++k)
    quarters[k] = __builtin_shufflevector(halves[k], halves[k + 2], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
                  __builtin_shufflevector(halves[k], halves[k + 2], 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const Sixteen pairs =
      __builtin_shufflevector(quarters[0], quarters[1], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(quarters[0], quarters[1], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  return __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 9, 11, 13, 15);
}

constexpr int FEW_LISTED = 2;  // are scored one by one sooner than eight side by side

[[gnu::always_inline]] inline float score_one(const float* row, const float* mean, int stride, float constant) {
  Sixteen sum{};
  for (int d = 0; d < stride; d += SIXTEEN) sum += load<Sixteen>(row + d) * load<Sixteen>(mean + d);
  float score = constant;
  for (int lane = 0; lane < SIXTEEN; ++lane) score += sum[lane];
  return score;
}

}  // namespace

void score_lanes(const float* columns, int D, const float* panels, const float* constants, int width,
                 int wanted, LaneScores& scores, float (*lowest)[SIXTEEN], int32_t (*clusters)[SIXTEEN]) {
  if (clusters != nullptr)
    keep_lowest<3, true>(columns, D, panels, constants, width, wanted + 1, scores, lowest, clusters);
  else
    keep_lowest<2, false>(columns, D, panels, constants, width, wanted, scores, lowest, nullptr);
}

void score_tile(const float* rows, int row_stride, int D, const float* panels,
                const float* constants, int width, Scores& scores) {
  for (auto& of_row : scores.of_sets) std::fill_n(of_row, BINS, INFINITY);
  // The last sixteen may not all belong to a panel.
  const int columns = columns_of(width);
  for (auto& of_row : scores.of_columns) std::fill_n(of_row + columns - SIXTEEN, SIXTEEN, INFINITY);
  for_panels(width, [&](int c, auto vectors) __attribute__((always_inline)) {
    constexpr int N = decltype(vectors)::value;
    Floats sum[TILE][N];
    multiply(rows, row_stride, D, panels + size_t(c) * D, constants + c, sum);
    const int column = c / VECTORS, set = column % BINS;
#pragma GCC unroll 8
    for (int r = 0; r < TILE; ++r) {
      Floats lowest = sum[r][0];
      store(scores.of_clusters[r] + c, lowest);
#pragma GCC unroll 3
      for (int v = 1; v < N; ++v) {
        store(scores.of_clusters[r] + c + v * FLOATS, sum[r][v]);
        lowest = lower(sum[r][v], lowest);
      }
      store(scores.of_columns[r] + column, lowest);
      store(scores.of_sets[r] + set, lower(lowest, load<Floats>(scores.of_sets[r] + set)));
    }
  });
}

void lowest_two_of_tile(const float* rows, int row_stride, int D, const float* panels,
                        const float* constants, int width, int first, LowestTwo* of_rows) {
  for_panels(width, [&](int c, auto vectors) __attribute__((always_inline)) {
    constexpr int N = decltype(vectors)::value;
    Floats sum[TILE][N];
    multiply(rows, row_stride, D, panels + size_t(c) * D, constants + c, sum);
    const int set = c / VECTORS % BINS;
#pragma GCC unroll 8
    for (int r = 0; r < TILE; ++r) {
      LowestTwo& of = of_rows[r];
      Floats lowest = load<Floats>(of.lowest + set), second = load<Floats>(of.second + set);
      Ints vector = load<Ints>(of.vector + set);
#pragma GCC unroll 3
      for (int v = 0; v < N; ++v) {
        const Floats score = sum[r][v];
        vector = score < lowest ? all<Ints>(first + c + v * FLOATS) : vector;
        second = lower(higher(score, lowest), second);
        lowest = lower(score, lowest);
      }
      store(of.lowest + set, lowest);
      store(of.second + set, second);
      store(of.vector + set, vector);
    }
  });
}

void score_listed(const float* row, const float* means, int stride, const float* constants,
                  const int32_t* listed, int n, float* out) {
  if (n <= FEW_LISTED) {
    for (int j = 0; j < n; ++j) out[j] = score_one(row, means + size_t(listed[j]) * stride, stride, constants[listed[j]]);
    return;
  }
  for (int j = 0; j < n; j += LISTED_AT_ONCE) {
    const float* of[LISTED_AT_ONCE];
    EightFloats constant;
    for (int k = 0; k < LISTED_AT_ONCE; ++k) {
      of[k] = means + size_t(listed[j + k]) * stride;
      constant[k] = constants[listed[j + k]];
    }
    Sixteen sum[LISTED_AT_ONCE] = {};
    for (int d = 0; d < stride; d += SIXTEEN) {
      const Sixteen values = load<Sixteen>(row + d);
#pragma GCC unroll 8
      for (int k = 0; k < LISTED_AT_ONCE; ++k) sum[k] += values * load<Sixteen>(of[k] + d);
    }
    store(out + j, constant + sums_of_lanes(sum));
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

}  // namespace cprime::CPRIME_ISA
