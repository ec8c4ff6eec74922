// What do shares add up to, in logarithms?
#include "exact.hpp"
#include "isa.hpp"

namespace cprime::CPRIME_ISA {

// log sum exp of each row of a table whose values are at most 0, one of each row being 0.
void log_sums(const double* table, int n_columns, int64_t first, int count, double* out) {
  for (int begin = 0; begin < count; begin += LANES) {
    const int n = std::min(LANES, count - begin);
    Doubles total{};
    for (int j = 0; j < n_columns; ++j) {
      Doubles values{};
      for (int lane = 0; lane < n; ++lane) values[lane] = table[size_t(first + begin + lane) * n_columns + j];
      total += exponential(values);
    }
    const Doubles found = logarithm(total);
    for (int lane = 0; lane < n; ++lane) out[first + begin + lane] = found[lane];
  }
}

}  // namespace cprime::CPRIME_ISA
