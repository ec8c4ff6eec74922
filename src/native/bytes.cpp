#include "bytes.hpp"

#include <algorithm>
#include <cfloat>

namespace cprime::CPRIME_ISA {

#if defined(__AVX512VNNI__)

void ByteRows::set(int i, const float* row, int D, double length) {
  const auto values_at = [&](int d) __attribute__((always_inline)) {
    return d + SIXTEEN <= D ? _mm512_loadu_ps(row + d)
                            : _mm512_maskz_loadu_ps(__mmask16((1u << (D - d)) - 1), row + d);
  };
  __m512 most = _mm512_setzero_ps();
  for (int d = 0; d < D; d += SIXTEEN) most = _mm512_max_ps(most, _mm512_abs_ps(values_at(d)));
  const float largest = _mm512_reduce_max_ps(most);
  const float unit = largest / MOST_OF_BYTE, per_unit = unit > FLT_MIN ? 1.0f / unit : 0.0f;
  __m512 differences = _mm512_setzero_ps();
  __m512i sum = _mm512_setzero_si512(), squares = _mm512_setzero_si512();
  int8_t* to = values_.data() + size_t(i) * stride_;
  for (int d = 0; d < D; d += SIXTEEN) {
    const __m512 value = values_at(d);
    const __m512i bytes = _mm512_cvtps_epi32(_mm512_mul_ps(value, _mm512_set1_ps(per_unit)));
    const __m512 difference = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(bytes), _mm512_set1_ps(unit), value);
    differences = _mm512_fmadd_ps(difference, difference, differences);
    sum = _mm512_add_epi32(sum, bytes);
    squares = _mm512_add_epi32(squares, _mm512_mullo_epi32(bytes, bytes));
    const __mmask16 within = d + SIXTEEN <= stride_ ? __mmask16(0xffff) : __mmask16((1u << (stride_ - d)) - 1);
    _mm512_mask_cvtsepi32_storeu_epi8(to + d, within, bytes);
  }
  units_[i] = unit;
  lengths_[i] = length;
  squares_[i] = double(_mm512_reduce_add_epi32(squares)) * double(unit) * unit;
  // What float32 has rounded on the way is far less than a byte does.
  blurs_[i] = std::sqrt(double(_mm512_reduce_add_ps(differences))) * (1.0 + 1e-5) + 1e-6 * length;
  offsets_[i] = -128 * _mm512_reduce_add_epi32(sum);
}

namespace {

// Adds the products of sixteen times four bytes. Written as the instruction it is: with the intrinsic GCC
// keeps half of the sums in memory.
[[gnu::always_inline]] inline void add_products(__m512i& sum, const __m512i& clusters, const __m512i& row) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(clusters), "v"(row));
}

// Sums of TILE rows and N vectors of clusters, in registers; then their lowest two.
template <int N>
[[gnu::always_inline]] inline void lowest_two_of_panel(const ByteRows& rows, int i, const BytePanels& panels,
                                                       int c, LowestTwo (*of_rows)[HALVES]) {
  constexpr int BYTES = 64;
  const int stride = rows.stride(), n_words = stride / BYTES_OF_WORD;
  const uint8_t* panel = panels.values.data() + size_t(c) * stride;
  const int8_t* row = rows.row(i);
  __m512i sum[TILE][N];
#pragma GCC unroll 8
  for (int r = 0; r < TILE; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) sum[r][v] = _mm512_set1_epi32(rows.offsets()[i + r]);
  for (int word = 0; word < n_words; ++word, panel += N * BYTES) {
    __m512i clusters[N];
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) clusters[v] = _mm512_loadu_si512(panel + v * BYTES);
#pragma GCC unroll 8
    for (int r = 0; r < TILE; ++r) {
      int32_t four;
      std::memcpy(&four, row + size_t(r) * stride + size_t(word) * BYTES_OF_WORD, sizeof four);
      const __m512i value = _mm512_set1_epi32(four);
#pragma GCC unroll 3
      for (int v = 0; v < N; ++v) add_products(sum[r][v], clusters[v], value);
    }
  }
  Floats units[N], constants[N];
#pragma GCC unroll 3
  for (int v = 0; v < N; ++v) {
    units[v] = load<Floats>(panels.units.data() + c + v * FLOATS);
    constants[v] = load<Floats>(panels.constants.data() + c + v * FLOATS);
  }
  const int half = c / PANEL % HALVES;
#pragma GCC unroll 8
  for (int r = 0; r < TILE; ++r) {
    LowestTwo& of = of_rows[r][half];
    Floats lowest = load<Floats>(of.lowest), second = load<Floats>(of.second);
    Ints vector = load<Ints>(of.vector);
    const Floats unit = all<Floats>(rows.units()[i + r]);
#pragma GCC unroll 3
    for (int v = 0; v < N; ++v) {
      const Floats score = Floats(_mm512_fmadd_ps(__m512(Floats(_mm512_cvtepi32_ps(sum[r][v])) * units[v]),
                                                  __m512(unit), __m512(constants[v])));
      vector = score < lowest ? all<Ints>(c + v * FLOATS) : vector;
      second = lower(higher(score, lowest), second);
      lowest = lower(score, lowest);
    }
    store(of.lowest, lowest);
    store(of.second, second);
    store(of.vector, vector);
  }
}

}  // namespace

void lowest_two_of_bytes(const ByteRows& rows, int i, const BytePanels& panels, int begin, int width,
                         LowestTwo (*of_rows)[HALVES]) {
  for (int c = begin; c < begin + width; c += PANEL) {
    switch ((begin + width - c) / FLOATS) {
      case 1:
        lowest_two_of_panel<1>(rows, i, panels, c, of_rows);
        break;
      case 2:
        lowest_two_of_panel<2>(rows, i, panels, c, of_rows);
        break;
      default:
        lowest_two_of_panel<VECTORS>(rows, i, panels, c, of_rows);
    }
  }
}

#endif

}  // namespace cprime::CPRIME_ISA
