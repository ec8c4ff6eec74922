// Arithmetic in float64 that is reported: the same bits on every path.
#pragma once

#include <cmath>

#include "lanes.hpp"
#include "values.hpp"

namespace cprime::CPRIME_PATH {

// The canonical ||y - mu||^2.
[[gnu::always_inline]] inline double distance(const double* y, const double* mu, int Dp) {
  Doubles sum{};
  for (int d = 0; d < Dp; d += LANES) {
    const Doubles difference = load<Doubles>(y + d) - load<Doubles>(mu + d);
    sum += difference * difference;
  }
  return folded(sum);
}

// The same of a row that may be read where it lies.
template <class Row>
[[gnu::always_inline]] inline double distance_of(const Row& y, const double* mu, int Dp) {
  Doubles sum{};
  for (int d = 0; d < Dp; d += LANES) {
    const Doubles difference = y.at(d) - load<Doubles>(mu + d);
    sum += difference * difference;
  }
  return folded(sum);
}

template <int ROWS>
struct Group {
  Doubles of[ROWS];
};

// Sums over features first, first + STRIDE, ... of eight clusters and several rows.
template <int ROWS, int STRIDE>
[[gnu::always_inline]] inline Group<ROWS> every(const double* y, int Dp, const double* columns,
                                                int D, int first) {
  Group<ROWS> sum{};
  if constexpr (STRIDE == LANES) {
    for (int d = first; d < D; d += LANES) {
      const Doubles mu = load<Doubles>(columns + size_t(d) * LANES);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r) {
        const Doubles difference = y[size_t(r) * Dp + d] - mu;
        sum.of[r] += difference * difference;
      }
    }
  } else {
    sum = every<ROWS, 2 * STRIDE>(y, Dp, columns, D, first);
    const Group<ROWS> other = every<ROWS, 2 * STRIDE>(y, Dp, columns, D, first + STRIDE);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; ++r) sum.of[r] += other.of[r];
  }
  return sum;
}

// The canonical distances of several rows to all clusters; out has `stride` per row, at
// least C rounded up to eight.
template <int ROWS>
inline void distances_to_all(const double* y, const Clusters& clusters, double* out, int stride) {
  const int D = clusters.D, Dp = clusters.Dp;
  for (int c = 0; c < clusters.C; c += LANES) {
    const double* columns = clusters.columns.data() + size_t(c) * D;
    const Group<ROWS> found = every<ROWS, 1>(y, Dp, columns, D, 0);
    for (int r = 0; r < ROWS; ++r) store(out + size_t(r) * stride + c, found.of[r]);
  }
}

// exp of eight numbers between -746 and 0, to an ulp or two; where it is below the normal
// range of float64, arithmetic is slow.
[[gnu::always_inline]] inline Doubles exponential_at_any_speed(const Doubles& x) {
  constexpr double LOG2_E = 1.4426950408889634074;
  constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
  constexpr double MAGIC = 6755399441055744.0;  // 1.5 * 2^52: rounds to an integer
  const Doubles shifted = x * LOG2_E + MAGIC;
  const Doubles whole = shifted - MAGIC;
  const Doubles r = (x - whole * LN2_HIGH) - whole * LN2_LOW;
  Doubles sum = all<Doubles>(1.0 / 6227020800.0);
  constexpr double INVERSE_FACTORIALS[] = {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                           1.0 / 362880.0,    1.0 / 40320.0,    1.0 / 5040.0,
                                           1.0 / 720.0,       1.0 / 120.0,      1.0 / 24.0,
                                           1.0 / 6.0,         0.5,              1.0,
                                           1.0};
#pragma GCC unroll 13
  for (double coefficient : INVERSE_FACTORIALS) sum = sum * r + coefficient;
  Longs exponent, magic_bits;
  const Doubles magic = all<Doubles>(MAGIC);
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&magic_bits, &magic, sizeof magic_bits);
  exponent -= magic_bits;
  // Two factors, so that results below the normal range are rounded once, at the end.
  const Longs half = exponent >> 1, other = exponent - half;
  const Longs first_bits = (half + 1023) << 52, second_bits = (other + 1023) << 52;
  Doubles first, second;
  std::memcpy(&first, &first_bits, sizeof first);
  std::memcpy(&second, &second_bits, sizeof second);
  return sum * first * second;
}

// exp of eight numbers that are at most 0, -inf included.
[[gnu::always_inline]] inline Doubles exponential(const Doubles& x) {
  const Doubles least_normal = all<Doubles>(-708.0), least = all<Doubles>(-746.0);
  const Longs is_normal = x >= least_normal;
  Doubles result = exponential_at_any_speed(is_normal ? x : least_normal);
  result = is_normal ? result : Doubles{};
  const Longs is_tiny = (x < least_normal) & (x > least);
  if (__builtin_expect(any_true(is_tiny), 0))
    result = is_tiny ? exponential_at_any_speed(is_tiny ? x : Doubles{}) : result;
  return result;
}

// exp in place of any number of values that are at most 0, padded to whole vectors.
inline void exponentials(double* values, int n) {
  for (int i = 0; i < n; i += LANES) store(values + i, exponential(load<Doubles>(values + i)));
}

}  // namespace cprime::CPRIME_PATH
