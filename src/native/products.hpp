// Squared distances in float64 from products of rows and means: half the work of the canonical ones.
#pragma once

#include "exact.hpp"

namespace cprime::CPRIME_ISA {

// Sums of products over features first, first + STRIDE, ... of eight clusters and several rows.
template <int ROWS, int STRIDE>
[[gnu::always_inline]] inline Group<ROWS> every_product(const double* y, int Dp, const double* columns,
                                                        int D, int first) {
  Group<ROWS> sum{};
  if constexpr (STRIDE == LANES) {
    for (int d = first; d < D; d += LANES) {
      const Doubles mu = load<Doubles>(columns + size_t(d) * LANES);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r) sum.of[r] += mu * y[size_t(r) * Dp + d];
    }
  } else {
    sum = every_product<ROWS, 2 * STRIDE>(y, Dp, columns, D, first);
    if (first + STRIDE >= D) return sum;
    const Group<ROWS> other = every_product<ROWS, 2 * STRIDE>(y, Dp, columns, D, first + STRIDE);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; ++r) sum.of[r] += other.of[r];
  }
  return sum;
}

// Distances of several centred rows to all clusters, less the rows' squares, penalties included;
// out has `stride` per row, C rounded up to eight.
template <int ROWS>
inline void products_with_all(const double* y, const Clusters& clusters, const Centred& centred,
                              double* out, int stride) {
  const int D = clusters.D, Dp = clusters.Dp;
  for (int c = 0; c < stride; c += LANES) {
    const Doubles squares = load<Doubles>(centred.squares.data() + c);
    const Group<ROWS> found =
        every_product<ROWS, 1>(y, Dp, centred.columns.data() + size_t(c) * D, D, 0);
    for (int r = 0; r < ROWS; ++r) store(out + size_t(r) * stride + c, squares - 2.0 * found.of[r]);
  }
}

// Calls use(sum, place) with the sum over features of of(y, mu), for n clusters: four at once, so that no addition waits for the one before it.
template <class Of, class Use>
[[gnu::always_inline]] inline void sum_features(const double* y, const double* means, int Dp,
                                                const int32_t* clusters, int n, Of of, Use use) {
  const auto mean = [&](int j) { return means + size_t(clusters[j]) * Dp; };
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    const double *mu0 = mean(j), *mu1 = mean(j + 1), *mu2 = mean(j + 2), *mu3 = mean(j + 3);
    Doubles sum0{}, sum1{}, sum2{}, sum3{};
    for (int d = 0; d < Dp; d += LANES) {
      const Doubles value = load<Doubles>(y + d);
      sum0 += of(value, load<Doubles>(mu0 + d));
      sum1 += of(value, load<Doubles>(mu1 + d));
      sum2 += of(value, load<Doubles>(mu2 + d));
      sum3 += of(value, load<Doubles>(mu3 + d));
    }
    use(folded(sum0), j);
    use(folded(sum1), j + 1);
    use(folded(sum2), j + 2);
    use(folded(sum3), j + 3);
  }
  for (; j < n; ++j) {
    Doubles sum{};
    for (int d = 0; d < Dp; d += LANES) sum += of(load<Doubles>(y + d), load<Doubles>(mean(j) + d));
    use(folded(sum), j);
  }
}

// The same numbers as `products_with_all`, to the bit, of one row and n clusters.
inline void products_with(const double* y, const Centred& centred, int Dp, const int32_t* clusters,
                          int n, double* out) {
  sum_features(
      y, centred.means.data(), Dp, clusters, n,
      [](const Doubles& value, const Doubles& mu) { return mu * value; },
      [&](double sum, int j) { out[j] = centred.squares[clusters[j]] - 2.0 * sum; });
}

// Canonical distances of one row to n clusters, penalties included.
inline void scores_of(const double* y, const Clusters& of, const int32_t* clusters, int n, double* out) {
  sum_features(
      y, of.means.data(), of.Dp, clusters, n,
      [](const Doubles& value, const Doubles& mu) { return (value - mu) * (value - mu); },
      [&](double sum, int j) { out[j] = sum + of.penalty[clusters[j]]; });
}

// How much such a distance may be off, if that is at most `squared`: by rounding in products and
// in the sums of each lane, of centred rows and means, and of squares.
inline double error_of_products(double squared, double length, double reach, int D) {
  constexpr double ROUNDOFF = 1.0 / (1LL << 53);
  const double mean = std::min(reach, length + std::sqrt(std::max(0.0, squared)));
  return 1.01 * (D / LANES + 8) * ROUNDOFF * (length + mean) * (length + mean);
}

}  // namespace cprime::CPRIME_ISA
