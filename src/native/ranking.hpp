// Among few clusters, or all of them, float64 decides which are closest.
#pragma once

#include <algorithm>
#include <vector>

#include "exact.hpp"
#include "search.hpp"

namespace cprime::CPRIME_ISA {

struct Ranked {
  double score;
  int32_t cluster;
  bool operator<(const Ranked& other) const {
    return score < other.score || (score == other.score && cluster < other.cluster);
  }
};

constexpr int CAPACITY = 200;  // candidates per row before hopeless ones are dropped

// Memory of one thread.
struct Workspace {
  Search search;
  Buffer<double> rows, kept, relative, everything, scores, difference;
  std::vector<Ranked> ranking;
  std::vector<int> to_look, to_check, to_scan;
  std::vector<float> reach;
  Buffer<float> framed, screened;
  std::vector<int32_t> sorted_before, sorted_after;
  std::vector<uint8_t> is_done;
};

// Ranks all clusters by the canonical distance; the first `n` of the ranking are in order.
inline void rank_all(const double* y, const Clusters& clusters, int n, Workspace& work) {
  work.ranking.resize(clusters.C);
  for (int c = 0; c < clusters.C; ++c) {
    const double d = distance(y, clusters.mean(c), clusters.Dp);
    work.ranking[c] = {d + clusters.penalty[c], c};
  }
  std::partial_sort(work.ranking.begin(), work.ranking.begin() + n, work.ranking.end());
}

// Sorts the candidates of row `i` by score, and ranks those that may be among the C' closest.
inline void rank_candidates(int i, const double* y, const Clusters& clusters, int C_prime,
                            Workspace& work) {
  Candidate* found = work.search.candidates(i);
  const int count = work.search.count(i);
  sort_by_score(found, count);
  const double limit = work.search.limit(i, found[C_prime - 1].score);
  work.ranking.clear();
  for (int j = 0; j < count && (j < C_prime || found[j].score <= limit); ++j) {
    const int c = found[j].cluster;
    const double d = distance(y, clusters.mean(c), clusters.Dp);
    work.ranking.push_back({d + clusters.penalty[c], c});
  }
  std::sort(work.ranking.begin(), work.ranking.end());
}

}  // namespace cprime::CPRIME_ISA
