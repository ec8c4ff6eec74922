// Rows from wherever they are, as float64 padded with zeros.
#pragma once

#include "lanes.hpp"
#include "values.hpp"

namespace cprime::CPRIME_PATH {

template <class T>
inline void load_dense(const Rows& rows, int64_t row, double* out, int Dp) {
  const T* from = static_cast<const T*>(rows.values) + row * rows.row_stride;
  if (rows.column_stride == 1) {
    for (int d = 0; d < rows.D; ++d) out[d] = double(from[d]);
  } else {
    for (int d = 0; d < rows.D; ++d) out[d] = double(from[d * rows.column_stride]);
  }
  for (int d = rows.D; d < Dp; ++d) out[d] = 0.0;
}

inline int64_t at(const void* integers, bool wide, int64_t i) {
  return wide ? static_cast<const int64_t*>(integers)[i] : static_cast<const int32_t*>(integers)[i];
}

template <class T>
inline void load_csr(const Rows& rows, int64_t row, double* out, int Dp) {
  for (int d = 0; d < Dp; ++d) out[d] = 0.0;
  const T* values = static_cast<const T*>(rows.values);
  const int64_t stop = at(rows.starts, rows.wide_starts, row + 1);
  // Entries may be repeated: they add, as in scipy.
  for (int64_t i = at(rows.starts, rows.wide_starts, row); i < stop; ++i)
    out[at(rows.columns, rows.wide_columns, i)] += double(values[i]);
}

inline void load_row(const Rows& rows, int64_t row, double* out, int Dp) {
  if (rows.starts != nullptr) {
    rows.is_double ? load_csr<double>(rows, row, out, Dp) : load_csr<float>(rows, row, out, Dp);
  } else {
    rows.is_double ? load_dense<double>(rows, row, out, Dp) : load_dense<float>(rows, row, out, Dp);
  }
  if (rows.scale != 1.0)
    for (int d = 0; d < rows.D; ++d) out[d] *= rows.scale;
}

}  // namespace cprime::CPRIME_PATH
