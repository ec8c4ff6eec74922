// A cluster that may be among the closest to a row, by its score; and such clusters in order.
#pragma once

#include <algorithm>
#include <cmath>

#include "lanes.hpp"

namespace cprime::CPRIME_ISA {

struct Candidate {
  float score;
  int32_t cluster;
  bool operator<(const Candidate& other) const { return score < other.score; }
};

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
