// The E-step of rows that keep some of the clusters, where each has a whitening of its own.
//
// Clusters along the axes are screened in float32, within bounds on its errors; those that may be
// among the wanted, and all others, are looked at in float64.
#include "whitened.hpp"

#include "statistics.hpp"

namespace cprime::CPRIME_ISA {
namespace {

constexpr int BLOCK_VALUES = 12 * 1024;  // values, or distances, of a block of rows: they stay in cache

constexpr int STEP_VALUES = 48 * 1024;  // of rows that are added up together: in the second cache

int block_rows(const Clusters& clusters) {
  return std::max(1, BLOCK_VALUES / std::max(clusters.Dp, clusters.C) / ROWS_AT_ONCE) * ROWS_AT_ONCE;
}

int screen_stride(const Clusters& clusters) { return (clusters.C + SIXTEEN - 1) / SIXTEEN * SIXTEEN; }

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
void find_screen_scores(const double* rows, int n, const Clusters& clusters, Workspace& work) {
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
double screen_limit(const Clusters& clusters, double score) {
  constexpr double ROUNDOFF = 1.0 / (1 << 23), UNDERFLOW = 1e-30, LARGEST = 1e37;
  if (score > LARGEST) return INFINITY;
  const double reach = clusters.screen.reach;
  const double error = ROUNDOFF * ((clusters.D + 16) * score + 6.0 * std::sqrt(score) * reach +
                                   40.0 * ROUNDOFF * reach * reach);
  return score + 4.0 * error + UNDERFLOW;
}

// Finds the distances of loaded rows to all clusters.
void find_distances(const double* rows, int n, const Clusters& clusters, Workspace& work) {
  const int stride = distance_stride(clusters), Dp = clusters.Dp;
  work.everything.resize(size_t(n + ROWS_AT_ONCE) * stride);
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
bool wants_most(int wanted, const Clusters& clusters) { return 4 * wanted > clusters.C; }

// Whether ranks are counted: few that are wanted are found sooner one by one.
bool are_counted(int wanted, const Clusters& clusters) {
  constexpr int FEWEST = 8;
  return wanted >= FEWEST && clusters.C <= MOST_COUNTED;
}

// Takes the `wanted` clusters of lowest score, given the distances to all.
void select(const double* distances, const Clusters& clusters, int wanted, int32_t* K, double* kept,
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

// Calls `visit` with every cluster whose score is at most a limit that visits may lower.
template <class Limit, class Visit>
void visit_lowest(const float* scores, int C, Limit limit, Visit visit) {
  for (int begin = 0; begin < C; begin += SIXTEEN) {
    uint32_t found = at_most(scores + begin, limit());
    if (C - begin < SIXTEEN) found &= (1u << (C - begin)) - 1;
    for (; found != 0; found &= found - 1) visit(begin + __builtin_ctz(found));
  }
}

// The same given screened scores: clusters that may be among the wanted are looked at again.
// Those the row kept before, if it did, bound how far the wanted ones can be.
void select_screened(const double* y, const float* scores, const Clusters& clusters, int wanted,
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
    Best lowest(wanted, work);
    visit_lowest(
        scores, C, [&] { return std::min(bound, float(lowest.limit())); },
        [&](int c) { lowest.offer(scores[c], c); });
    const float limit = limit_at(lowest.limit());
    best.clear();
    visit_lowest(scores, C, [&] { return limit; }, look);
  }
  best.take(K, kept, [&](int c) { return work.everything[c]; });
}

// The same of triangles. A cluster is given up as soon as the features seen so far show that it
// is too far; those the row kept before come first, so that most are given up early.
void select_of_triangles(const double* y, const Clusters& clusters, int wanted, const int32_t* first,
                         int32_t* K, double* kept, Workspace& work) {
  const int Dp = clusters.Dp, size = triangle_size(Dp);
  work.difference.resize(size_t(Dp));
  work.everything.resize(size_t(clusters.C));
  work.is_done.assign(size_t(clusters.C), 0);
  Best best(wanted, work);
  const auto look = [&](int c) {
    if (work.is_done[c]) return;
    work.is_done[c] = 1;
    subtract(y, clusters.mean(c), Dp, work.difference.data());
    const double found = triangle_distance(work.difference.data(), clusters.whitening.data() + size_t(c) * size,
                                           Dp, clusters.penalty[c], best.limit());
    work.everything[c] = found;
    best.offer(found + clusters.penalty[c], c);
  };
  for (int j = 0; first != nullptr && j < wanted; ++j) look(first[j]);
  for (int c = 0; c < clusters.C; ++c) look(c);
  best.take(K, kept, [&](int c) { return work.everything[c]; });
}

// The clusters that rows keep; `before` gives those of a row before, or null.
template <class Before>
void select_all(const double* rows, int n, const Clusters& clusters, int wanted, Before before,
                int32_t* K, double* kept, Workspace& work) {
  const bool most = wants_most(wanted, clusters);
  const bool triangles = clusters.whitened == Clusters::Whitening::TRIANGLES && !most;
  const bool screened = !clusters.screen.values.empty() && !most;
  if (screened)
    find_screen_scores(rows, n, clusters, work);
  else if (!triangles)
    find_distances(rows, n, clusters, work);
  for (int r = 0; r < n; ++r) {
    int32_t* K_of = K + size_t(r) * wanted;
    double* kept_of = kept == nullptr ? nullptr : kept + size_t(r) * wanted;
    if (triangles)
      select_of_triangles(rows + size_t(r) * clusters.Dp, clusters, wanted, before(r), K_of,
                          kept_of, work);
    else if (screened)
      select_screened(rows + size_t(r) * clusters.Dp,
                      work.screened.data() + size_t(r) * screen_stride(clusters), clusters, wanted,
                      before(r), K_of, kept_of, work);
    else
      select(work.everything.data() + size_t(r) * distance_stride(clusters), clusters, wanted, K_of,
             kept_of, work);
  }
}

// Many rows at once: those that keep a cluster are then enough to be added up together.
class WhitenedStep : public Statistics {
 public:
  using Statistics::Statistics;

  void run() {
    work_.rows.resize(size_t(n_ + ROWS_AT_ONCE) * Dp_);
    for (int r = 0; r < n_; ++r) load_row(sweep_.rows, first_ + r, row(r), Dp_);
    work_.kept.resize(size_t(n_) * C_prime_);
    const int at_once = block_rows(clusters_);
    for (int begin = 0; begin < n_ && !stopping(); begin += at_once)
      select_all(
          row(begin), std::min(at_once, n_ - begin), clusters_, C_prime_,
          [&](int r) { return before(begin + r); }, after(begin), kept(begin), work_);
    if (stopping()) return;
    if (sweep_.reluctance != 1.0 && sweep_.before != nullptr) stay_where_reluctant();
    sums_.evaluations += int64_t(n_) * clusters_.C;
    count_changes();
    if (clusters_.whitened != Clusters::Whitening::OF_FEATURES) {
      accumulate_soft();
      return;
    }
    find_shares();
    add_by_clusters();
  }

 private:
  // Leaves rows in the clusters they have, unless the chosen ones are better by far.
  void stay_where_reluctant() {
    for (int r = 0; r < n_; ++r)
      for (int j = 0; j < C_prime_; ++j) {
        const int own = before(r)[j];
        const double found = whitened_distance(row(r), clusters_, own);
        const double score = kept(r)[j] + clusters_.penalty[after(r)[j]];
        if (score < (found + clusters_.penalty[own]) / sweep_.reluctance) continue;
        after(r)[j] = own;
        kept(r)[j] = found;
      }
  }

  // Adds shares * (y - mu) and shares * (y - mu)^2, cluster by cluster.
  void add_by_clusters() {
    const int C = clusters_.C, n = n_ * C_prime_;
    auto& starts = work_.sorted_before;
    auto& members = work_.sorted_after;
    starts.assign(size_t(C) + 1, 0);
    for (int i = 0; i < n; ++i) starts[after(0)[i] + 1] += work_.relative[i] != 0.0;
    for (int c = 0; c < C; ++c) starts[c + 1] += starts[c];
    members.resize(size_t(starts[C]));
    for (int i = 0; i < n; ++i)
      if (work_.relative[i] != 0.0) members[starts[after(0)[i]]++] = i;
    for (int c = 0, begin = 0; c < C; begin = starts[c++]) {
      if (starts[c] == begin) continue;
      sums_.meet(c);
      for (int m = begin; m < starts[c]; ++m) sums_.counts[c] += work_.relative[members[m]];
      int d = 0;
      for (; d + AT_ONCE * LANES <= Dp_; d += AT_ONCE * LANES)
        add_features<AT_ONCE>(c, d, members.data() + begin, members.data() + starts[c]);
      for (; d < Dp_; d += LANES) add_features<1>(c, d, members.data() + begin, members.data() + starts[c]);
    }
  }

  template <int N>
  void add_features(int c, int d, const int32_t* begin, const int32_t* end) {
    double* shift = sums_.shifts.data() + size_t(c) * Dp_ + d;
    double* scatter = sums_.scatters.data() + size_t(c) * Dp_ + d;
    Doubles first[N], second[N], mu[N];
    for (int v = 0; v < N; ++v) {
      first[v] = load<Doubles>(shift + v * LANES);
      second[v] = load<Doubles>(scatter + v * LANES);
      mu[v] = load<Doubles>(mean(c) + d + v * LANES);
    }
    for (const int32_t* m = begin; m != end; ++m) {
      const double* y = row(*m / C_prime_) + d;
      const Doubles share = all<Doubles>(work_.relative[*m]);
#pragma GCC unroll 5
      for (int v = 0; v < N; ++v) {
        const Doubles difference = load<Doubles>(y + v * LANES) - mu[v], shared = share * difference;
        first[v] += shared;
        second[v] = fused(shared, difference, second[v]);
      }
    }
    for (int v = 0; v < N; ++v) {
      store(shift + v * LANES, first[v]);
      store(scatter + v * LANES, second[v]);
    }
  }

  static constexpr int AT_ONCE = 5;  // vectors of features whose sums stay in registers
};

}  // namespace

void sweep_whitened(const Sweep& sweep, int64_t first, int count, Sums& sums, Workspace& work) {
  const int at_once = std::max(8, STEP_VALUES / sweep.clusters->Dp);
  for (int begin = 0; begin < count && !stopping(); begin += at_once)
    WhitenedStep(sweep, first + begin, std::min(at_once, count - begin), sums, work).run();
}

void closest_whitened(const Rows& rows, const Clusters& clusters, int C_prime, int64_t first, int count,
                      int32_t* K, double* distances, Workspace& work) {
  const int at_once = block_rows(clusters);
  for (int begin = 0; begin < count && !stopping(); begin += at_once) {
    const int n = std::min(at_once, count - begin);
    work.rows.resize(size_t(n + ROWS_AT_ONCE) * clusters.Dp);
    for (int r = 0; r < n; ++r)
      load_row(rows, first + begin + r, work.rows.data() + size_t(r) * clusters.Dp, clusters.Dp);
    const int64_t place = (first + begin) * C_prime;
    select_all(
        work.rows.data(), n, clusters, C_prime, [](int) { return nullptr; }, K + place,
        distances == nullptr ? nullptr : distances + place, work);
  }
}

}  // namespace cprime::CPRIME_ISA
