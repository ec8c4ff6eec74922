// The E-step of rows that keep some of the clusters, where each has a whitening of its own.
#include "whitened.hpp"

#include "statistics.hpp"
#include "whitened_search.hpp"

namespace cprime::CPRIME_ISA {
namespace {

constexpr int BLOCK_VALUES = 12 * 1024;  // values, or distances, of a block of rows: they stay in cache

constexpr int STEP_VALUES = 48 * 1024;  // of rows that are added up together: in the second cache

int block_rows(const Clusters& clusters) {
  return std::max(1, BLOCK_VALUES / std::max(clusters.Dp, clusters.C) / ROWS_AT_ONCE) * ROWS_AT_ONCE;
}

// Many rows at once: those that keep a cluster are then enough to be added up together.
class WhitenedStep : public Statistics {
 public:
  using Statistics::Statistics;

  void run() {
    work_.rows.resize(size_t(n_ + ROWS_AT_ONCE) * Dp_);
    for (int r = 0; r < n_; ++r) load_row(sweep_.rows, first_ + r, row(r), Dp_);
    work_.kept.resize(size_t(n_) * C_prime_);
    sweep_.is_decided ? measure_kept() : find();
    if (stopping()) return;
    count_changes();
    if (clusters_.whitened == Clusters::Whitening::OF_CLUSTERS) {
      accumulate_soft();
      return;
    }
    find_shares();
    add_by_clusters();
  }

 private:
  void find() {
    const int at_once = block_rows(clusters_);
    for (int begin = 0; begin < n_ && !stopping(); begin += at_once)
      select_all(
          row(begin), std::min(at_once, n_ - begin), clusters_, C_prime_,
          [&](int r) { return before(begin + r); }, after(begin), kept(begin), work_);
    if (stopping()) return;
    if (sweep_.reluctance != 1.0 && sweep_.before != nullptr)
      for (int r = 0; r < n_; ++r) stay(r);
    sums_.evaluations += int64_t(n_) * clusters_.C;
  }

  // How far the clusters are that rows keep.
  void measure_kept() {
    for (int r = 0; r < n_; ++r)
      for (int j = 0; j < C_prime_; ++j) kept(r)[j] = whitened_distance(row(r), clusters_, after(r)[j]);
  }

  // Leaves a row the clusters it has, unless the chosen ones are better by far.
  void stay(int r) {
    auto &had = work_.had, &closest = work_.ranking;
    had.clear();
    closest.clear();
    for (int j = 0; j < C_prime_; ++j) {
      const int c = before(r)[j], chosen = after(r)[j];
      had.push_back({whitened_distance(row(r), clusters_, c) + clusters_.penalty[c], c});
      closest.push_back({kept(r)[j] + clusters_.penalty[chosen], chosen});
    }
    stay_where_reluctant(had, closest.data(), sweep_.reluctance);
    for (int j = 0; j < C_prime_; ++j) {
      after(r)[j] = had[size_t(j)].cluster;
      kept(r)[j] = whitened_distance(row(r), clusters_, after(r)[j]);
    }
  }

  // Adds shares * (y - mu) and shares * (y - mu)^2, cluster by cluster.
  void add_by_clusters() {
    const int C = clusters_.C;
    const double* shares = work_.relative.data();
    auto& starts = work_.sorted_before;
    auto& members = work_.sorted_after;
    group_by_cluster(
        n_ * C_prime_, C, [&](int i) { return shares[i] != 0.0 ? after(0)[i] : -1; }, starts, members);
    for (int c = 0; c < C; ++c) {
      const int32_t *begin = members.data() + starts[c], *end = members.data() + starts[c + 1];
      if (begin == end) continue;
      sums_.meet(c);
      for (const int32_t* m = begin; m != end; ++m) sums_.counts[c] += shares[*m];
      if (clusters_.whitened == Clusters::Whitening::TRIANGLES) {
        add_triangles(c, begin, end);
        continue;
      }
      int d = 0;
      for (; d + AT_ONCE * LANES <= Dp_; d += AT_ONCE * LANES) add_features<AT_ONCE>(c, d, begin, end);
      for (; d < Dp_; d += LANES) add_features<1>(c, d, begin, end);
    }
  }

  void add_triangles(int c, const int32_t* begin, const int32_t* end) {
    double* shift = sums_.shifts.data() + size_t(c) * Dp_;
    TriangleSum sum(clusters_, c, sums_.scatters.data() + size_t(c) * triangle_size(Dp_), work_.difference);
    for (const int32_t* m = begin; m != end; ++m) {
      const double share = work_.relative[*m];
      const double* difference = sum.add(share, row(*m / C_prime_));
      for (int d = 0; d < Dp_; d += LANES)
        store(shift + d, load<Doubles>(shift + d) + share * load<Doubles>(difference + d));
    }
    sum.finish();
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
        work.rows.data(), n, clusters, C_prime, [](int) -> const int32_t* { return nullptr; }, K + place,
        distances == nullptr ? nullptr : distances + place, work);
  }
}

}  // namespace cprime::CPRIME_ISA
