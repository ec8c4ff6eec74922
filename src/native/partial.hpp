// Which clusters does a row look at, if not all? Those near the best it has, and a few others.
#pragma once

#include "values.hpp"

namespace cprime {

// A search in numbers, as of Python's Near, and what follows from it for the rows of one sweep.
struct Partial {
  const int32_t* lists = nullptr;  // of each cluster, n_listed different ones near it
  int n_listed = 0, n_explore = 0;
  uint64_t key = 0;
  int64_t first = 0;  // number of the first row, by which others are drawn for it
  MeanRows means;
  std::vector<int64_t> order;  // rows by their best cluster, as far as they are known

  // The e-th other cluster, of C, that row `n` looks at.
  int32_t drawn(int64_t n, int e, int C) const {
    const uint64_t number = uint64_t(first + n) * uint64_t(n_explore) + uint64_t(e);
    return int32_t(((scrambled(scrambled(key) + number) >> 32) * uint64_t(C)) >> 32);
  }

 private:
  // SplitMix64 (Steele et al. 2014).
  static uint64_t scrambled(uint64_t bits) {
    bits += 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
  }
};

}  // namespace cprime
