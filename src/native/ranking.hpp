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
  Buffer<double> rows, kept, relative, everything, scores, columns, difference;
  std::vector<Ranked> ranking, had;
  std::vector<int> to_look, to_check, to_scan;
  std::vector<float> reach;
  Buffer<float> framed, screened;
  std::vector<int32_t> sorted_before, sorted_after;
  std::vector<uint8_t> is_done;
  std::vector<int32_t> balance;  // zero between uses
  std::vector<int32_t> near;     // clusters near one
  std::vector<int32_t> place;    // of a cluster on a list, -1 between uses
  Buffer<int64_t> ranks;
  Buffer<int32_t> screened_ranks, order;
};

constexpr int MOST_COUNTED = 128;  // up to here comparing each with each is faster than sorting

// The rank of each of n numbers, the first coming first among equals; no branch to guess wrong.
// Behind the last are infinities, up to whole vectors.
template <class Vector, class Flags, class Number, class Rank>
inline void count_ranks(const Number* numbers, int n, Rank* ranks) {
  constexpr int WIDTH = sizeof(Vector) / sizeof(Number);
  Flags lane;
  for (int i = 0; i < WIDTH; ++i) lane[i] = i;
  for (int begin = 0; begin < n; begin += WIDTH) {
    const Vector mine = load<Vector>(numbers + begin);
    Flags rank{};
    int i = 0;
    for (; i < begin; ++i) rank -= all<Vector>(numbers[i]) <= mine;
    for (; i < n && i < begin + WIDTH; ++i) {
      const Vector other = all<Vector>(numbers[i]);
      rank -= (other < mine) | ((other == mine) & (lane > Rank(i - begin)));
    }
    for (; i < n; ++i) rank -= all<Vector>(numbers[i]) < mine;
    store(ranks + begin, rank);
  }
}

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

// Ranks all candidates of row `i`; fast if they are few, and nearly in order.
inline void rank_nearly_sorted(int i, const double* y, const Clusters& clusters, Workspace& work) {
  constexpr int FEW_TO_INSERT = 16, SHORT = 4;
  const Candidate* found = work.search.candidates(i);
  const int count = work.search.count(i);
  work.ranking.resize(size_t(count));
  Ranked* ranking = work.ranking.data();
  const bool is_short = clusters.D <= SHORT;
  for (int j = 0; j < count; ++j) {
    const int c = found[j].cluster;
    const double squared = is_short ? short_distance(y, clusters.mean(c)) : distance(y, clusters.mean(c), clusters.Dp);
    const Ranked next{squared + clusters.penalty[c], c};
    int place = j;
    if (count <= FEW_TO_INSERT)
      for (; place > 0 && next < ranking[place - 1]; --place) ranking[place] = ranking[place - 1];
    ranking[place] = next;
  }
  if (count > FEW_TO_INSERT) std::sort(ranking, ranking + count);
}

// Leaves a row the clusters it had, best first, but for those that others are closer than by the
// reluctance: they make room for the closest of all, of which there are as many, best first. One that
// it has more than once, as after a move to an empty cluster, takes one place.
inline void stay_where_reluctant(std::vector<Ranked>& had, const Ranked* closest, double reluctance) {
  const size_t n = had.size();
  std::sort(had.begin(), had.end());
  const auto is_same = [](const Ranked& one, const Ranked& other) { return one.cluster == other.cluster; };
  size_t left = size_t(std::unique(had.begin(), had.end(), is_same) - had.begin());
  had.resize(left);
  for (size_t j = 0; j < n && left > 0; ++j) {
    const auto has = [&](const Ranked& one) { return is_same(one, closest[j]); };
    if (std::any_of(had.begin(), had.end(), has)) continue;
    if (had.size() < n) {
      had.push_back(closest[j]);
    } else {
      if (!(closest[j].score < had[left - 1].score / reluctance)) break;
      had[--left] = closest[j];
    }
  }
  std::sort(had.begin(), had.end());
}

}  // namespace cprime::CPRIME_ISA
