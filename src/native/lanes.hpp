// Vectors of floats and doubles, of the width this translation unit is compiled for.
//
// Every hot file is compiled once per ISA (see CMakeLists.txt), with CPRIME_ISA its
// namespace and CPRIME_BYTES the width of its registers.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace cprime::CPRIME_ISA {

constexpr int FLOATS = CPRIME_BYTES / 4;
// A tile of rows times a panel of clusters has its sums in registers. Three vectors of
// clusters keep the loads per multiply-add low; rows fill the other registers.
constexpr int VECTORS = 3;
constexpr int PANEL = VECTORS * FLOATS;
#if CPRIME_BYTES == 64 || defined(__aarch64__)
constexpr int TILE = 8;
#else
constexpr int TILE = 4;
#endif
// Running minima are kept for this many disjoint sets of clusters, whatever the ISA.
constexpr int BINS = 16;
// The eight lanes of the canonical distance.
constexpr int LANES = 8;

typedef float Floats __attribute__((vector_size(CPRIME_BYTES)));
typedef int32_t Ints __attribute__((vector_size(CPRIME_BYTES)));
typedef double Doubles __attribute__((vector_size(8 * LANES)));
typedef float EightFloats __attribute__((vector_size(4 * LANES)));
typedef int64_t Longs __attribute__((vector_size(8 * LANES)));

template <class Vector, class Scalar>
[[gnu::always_inline]] inline Vector load(const Scalar* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector, class Scalar>
[[gnu::always_inline]] inline void store(Scalar* to, const Vector& vector) {
  std::memcpy(to, &vector, sizeof vector);
}

// Eight numbers in another precision, by one instruction where there is one.
[[gnu::always_inline]] inline Doubles widened(const EightFloats& numbers) {
#if CPRIME_BYTES == 64
  return Doubles(_mm512_maskz_cvtps_pd(0xff, __m256(numbers)));
#else
  return __builtin_convertvector(numbers, Doubles);
#endif
}

[[gnu::always_inline]] inline Doubles widened(const Doubles& numbers) { return numbers; }

[[gnu::always_inline]] inline EightFloats narrowed(const Doubles& numbers) {
#if CPRIME_BYTES == 64
  return EightFloats(_mm512_maskz_cvtpd_ps(0xff, __m512d(numbers)));
#else
  return __builtin_convertvector(numbers, EightFloats);
#endif
}

// The first n of eight numbers, and zeros; what lies behind them is not touched.
[[gnu::always_inline]] inline Doubles load_first(const double* from, int n) {
#if CPRIME_BYTES == 64
  return Doubles(_mm512_maskz_loadu_pd(__mmask8((1u << n) - 1), from));
#else
  Doubles first{};
  std::memcpy(&first, from, sizeof(double) * size_t(n));
  return first;
#endif
}

[[gnu::always_inline]] inline EightFloats load_first(const float* from, int n) {
#if CPRIME_BYTES == 64
  return EightFloats(_mm256_maskz_loadu_ps(__mmask8((1u << n) - 1), from));
#else
  EightFloats first{};
  std::memcpy(&first, from, sizeof(float) * size_t(n));
  return first;
#endif
}

// The same number in all lanes. Less zero, not plus zero: that changes no bit of any
// number, so the compiler may leave it out.
template <class Vector, class Scalar>
[[gnu::always_inline]] inline Vector all(Scalar number) {
  return number - Vector{};
}

template <class Vector>
[[gnu::always_inline]] inline Vector lower(const Vector& a, const Vector& b) {
  return a < b ? a : b;
}

template <class Vector>
[[gnu::always_inline]] inline Vector higher(const Vector& a, const Vector& b) {
  return a < b ? b : a;
}

// a * b + c, rounded once where the processor can.
[[gnu::always_inline]] inline Doubles fused(const Doubles& a, const Doubles& b, const Doubles& c) {
#if defined(__FP_FAST_FMA)
  Doubles sum;
  for (int lane = 0; lane < LANES; ++lane) sum[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
  return sum;
#else
  return a * b + c;
#endif
}

// Sixteen floats at a time, in as many registers as it takes.
constexpr int SIXTEEN = 16;
typedef float Sixteen __attribute__((vector_size(64)));
typedef int32_t SixteenInts __attribute__((vector_size(64)));

[[gnu::always_inline]] inline Sixteen fused(const Sixteen& a, const Sixteen& b, const Sixteen& c) {
#if defined(__FP_FAST_FMAF)
  Sixteen sum;
  for (int lane = 0; lane < SIXTEEN; ++lane) sum[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return sum;
#else
  return a * b + c;
#endif
}

[[gnu::always_inline]] inline float lowest(const Sixteen& of) {
  typedef float Eight __attribute__((vector_size(32)));
  typedef float Four __attribute__((vector_size(16)));
  Eight eights[2];
  std::memcpy(eights, &of, sizeof of);
  const Eight eight = lower(eights[0], eights[1]);
  Four fours[2];
  std::memcpy(fours, &eight, sizeof eight);
  const Four four = lower(fours[0], fours[1]);
  const float left = four[0] < four[1] ? four[0] : four[1];
  const float right = four[2] < four[3] ? four[2] : four[3];
  return left < right ? left : right;
}

[[gnu::always_inline]] inline double lowest(const Doubles& of) {
  double found = of[0];
  for (int lane = 1; lane < LANES; ++lane) found = of[lane] < found ? of[lane] : found;
  return found;
}

// One bit for each of 16 floats that are at most `limit`.
[[gnu::always_inline]] inline uint32_t at_most(const float* values, float limit) {
#if CPRIME_BYTES == 64
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(values), _mm512_set1_ps(limit), _CMP_LE_OQ);
#elif defined(__AVX__)
  const __m256 bound = _mm256_set1_ps(limit);
  const auto half = [&](const float* from) {
    return uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(from), bound, _CMP_LE_OQ)));
  };
  return half(values) | half(values + 8) << 8;
#else
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= uint32_t(values[i] <= limit) << i;
  return bits;
#endif
}

// The same with a limit for each.
[[gnu::always_inline]] inline uint32_t at_most(const float* values, const float* limits) {
#if CPRIME_BYTES == 64
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(values), _mm512_loadu_ps(limits), _CMP_LE_OQ);
#elif defined(__AVX__)
  const auto half = [&](int i) {
    const __m256 flags = _mm256_cmp_ps(_mm256_loadu_ps(values + i), _mm256_loadu_ps(limits + i), _CMP_LE_OQ);
    return uint32_t(_mm256_movemask_ps(flags));
  };
  return half(0) | half(8) << 8;
#else
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= uint32_t(values[i] <= limits[i]) << i;
  return bits;
#endif
}

// table[id] for eight ids.
[[gnu::always_inline]] inline EightFloats look_up(const float* table, const int32_t* ids) {
#if defined(__AVX2__)
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ids));
  return EightFloats(_mm256_i32gather_ps(table, at, 4));
#else
  EightFloats found;
  for (int j = 0; j < LANES; ++j) found[j] = table[ids[j]];
  return found;
#endif
}

[[gnu::always_inline]] inline EightFloats look_up(const float* table, const uint16_t* ids) {
#if defined(__AVX2__)
  const __m128i narrow = _mm_loadu_si128(reinterpret_cast<const __m128i*>(ids));
  return EightFloats(_mm256_i32gather_ps(table, _mm256_cvtepu16_epi32(narrow), 4));
#else
  EightFloats found;
  for (int j = 0; j < LANES; ++j) found[j] = table[ids[j]];
  return found;
#endif
}

// One bit for each of eight floats that is at most `limit`.
[[gnu::always_inline]] inline uint32_t at_most(const EightFloats& values, float limit) {
#if defined(__AVX__)
  return uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(__m256(values), _mm256_set1_ps(limit), _CMP_LE_OQ)));
#else
  uint32_t bits = 0;
  for (int i = 0; i < LANES; ++i) bits |= uint32_t(values[i] <= limit) << i;
  return bits;
#endif
}

// Writes the places, from `first` on, of those of 16 floats that are at most `limit`; returns how
// many they are. What lies behind them, up to 16, may be written over.
[[gnu::always_inline]] inline int list_at_most(const float* values, float limit, int first, int32_t* to) {
  const uint32_t found = at_most(values, limit);
#if CPRIME_BYTES == 64
  const __m512i places = _mm512_add_epi32(
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(first));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(__mmask16(found), places));
#else
  int n = 0;
  for (uint32_t bits = found; bits != 0; bits &= bits - 1) to[n++] = first + __builtin_ctz(bits);
#endif
  return __builtin_popcount(found);
}

// The same of eight doubles.
[[gnu::always_inline]] inline int list_at_most(const Doubles& values, double limit, int first, int32_t* to) {
#if CPRIME_BYTES == 64
  const __mmask8 found = _mm512_cmp_pd_mask(__m512d(values), _mm512_set1_pd(limit), _CMP_LE_OQ);
  const __m256i places = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(found, places));
  return __builtin_popcount(found);
#else
  int n = 0;
  for (int i = 0; i < LANES; ++i)
    if (values[i] <= limit) to[n++] = first + i;
  return n;
#endif
}

// The same of 32 codes, from which 32 places may be written over.
[[gnu::always_inline]] inline int list_at_most(const uint16_t* codes, uint16_t limit, int first, int32_t* to) {
#if CPRIME_BYTES == 64
  const uint32_t found = _mm512_cmple_epu16_mask(_mm512_loadu_si512(codes), _mm512_set1_epi16(short(limit)));
  const __m512i places = _mm512_add_epi32(
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(first));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(__mmask16(found), places));
  _mm512_storeu_si512(to + __builtin_popcount(found & 0xffff),
                      _mm512_maskz_compress_epi32(__mmask16(found >> 16), _mm512_add_epi32(places, _mm512_set1_epi32(16))));
  return __builtin_popcount(found);
#else
  int n = 0;
  for (int i = 0; i < 2 * SIXTEEN; ++i) {
    to[n] = first + i;
    n += codes[i] <= limit;
  }
  return n;
#endif
}

// Whether any of eight comparisons is true.
[[gnu::always_inline]] inline bool any_true(const Longs& flags) {
#if CPRIME_BYTES == 64
  return _mm512_test_epi64_mask(__m512i(flags), __m512i(flags)) != 0;
#else
  return (flags[0] | flags[1] | flags[2] | flags[3] | flags[4] | flags[5] | flags[6] | flags[7]) != 0;
#endif
}

// The lanes folded in halves: ((0+4)+(2+6)) + ((1+5)+(3+7)).
[[gnu::always_inline]] inline double folded(const Doubles& lanes) {
  typedef double Four __attribute__((vector_size(32)));
  typedef double Two __attribute__((vector_size(16)));
  Four fours[2];
  std::memcpy(fours, &lanes, sizeof lanes);
  const Four four = fours[0] + fours[1];
  Two twos[2];
  std::memcpy(twos, &four, sizeof four);
  const Two two = twos[0] + twos[1];
  return two[0] + two[1];
}

}  // namespace cprime::CPRIME_ISA
