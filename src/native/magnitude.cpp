// How large are values?
#include <cstring>

#include "isa.hpp"

namespace cprime::CPRIME_ISA {
namespace {

// Without their sign, bits of floats are ordered as the numbers are; NaN is above infinity.
template <class T, class Bits>
T largest_of(const T* values, int64_t n) {
  constexpr Bits WITHOUT_SIGN = Bits(~Bits(0)) >> 1;
  Bits largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, values + i, sizeof bits);
    bits &= WITHOUT_SIGN;
    largest = bits > largest ? bits : largest;
  }
  T value;
  std::memcpy(&value, &largest, sizeof value);
  return value;
}

}  // namespace

double magnitude(const void* values, bool is_double, int64_t first, int64_t count) {
  if (is_double) return largest_of<double, uint64_t>(static_cast<const double*>(values) + first, count);
  return largest_of<float, uint32_t>(static_cast<const float*>(values) + first, count);
}

}  // namespace cprime::CPRIME_ISA
