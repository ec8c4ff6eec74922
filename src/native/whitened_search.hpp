// Which clusters rows keep, where each cluster has a whitening of its own.
//
// Clusters along the axes are screened in float32, within bounds on its errors; those that may be
// among the wanted, and all others, are looked at in float64.
#pragma once

#include <utility>

#include "ranking.hpp"
#include "whitened.hpp"

namespace cprime::CPRIME_ISA {

inline int screen_stride(const Clusters& clusters) { return (clusters.C + SIXTEEN - 1) / SIXTEEN * SIXTEEN; }

// Scores of several rows for all clusters, in two operations a feature; `y` is less the origin.
template <int ROWS>
void screen_scores(const float* y, const Clusters& clusters, float* out, int stride) {
  const int D = clusters.D;
  const float* screen = clusters.screen.values.data();
  for (int c = 0; c < clusters.C; c += SIXTEEN) {
    Sixteen sum[ROWS];
    for (int r = 0; r < ROWS; ++r) sum[r] = load<Sixteen>(clusters.screen.penalty.data() + c);
    for (int d = 0; d < D; ++d, screen += 2 * SIXTEEN) {
      const Sixteen w = load<Sixteen>(screen), mean = load<Sixteen>(screen + SIXTEEN);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r) {
        const Sixteen z = fused(w, all<Sixteen>(y[size_t(r) * D + d]), -mean);
        sum[r] = fused(z, z, sum[r]);
      }
    }
    for (int r = 0; r < ROWS; ++r) store(out + size_t(r) * stride + c, sum[r]);
  }
}

// Finds such scores of loaded rows.
inline void find_screen_scores(const double* rows, int n, const Clusters& clusters, Workspace& work) {
  const int stride = screen_stride(clusters), D = clusters.D;
  const double* origin = clusters.frame.origin.data();
  work.screened.resize(size_t(n + ROWS_AT_ONCE) * stride);
  work.framed.resize(size_t(ROWS_AT_ONCE) * D);
  for (int begin = 0; begin < n; begin += ROWS_AT_ONCE) {
    for (int r = 0; r < ROWS_AT_ONCE; ++r) {
      const double* y = rows + size_t(begin + r) * clusters.Dp;
      for (int d = 0; d < D; ++d) work.framed[size_t(r) * D + d] = float(y[d] - origin[d]);
    }
    screen_scores<ROWS_AT_ONCE>(work.framed.data(), clusters,
                                work.screened.data() + size_t(begin) * stride, stride);
  }
}

// Up to which screened score a cluster may have one of the wanted lowest scores, if the highest
// of the wanted lowest screened scores is `score`.
//
// A whitened difference errs by 4 u (|z| + |m|) at most, for the whitened mean m and u = 2^-24,
// and a sum of D squares by D u of itself. What is screened and what is looked for both err.
inline double screen_limit(const Clusters& clusters, double score) {
  constexpr double ROUNDOFF = 1.0 / (1 << 23), UNDERFLOW = 1e-30, LARGEST = 1e37;
  if (score > LARGEST) return INFINITY;
  const double reach = clusters.screen.reach;
  const double error = ROUNDOFF * ((clusters.D + 16) * score + 6.0 * std::sqrt(score) * reach +
                                   40.0 * ROUNDOFF * reach * reach);
  return score + 4.0 * error + UNDERFLOW;
}

// Finds the distances of loaded rows to all clusters.
inline void find_distances(const double* rows, int n, const Clusters& clusters, Workspace& work) {
  const int stride = distance_stride(clusters), Dp = clusters.Dp;
  work.everything.resize(size_t(n + ROWS_AT_ONCE) * stride);
  if (clusters.whitened == Clusters::Whitening::TRIANGLES) {
    triangle_distances_to_all(rows, n, clusters, work.everything.data(), stride, work.difference);
    return;
  }
  for (int r = 0; r < n; r += ROWS_AT_ONCE)
    whitened_distances_to_all<ROWS_AT_ONCE>(rows + size_t(r) * Dp, clusters,
                                            work.everything.data() + size_t(r) * stride, stride);
}

// The clusters of lowest score among those offered, the lowest index first among equals.
class Best {
 public:
  Best(int wanted, Workspace& work) : wanted_(wanted), ranking_(work.ranking) { ranking_.clear(); }

  void clear() { ranking_.clear(); }
  bool is_full() const { return int(ranking_.size()) == wanted_; }
  // A score above this one is of no interest.
  double limit() const { return is_full() ? ranking_.back().score : INFINITY; }

  void offer(double score, int cluster) {
    const Ranked offered{score, cluster};
    if (is_full()) {
      if (!(offered < ranking_.back())) return;
      ranking_.pop_back();
    }
    // From the back: most come nearly in order.
    size_t place = ranking_.size();
    ranking_.push_back(offered);
    for (; place > 0 && offered < ranking_[place - 1]; --place) ranking_[place] = ranking_[place - 1];
    ranking_[place] = offered;
  }

  // Hands out the clusters and, unless null, their distances: scores less penalties are not
  // the distances to the bit, so those are asked for.
  template <class DistanceOf>
  void take(int32_t* K, double* kept, DistanceOf distance_of) const {
    for (int j = 0; j < wanted_; ++j) {
      K[j] = ranking_[j].cluster;
      if (kept != nullptr) kept[j] = distance_of(K[j]);
    }
  }

 private:
  const int wanted_;
  std::vector<Ranked>& ranking_;
};

// Whether so many clusters are wanted that sorting all is faster than looking for them.
inline bool wants_most(int wanted, const Clusters& clusters) { return 4 * wanted > clusters.C; }

// Whether ranks are counted: few that are wanted are found sooner one by one.
inline bool are_counted(int wanted, const Clusters& clusters) {
  constexpr int FEWEST = 8;
  return wanted >= FEWEST && clusters.C <= MOST_COUNTED;
}

// Takes the `wanted` clusters of lowest score, given the distances to all.
inline void select(const double* distances, const Clusters& clusters, int wanted, int32_t* K, double* kept,
            Workspace& work) {
  if (are_counted(wanted, clusters)) {
    const int C = clusters.C, width = padded(C);
    work.scores.resize(size_t(width));
    work.ranks.resize(size_t(width));
    for (int c = 0; c < width; c += LANES)
      store(work.scores.data() + c, load<Doubles>(distances + c) + load<Doubles>(clusters.penalty.data() + c));
    count_ranks<Doubles, Longs>(work.scores.data(), C, work.ranks.data());
    for (int c = 0; c < C; ++c) {
      const int64_t rank = work.ranks[c];
      if (rank >= wanted) continue;
      K[rank] = c;
      if (kept != nullptr) kept[rank] = distances[c];
    }
    return;
  }
  if (wants_most(wanted, clusters)) {
    auto& ranking = work.ranking;
    ranking.resize(size_t(clusters.C));
    for (int c = 0; c < clusters.C; ++c) ranking[c] = {distances[c] + clusters.penalty[c], c};
    std::partial_sort(ranking.begin(), ranking.begin() + wanted, ranking.end());
    for (int j = 0; j < wanted; ++j) {
      K[j] = ranking[j].cluster;
      if (kept != nullptr) kept[j] = distances[K[j]];
    }
    return;
  }
  Best best(wanted, work);
  for (int begin = 0; begin < clusters.C; begin += LANES) {
    const Doubles score = load<Doubles>(distances + begin) + load<Doubles>(clusters.penalty.data() + begin);
    // Scores beyond float64 are as good as any, if there are no others.
    if (best.is_full() && !any_true(score < all<Doubles>(best.limit()))) continue;
    for (int c = begin; c < begin + LANES && c < clusters.C; ++c) best.offer(score[c - begin], c);
  }
  best.take(K, kept, [&](int c) { return distances[c]; });
}

// Calls `visit` with the first of sixteen clusters, and a bit for each whose score is at most the limit.
template <class Limit, class Visit>
void visit_masks(const float* scores, int C, Limit limit, Visit visit) {
  for (int begin = 0; begin < C; begin += SIXTEEN) {
    uint32_t found = at_most(scores + begin, limit());
    if (C - begin < SIXTEEN) found &= (1u << (C - begin)) - 1;
    visit(begin, found);
  }
}

// Calls `visit` with every cluster whose score is at most a limit that visits may lower.
template <class Limit, class Visit>
void visit_lowest(const float* scores, int C, Limit limit, Visit visit) {
  visit_masks(scores, C, limit, [&](int begin, uint32_t found) {
    for (; found != 0; found &= found - 1) visit(begin + __builtin_ctz(found));
  });
}

// How many clusters have a score of at most `limit`.
inline int count_lowest(const float* scores, int C, float limit) {
  int count = 0;
  visit_masks(scores, C, [&] { return limit; }, [&](int, uint32_t found) { count += __builtin_popcount(found); });
  return count;
}

// So many clusters that are not wanted are looked at sooner than the wanted are found by their scores.
constexpr int MORE = 3;

// The same given screened scores: clusters that may be among the wanted are looked at again.
// Those the row kept before, if it did, bound how far the wanted ones can be. The scores are used up.
inline void select_screened(const double* y, float* scores, const Clusters& clusters, int wanted,
                     const int32_t* first, int32_t* K, double* kept, Workspace& work) {
  const int C = clusters.C;
  Best best(wanted, work);
  work.everything.resize(size_t(C));
  const auto look = [&](int c) {
    work.everything[c] = whitened_distance(y, clusters, c);
    best.offer(work.everything[c] + clusters.penalty[c], c);
  };
  const auto limit_at = [&](double score) { return float(screen_limit(clusters, score)); };
  if (are_counted(wanted, clusters)) {
    auto& order = work.order;
    work.screened_ranks.resize(size_t(screen_stride(clusters)));
    order.resize(size_t(C));
    count_ranks<Sixteen, SixteenInts>(scores, C, work.screened_ranks.data());
    for (int c = 0; c < C; ++c) order[work.screened_ranks[c]] = c;
    const float limit = limit_at(scores[order[wanted - 1]]);
    for (int k = 0; k < C && (k < wanted || scores[order[k]] <= limit); ++k) look(order[k]);
  } else {
    float bound = first == nullptr ? INFINITY : 0.0f;
    for (int j = 0; first != nullptr && j < wanted; ++j) bound = std::max(bound, scores[first[j]]);
    // Where most rows keep what they have, few others are as close. One cluster in all places, as
    // after a move to an empty one, bounds itself alone.
    const int near = count_lowest(scores, C, limit_at(bound));
    if (near < wanted || near > wanted + MORE) {
      Best lowest(wanted, work);
      visit_lowest(
          scores, C, [&] { return std::min(bound, float(lowest.limit())); },
          [&](int c) { lowest.offer(scores[c], c); });
      bound = float(lowest.limit());
      best.clear();
    }
    const float limit = limit_at(bound);
    // Those the row has come nearly in order; once looked at, they are not met again.
    for (int j = 0; first != nullptr && j < wanted; ++j) {
      if (!(scores[first[j]] <= limit)) continue;
      look(first[j]);
      scores[first[j]] = NAN;
    }
    visit_lowest(scores, C, [&] { return limit; }, look);
  }
  best.take(K, kept, [&](int c) { return work.everything[c]; });
}

// Sorts n items by their clusters: those of cluster c are members[starts[c]] .. members[starts[c + 1]],
// in the order they have. `cluster_of` gives the cluster of an item, or -1 if it is left out.
template <class ClusterOf>
void group_by_cluster(int n, int C, ClusterOf cluster_of, std::vector<int32_t>& starts,
                      std::vector<int32_t>& members) {
  starts.assign(size_t(C) + 2, 0);
  for (int i = 0; i < n; ++i) ++starts[cluster_of(i) + 2];
  starts[1] = 0;
  for (int c = 0; c < C; ++c) starts[c + 2] += starts[c + 1];
  members.resize(size_t(starts[C + 1]));
  for (int i = 0; i < n; ++i)
    if (cluster_of(i) >= 0) members[starts[cluster_of(i) + 1]++] = i;
}

// Finds the distances of loaded rows to clusters of triangles that may be among the wanted; those
// to others may be infinite. Cluster by cluster, so that a triangle stays in cache. Those a row
// kept before come first: most others are given up early.
template <class Before>
void find_near_distances(const double* rows, int n, const Clusters& clusters, int wanted, Before before,
                         Workspace& work) {
  const int stride = distance_stride(clusters), Dp = clusters.Dp, C = clusters.C;
  auto& distances = work.everything;
  auto& limits = work.scores;
  distances.resize(size_t(n) * stride);
  limits.assign(size_t(n), INFINITY);
  work.is_done.assign(size_t(n) * C, 0);
  const auto keep = [&](int r, int c, double found) { distances[size_t(r) * stride + c] = found; };
  if (before(0) != nullptr) {
    auto& starts = work.sorted_before;
    auto& members = work.sorted_after;
    group_by_cluster(n * wanted, C, [&](int i) { return before(i / wanted)[i % wanted]; }, starts, members);
    for (int c = 0; c < C; ++c) {
      const auto found = [&](int r, double distance) { keep(r, c, distance); };
      ToTriangle to_triangle(clusters, c, work.difference);
      for (int m = starts[c]; m < starts[c + 1]; ++m) {
        const int r = members[m] / wanted;
        if (std::exchange(work.is_done[size_t(r) * C + c], 1)) continue;
        to_triangle.add(r, rows + size_t(r) * Dp, INFINITY, found);
      }
      to_triangle.finish(found);
    }
    for (int r = 0; r < n; ++r) {
      // One cluster in all places, as after a move to an empty one, bounds itself alone.
      if (wanted > 1 && before(r)[0] == before(r)[1]) continue;
      limits[r] = -INFINITY;
      for (int j = 0; j < wanted; ++j) {
        const int c = before(r)[j];
        limits[r] = std::max(limits[r], distances[size_t(r) * stride + c] + clusters.penalty[c]);
      }
    }
  }
  for (int c = 0; c < C; ++c) {
    const auto found = [&](int r, double distance) {
      keep(r, c, distance);
      if (wanted == 1) limits[r] = std::min(limits[r], distance + clusters.penalty[c]);
    };
    ToTriangle to_triangle(clusters, c, work.difference);
    for (int r = 0; r < n; ++r)
      if (!work.is_done[size_t(r) * C + c]) to_triangle.add(r, rows + size_t(r) * Dp, limits[r], found);
    to_triangle.finish(found);
  }
  for (int r = 0; r < n; ++r)
    std::fill(distances.data() + size_t(r) * stride + C, distances.data() + size_t(r + 1) * stride, 0.0);
}

// The clusters that rows keep; `before` gives those of a row before, or null.
template <class Before>
void select_all(const double* rows, int n, const Clusters& clusters, int wanted, Before before,
                int32_t* K, double* kept, Workspace& work) {
  const bool most = wants_most(wanted, clusters);
  // One vector of features is too few to give up on a cluster.
  const bool triangles = clusters.whitened == Clusters::Whitening::TRIANGLES && !most && clusters.Dp > LANES;
  const bool screened = !clusters.screen.values.empty() && !most;
  if (screened)
    find_screen_scores(rows, n, clusters, work);
  else if (triangles)
    find_near_distances(rows, n, clusters, wanted, before, work);
  else
    find_distances(rows, n, clusters, work);
  for (int r = 0; r < n; ++r) {
    int32_t* K_of = K + size_t(r) * wanted;
    double* kept_of = kept == nullptr ? nullptr : kept + size_t(r) * wanted;
    if (screened)
      select_screened(rows + size_t(r) * clusters.Dp,
                      work.screened.data() + size_t(r) * screen_stride(clusters), clusters, wanted,
                      before(r), K_of, kept_of, work);
    else
      select(work.everything.data() + size_t(r) * distance_stride(clusters), clusters, wanted, K_of,
             kept_of, work);
  }
}

}  // namespace cprime::CPRIME_ISA
