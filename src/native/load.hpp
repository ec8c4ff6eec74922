// Rows from wherever they are, as float64 padded with zeros.
#pragma once

#include "lanes.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

// A row that can be read where it lies, eight features at a time.
template <class T>
struct RowInPlace {
  const T* values;
  int D;

  typedef T Eight __attribute__((vector_size(LANES * sizeof(T))));

  [[gnu::always_inline]] Doubles at(int d) const {
    if (__builtin_expect(d + LANES <= D, 1))
      return widened(load<Eight>(values + d));
    return widened(load_first(values + d, D - d));
  }
};

// The same of a row that was loaded, padding included.
struct LoadedRow {
  const double* values;

  [[gnu::always_inline]] Doubles at(int d) const { return load<Doubles>(values + d); }
};

// Asks for a row that will be read soon.
template <class T>
[[gnu::always_inline]] inline void prefetch(const RowInPlace<T>& row) {
  constexpr size_t LINE = 64, MOST = 1024;
  const char* from = reinterpret_cast<const char*>(row.values);
  const size_t bytes = std::min(sizeof(T) * size_t(row.D), MOST);
  for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch(from + i);
}

// One that was loaded is near.
inline void prefetch(const LoadedRow&) {}

inline bool lie_in_place(const Rows& rows) {
  return rows.starts == nullptr && rows.column_stride == 1 && rows.scale == 1.0;
}

template <class T>
inline RowInPlace<T> row_in_place(const Rows& rows, int64_t row) {
  return {static_cast<const T*>(rows.values) + row * rows.row_stride, rows.D};
}

// Calls use(function that gives row number n), for rows that lie in place.
template <class Use>
inline void with_rows_in_place(const Rows& rows, Use use) {
  if (rows.is_double)
    use([&rows](int64_t n) { return row_in_place<double>(rows, n); });
  else
    use([&rows](int64_t n) { return row_in_place<float>(rows, n); });
}

template <class T>
inline void load_dense(const Rows& rows, int64_t row, double* out, int Dp) {
  if (rows.column_stride == 1) {
    const RowInPlace<T> y = row_in_place<T>(rows, row);
    for (int d = 0; d < Dp; d += LANES) store(out + d, y.at(d));
    return;
  }
  const T* from = static_cast<const T*>(rows.values) + row * rows.row_stride;
  for (int d = 0; d < rows.D; ++d) out[d] = double(from[d * rows.column_stride]);
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

}  // namespace cprime::CPRIME_ISA
