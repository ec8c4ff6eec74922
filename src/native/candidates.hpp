// A cluster that may be among the closest to a row, by its score; limits of such scores, and their order.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "lanes.hpp"

namespace cprime::CPRIME_ISA {

struct Candidate {
  float score;
  int32_t cluster;
  bool operator<(const Candidate& other) const { return score < other.score; }
};

constexpr double UNIT_ROUNDOFF = 1.0 / (1 << 24);

// A limit rounded up, and never so high that the padding of a panel would count.
inline float as_float(double limit) {
  return std::min(float(limit + std::abs(limit) * 2.0 * UNIT_ROUNDOFF), FLT_MAX);
}

// The wanted-th lowest of 16 N numbers, without a branch: each one's rank is the count
// of those no higher.
template <int N>
inline float ranked(const Sixteen (&numbers)[N], int wanted) {
  SixteenInts rank[N] = {};
  for (int i = 0; i < N; ++i)
    for (int lane = 0; lane < SIXTEEN; ++lane) {
      const Sixteen number = all<Sixteen>(numbers[i][lane]);
      for (int j = 0; j < N; ++j) rank[j] -= number <= numbers[j];
    }
  Sixteen bound = all<Sixteen>(INFINITY);
  for (int j = 0; j < N; ++j)
    bound = lower(bound, rank[j] >= wanted ? numbers[j] : all<Sixteen>(INFINITY));
  return lowest(bound);
}

// Sorts candidates by score. A few have their ranks counted: no branch to guess wrong.
inline void sort_by_score(Candidate* found, int count) {
  constexpr int MOST = 2 * SIXTEEN;
  if (count > MOST) {
    std::sort(found, found + count);
    return;
  }
  Candidate before[MOST];
  float scores[MOST];
  for (int i = 0; i < MOST; ++i) scores[i] = INFINITY;
  for (int i = 0; i < count; ++i) {
    before[i] = found[i];
    scores[i] = found[i].score;
  }
  SixteenInts lane, rank[2] = {};
  for (int i = 0; i < SIXTEEN; ++i) lane[i] = i;
  for (int i = 0; i < count; ++i) {
    const Sixteen score = all<Sixteen>(scores[i]);
    for (int v = 0; v < 2; ++v) {
      const Sixteen other = load<Sixteen>(scores + v * SIXTEEN);
      rank[v] -= (score < other) | ((score == other) & (lane + v * SIXTEEN > i));
    }
  }
  int32_t ranks[MOST];
  store(ranks, rank[0]);
  store(ranks + SIXTEEN, rank[1]);
  for (int i = 0; i < count; ++i) found[ranks[i]] = before[i];
}

}  // namespace cprime::CPRIME_ISA
