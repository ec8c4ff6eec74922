// Rows and clusters as Python hands them over, in the layouts of a search.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "isa.hpp"

namespace cprime {

namespace nb = nanobind;

using Any = nb::ndarray<nb::ro, nb::device::cpu>;
using Doubles1 = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
using Doubles2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DoublesN = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Clusters2 = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

inline bool is_double(const Any& array) {
  if (array.dtype() == nb::dtype<double>()) return true;
  if (array.dtype() == nb::dtype<float>()) return false;
  throw std::invalid_argument("rows must be float32 or float64");
}

inline bool is_wide(const Any& array) {
  if (array.dtype() == nb::dtype<int64_t>()) return true;
  if (array.dtype() == nb::dtype<int32_t>()) return false;
  throw std::invalid_argument("sparse indices must be int32 or int64");
}

// Rows as Python hands them over. The arrays are borrowed for the length of a call.
inline Rows dense_rows(const Any& X, double scale) {
  if (X.ndim() != 2) throw std::invalid_argument("rows must have two dimensions");
  Rows rows;
  rows.n = int64_t(X.shape(0));
  rows.D = int(X.shape(1));
  rows.scale = scale;
  rows.values = X.data();
  rows.is_double = is_double(X);
  rows.row_stride = X.stride(0);
  rows.column_stride = X.stride(1);
  return rows;
}

inline Rows sparse_rows(const Any& data, const Any& indices, const Any& indptr, int D, double scale) {
  Rows rows;
  rows.n = int64_t(indptr.shape(0)) - 1;
  rows.D = D;
  rows.scale = scale;
  rows.values = data.data();
  rows.is_double = is_double(data);
  rows.starts = indptr.data();
  rows.columns = indices.data();
  rows.wide_starts = is_wide(indptr);
  rows.wide_columns = is_wide(indices);
  return rows;
}

struct PyRows {
  Rows rows;
  std::vector<Any> kept;  // so that the memory stays while the rows are used
};

// Takes over a number for each cluster, one for each of its features, or a triangle.
inline void whiten(Clusters& clusters, const DoublesN& whitening) {
  // No cluster could be chosen by scores that are not numbers.
  if (!std::all_of(whitening.data(), whitening.data() + whitening.size(),
                   [](double w) { return std::isfinite(w); }))
    throw std::invalid_argument("whitenings are not all finite");
  const size_t C = size_t(clusters.C), D = size_t(clusters.D), Dp = size_t(clusters.Dp);
  const size_t shape[] = {C, D, D};
  bool fits = whitening.ndim() >= 1 && whitening.ndim() <= 3;
  for (size_t i = 0; fits && i < whitening.ndim(); ++i) fits = whitening.shape(i) == shape[i];
  if (!fits) throw std::invalid_argument("whitenings and means differ in clusters or features");
  if (whitening.ndim() == 1) {
    clusters.whitened = Clusters::Whitening::OF_CLUSTERS;
    clusters.whitening.assign(size_t(padded(clusters.C)), 0.0);
    std::copy_n(whitening.data(), C, clusters.whitening.data());
    return;
  }
  if (whitening.ndim() == 3) {
    clusters.whitened = Clusters::Whitening::TRIANGLES;
    const size_t size = size_t(triangle_size(clusters.Dp));
    clusters.whitening.assign(C * size, 0.0);
    for (size_t c = 0; c < C; ++c)
      for (size_t i = 0; i < D; ++i)
        for (size_t j = 0; j <= i; ++j)
          clusters.whitening[c * size + size_t(triangle_place(int(i), int(j)))] =
              whitening.data()[(c * D + i) * D + j];
    return;
  }
  clusters.whitened = Clusters::Whitening::OF_FEATURES;
  clusters.whitening.assign(C * Dp, 0.0);
  for (size_t c = 0; c < C; ++c)
    std::copy_n(whitening.data() + c * D, D, clusters.whitening.data() + c * Dp);
}

// A model in numbers, as of Python's Coefficients.
struct PyCoefficients {
  Doubles2 means;
  std::optional<Doubles1> penalty;
  std::optional<DoublesN> whitening;
  double sharpness = 0.5, highest_bias = 0.0;
};

inline Clusters make_clusters(const PyCoefficients& from, bool columns) {
  const auto& [means, penalty, whitening, sharpness, highest_bias] = from;
  Clusters clusters;
  clusters.C = int(means.shape(0));
  clusters.D = int(means.shape(1));
  clusters.Dp = padded(clusters.D);
  clusters.means.assign(size_t(clusters.C) * clusters.Dp, 0.0);
  for (int c = 0; c < clusters.C; ++c)
    std::copy_n(means.data() + size_t(c) * clusters.D, clusters.D,
                clusters.means.data() + size_t(c) * clusters.Dp);
  clusters.penalty.assign(size_t(padded(clusters.C)), INFINITY);
  std::fill_n(clusters.penalty.begin(), clusters.C, 0.0);
  if (penalty && penalty->shape(0) != means.shape(0))
    throw std::invalid_argument("penalties and means differ in clusters");
  if (penalty) {
    for (int c = 0; c < clusters.C; ++c) {
      clusters.penalty[c] = penalty->data()[c * penalty->stride(0)];
      if (std::isnan(clusters.penalty[c])) throw std::invalid_argument("a penalty is not a number");
      clusters.handicapped |= clusters.penalty[c] != 0.0;
    }
  }
  if (whitening) {
    whiten(clusters, *whitening);
    isa().pack_columns(clusters);
    if (clusters.whitened == Clusters::Whitening::OF_FEATURES) isa().pack_screen(clusters);
    return clusters;
  }
  isa().pack(clusters);
  if (columns) isa().pack_columns(clusters);
  return clusters;
}

inline void check_features(const Rows& rows, const Clusters& clusters) {
  if (rows.D != clusters.D) throw std::invalid_argument("rows and means differ in features");
}

inline void check_kept(int C_prime, const Clusters& clusters) {
  if (C_prime < 1 || C_prime > clusters.C)
    throw std::invalid_argument("rows cannot keep as many clusters");
}

}  // namespace cprime
