// Arithmetic in float64 that is reported: the same bits on every vector unit.
#pragma once

#include <cmath>

#include "lanes.hpp"
#include "triangles.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

// The canonical ||y - mu||^2 of up to four features: the other lanes add nothing.
[[gnu::always_inline]] inline double short_distance(const double* y, const double* mu) {
  typedef double Four __attribute__((vector_size(32)));
  const Four difference = load<Four>(y) - load<Four>(mu), squares = difference * difference;
  return (squares[0] + squares[2]) + (squares[1] + squares[3]);
}

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

constexpr int ROWS_AT_ONCE = 6;  // as many as have their sums in registers

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
        const Doubles difference = mu - y[size_t(r) * Dp + d];
        sum.of[r] += difference * difference;
      }
    }
  } else {
    sum = every<ROWS, 2 * STRIDE>(y, Dp, columns, D, first);
    if (first + STRIDE >= D) return sum;
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

// The same of differences multiplied by the clusters' whitenings, feature by feature.
template <int ROWS, int STRIDE>
[[gnu::always_inline]] inline Group<ROWS> every_whitened(const double* y, int Dp, const double* columns,
                                                         const double* whitening, int D, int first) {
  Group<ROWS> sum{};
  if constexpr (STRIDE == LANES) {
    for (int d = first; d < D; d += LANES) {
      const Doubles mu = load<Doubles>(columns + size_t(d) * LANES);
      const Doubles w = load<Doubles>(whitening + size_t(d) * LANES);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r) {
        const Doubles difference = (mu - y[size_t(r) * Dp + d]) * w;
        sum.of[r] += difference * difference;
      }
    }
  } else {
    sum = every_whitened<ROWS, 2 * STRIDE>(y, Dp, columns, whitening, D, first);
    if (first + STRIDE >= D) return sum;
    const Group<ROWS> other =
        every_whitened<ROWS, 2 * STRIDE>(y, Dp, columns, whitening, D, first + STRIDE);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; ++r) sum.of[r] += other.of[r];
  }
  return sum;
}

// The canonical ||W_c (y - mu_c)||^2; of triangles, that of this kernel.
inline double whitened_distance(const double* y, const Clusters& clusters, int c) {
  const int Dp = clusters.Dp;
  const double* mu = clusters.mean(c);
  if (clusters.whitened == Clusters::Whitening::TRIANGLES) {
    Buffer<double> z(static_cast<size_t>(Dp));
    subtract(y, mu, Dp, z.data());
    double found;
    triangle_distances<1>(z.data(), clusters.whitening.data() + size_t(c) * triangle_size(Dp), Dp,
                          clusters.penalty[c], nullptr, &found);
    return found;
  }
  if (clusters.whitened != Clusters::Whitening::OF_FEATURES) {
    const double found = distance(y, mu, Dp);
    return clusters.is_whitened() ? found * (clusters.whitening[c] * clusters.whitening[c]) : found;
  }
  const double* whitening = clusters.whitening.data() + size_t(c) * Dp;
  Doubles sum{};
  for (int d = 0; d < Dp; d += LANES) {
    const Doubles difference =
        (load<Doubles>(y + d) - load<Doubles>(mu + d)) * load<Doubles>(whitening + d);
    sum += difference * difference;
  }
  return folded(sum);
}

template <int ROWS>
inline void whitened_distances_to_all(const double* y, const Clusters& clusters, double* out,
                                      int stride) {
  const int D = clusters.D, Dp = clusters.Dp;
  if (clusters.whitened == Clusters::Whitening::TRIANGLES) {
    Buffer<double> differences;
    triangle_distances_to_all(y, ROWS, clusters, out, stride, differences);
    return;
  }
  if (clusters.whitened != Clusters::Whitening::OF_FEATURES) {
    distances_to_all<ROWS>(y, clusters, out, stride);
    if (!clusters.is_whitened()) return;
    for (int c = 0; c < clusters.C; c += LANES) {
      const Doubles w = load<Doubles>(clusters.whitening.data() + c), squared = w * w;
      for (int r = 0; r < ROWS; ++r) {
        double* to = out + size_t(r) * stride + c;
        store(to, load<Doubles>(to) * squared);
      }
    }
    return;
  }
  for (int c = 0; c < clusters.C; c += LANES) {
    const size_t place = size_t(c) * D;
    const Group<ROWS> found =
        every_whitened<ROWS, 1>(y, Dp, clusters.columns.data() + place,
                                clusters.whitening_columns.data() + place, D, 0);
    for (int r = 0; r < ROWS; ++r) store(out + size_t(r) * stride + c, found.of[r]);
  }
}

// exp(x) = fraction * 2^exponent, of eight numbers between -746 and 0.
struct Power {
  Doubles fraction;
  Longs exponent;
};

[[gnu::always_inline]] inline Power power(const Doubles& x) {
  constexpr double LOG2_E = 1.4426950408889634074;
  constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
  constexpr double MAGIC = 6755399441055744.0;  // 1.5 * 2^52: rounds to an integer
  const Doubles shifted = x * LOG2_E + MAGIC;
  const Doubles whole = shifted - MAGIC;
  const Doubles r = (x - whole * LN2_HIGH) - whole * LN2_LOW;
  // The series, in a form that has few steps one after the other.
  const Doubles r2 = r * r, r4 = r2 * r2;
  const auto pair = [&](double low, double high) { return r * high + low; };
  const auto four = [&](double a, double b, double c, double d) {
    return pair(c, d) * r2 + pair(a, b);
  };
  const Doubles first = four(1.0, 1.0, 0.5, 1.0 / 6.0);
  const Doubles second = four(1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0);
  const Doubles third = four(1.0 / 40320.0, 1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0);
  const Doubles last = pair(1.0 / 479001600.0, 1.0 / 6227020800.0);
  const Doubles fraction = ((last * r4 + third) * r4 + second) * r4 + first;
  Longs exponent, magic_bits;
  const Doubles magic = all<Doubles>(MAGIC);
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&magic_bits, &magic, sizeof magic_bits);
  return {fraction, exponent - magic_bits};
}

// Results below the normal range of float64 are rounded once, at the end: two factors.
[[gnu::noinline]] inline Doubles tiny_exponential(const Doubles& x) {
  const Power found = power(x);
  const Longs half = found.exponent >> 1, other = found.exponent - half;
  const Longs first_bits = (half + 1023) << 52, second_bits = (other + 1023) << 52;
  Doubles first, second;
  std::memcpy(&first, &first_bits, sizeof first);
  std::memcpy(&second, &second_bits, sizeof second);
  return found.fraction * first * second;
}

// exp of eight numbers that are at most 0, -inf included, to an ulp or two.
[[gnu::always_inline]] inline Doubles exponential(const Doubles& x) {
  const Doubles least_normal = all<Doubles>(-708.0), least = all<Doubles>(-746.0);
  const Longs is_normal = x >= least_normal;
  const Power found = power(is_normal ? x : least_normal);
  Longs bits;
  std::memcpy(&bits, &found.fraction, sizeof bits);
  bits = (bits + (found.exponent << 52)) & is_normal;
  Doubles result;
  std::memcpy(&result, &bits, sizeof result);
  const Longs is_tiny = (x < least_normal) & (x > least);
  if (__builtin_expect(any_true(is_tiny), 0))
    result = is_tiny ? tiny_exponential(is_tiny ? x : Doubles{}) : result;
  return result;
}

// log of eight numbers in the normal range, to an ulp: the series of fdlibm about 1.
[[gnu::always_inline]] inline Doubles logarithm(const Doubles& x) {
  constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
  constexpr int64_t ROOT_OF_HALF = 0x3fe6a09e667f3bcd;
  constexpr double INTEGER = 6755399441055744.0;  // 1.5 * 2^52: its last bits count
  Longs bits, integer_bits;
  const Doubles integer = all<Doubles>(INTEGER);
  std::memcpy(&bits, &x, sizeof bits);
  std::memcpy(&integer_bits, &integer, sizeof integer_bits);
  const Longs exponent = (bits - ROOT_OF_HALF) >> 52, fraction_bits = bits - (exponent << 52);
  const Longs sum_bits = integer_bits + exponent;
  Doubles fraction, sum;
  std::memcpy(&fraction, &fraction_bits, sizeof fraction);
  std::memcpy(&sum, &sum_bits, sizeof sum);
  const Doubles k = sum - INTEGER, f = fraction - 1.0, s = f / (f + 2.0), z = s * s, w = z * z;
  const Doubles even = w * (w * (w * 1.531383769920937332e-01 + 2.222219843214978396e-01) +
                            3.999999999940941908e-01);
  const Doubles odd = z * (w * (w * (w * 1.479819860511658591e-01 + 1.818357216161805012e-01) +
                                2.857142874366239149e-01) +
                           6.666666666666735130e-01);
  const Doubles half = 0.5 * f * f;
  return k * LN2_HIGH - ((half - (s * (half + (even + odd)) + k * LN2_LOW)) - f);
}

// exp in place of any number of values that are at most 0, padded to whole vectors.
inline void exponentials(double* values, int n) {
  for (int i = 0; i < n; i += LANES) store(values + i, exponential(load<Doubles>(values + i)));
}

}  // namespace cprime::CPRIME_ISA
