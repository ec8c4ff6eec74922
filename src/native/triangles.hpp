// Clusters whitened by lower triangles: distances to them, and their sums of squares.
//
// A triangle is long, so several rows are taken with each value of it; a row's bits do not depend
// on the others.
#pragma once

#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

constexpr int TRIANGLE_ROWS = CPRIME_BYTES == 64 ? 4 : 1;  // as many as have their sums in registers

// ||W z||^2 of several rows; or infinity, once no sum with the penalty is within its row's limit.
template <int ROWS>
[[gnu::always_inline]] inline void triangle_distances(const double* z, const double* W, int Dp, double penalty,
                                                      const double* limits, double* out) {
  Doubles sum[ROWS] = {};
  for (int end = LANES; end <= Dp; end += LANES) {
    Doubles part[ROWS][4] = {};
    for (int j = 0; j < end; j += 4, W += 4 * LANES)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        const Doubles w = load<Doubles>(W + k * LANES);
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; ++r)
          part[r][k] = fused(w, all<Doubles>(z[size_t(r) * Dp + j + k]), part[r][k]);
      }
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; ++r) {
      const Doubles whole = (part[r][0] + part[r][1]) + (part[r][2] + part[r][3]);
      sum[r] += whole * whole;
    }
    if (limits == nullptr || end == Dp) continue;
    // Sums only grow, also when they are rounded: what is too far now is so in the end.
    bool near = false;
    for (int r = 0; r < ROWS; ++r) near |= !(folded(sum[r]) + penalty > limits[r]);
    if (near) continue;
    std::fill_n(out, ROWS, INFINITY);
    return;
  }
  for (int r = 0; r < ROWS; ++r) out[r] = folded(sum[r]);
}

// Adds share * z z^T of several rows, one after the other, to a lower triangle.
template <int ROWS>
inline void add_matrices(const double* shares, const double* z, int Dp, double* to) {
  for (int end = LANES; end <= Dp; end += LANES) {
    Doubles shared[ROWS];
    for (int r = 0; r < ROWS; ++r) shared[r] = shares[r] * load<Doubles>(z + size_t(r) * Dp + end - LANES);
    for (int j = 0; j < end; ++j, to += LANES) {
      Doubles sum = load<Doubles>(to);
#pragma GCC unroll 4
      for (int r = 0; r < ROWS; ++r) sum = fused(shared[r], all<Doubles>(z[size_t(r) * Dp + j]), sum);
      store(to, sum);
    }
  }
}

// Differences of a row and a mean.
inline void subtract(const double* y, const double* mu, int Dp, double* out) {
  for (int d = 0; d < Dp; d += LANES) store(out + d, load<Doubles>(y + d) - load<Doubles>(mu + d));
}

// Distances of rows to one cluster, a few rows at once; `found` is called with each.
class ToTriangle {
 public:
  ToTriangle(const Clusters& clusters, int c, Buffer<double>& differences)
      : clusters_(clusters), c_(c), differences_(differences) {
    differences_.resize(size_t(TRIANGLE_ROWS) * clusters.Dp);
  }

  template <class Found>
  void add(int r, const double* y, double limit, Found found) {
    const int Dp = clusters_.Dp;
    subtract(y, clusters_.mean(c_), Dp, differences_.data() + size_t(n_) * Dp);
    rows_[n_] = r;
    limits_[n_++] = limit;
    if (n_ == TRIANGLE_ROWS) find<TRIANGLE_ROWS>(0, found);
  }

  // Finds those of the last rows, which may be fewer.
  template <class Found>
  void finish(Found found) {
    for (int k = 0, n = n_; k < n; ++k) find<1>(k, found);
  }

 private:
  template <int ROWS, class Found>
  void find(int first, Found found) {
    const int Dp = clusters_.Dp;
    double distances[ROWS];
    triangle_distances<ROWS>(differences_.data() + size_t(first) * Dp,
                             clusters_.whitening.data() + size_t(c_) * triangle_size(Dp), Dp,
                             clusters_.penalty[c_], limits_ + first, distances);
    for (int k = 0; k < ROWS; ++k) found(rows_[first + k], distances[k]);
    n_ = 0;
  }

  const Clusters& clusters_;
  const int c_;
  Buffer<double>& differences_;
  int rows_[TRIANGLE_ROWS], n_ = 0;
  double limits_[TRIANGLE_ROWS];
};

// The distances of n rows to all clusters, one after the other: a triangle stays in cache for all
// rows. Behind the last cluster `out` has zeros.
inline void triangle_distances_to_all(const double* rows, int n, const Clusters& clusters, double* out, int stride,
                                      Buffer<double>& differences) {
  for (int c = 0; c < clusters.C; ++c) {
    const auto found = [&](int r, double distance) { out[size_t(r) * stride + c] = distance; };
    ToTriangle to_triangle(clusters, c, differences);
    for (int r = 0; r < n; ++r) to_triangle.add(r, rows + size_t(r) * clusters.Dp, INFINITY, found);
    to_triangle.finish(found);
  }
  for (int r = 0; r < n; ++r) std::fill(out + size_t(r) * stride + clusters.C, out + size_t(r + 1) * stride, 0.0);
}

// Adds shares of squares of differences to one cluster's triangle, a few rows at once.
class TriangleSum {
 public:
  TriangleSum(const Clusters& clusters, int c, double* to, Buffer<double>& differences)
      : mean_(clusters.mean(c)), Dp_(clusters.Dp), to_(to), differences_(differences) {
    differences_.resize(size_t(TRIANGLE_ROWS) * Dp_);
  }

  // Returns the row's differences.
  const double* add(double share, const double* y) {
    double* z = differences_.data() + size_t(n_) * Dp_;
    subtract(y, mean_, Dp_, z);
    shares_[n_++] = share;
    if (n_ == TRIANGLE_ROWS) {
      add_matrices<TRIANGLE_ROWS>(shares_, differences_.data(), Dp_, to_);
      n_ = 0;
    }
    return z;
  }

  // Adds those of the last rows, which may be fewer.
  void finish() {
    for (int k = 0; k < n_; ++k)
      add_matrices<1>(shares_ + k, differences_.data() + size_t(k) * Dp_, Dp_, to_);
    n_ = 0;
  }

 private:
  const double* mean_;
  const int Dp_;
  double* to_;
  Buffer<double>& differences_;
  double shares_[TRIANGLE_ROWS];
  int n_ = 0;
};

}  // namespace cprime::CPRIME_ISA
