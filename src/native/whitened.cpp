// The E-step of rows that keep some of the clusters, where each has a whitening of its own.
//
// Nothing is screened in float32: the spread of whitenings would make bounds on its errors wide.
#include "whitened.hpp"

#include "statistics.hpp"

namespace cprime::CPRIME_PATH {
namespace {

constexpr int BLOCK_VALUES = 12 * 1024;  // values, or distances, of a block of rows: they stay in cache

int block_rows(const Clusters& clusters) {
  return std::max(1, BLOCK_VALUES / std::max(clusters.Dp, clusters.C) / ROWS_AT_ONCE) * ROWS_AT_ONCE;
}

// Finds the distances of loaded rows to all clusters.
void find_distances(int n, const Clusters& clusters, Workspace& work) {
  const int stride = distance_stride(clusters);
  work.everything.resize(size_t(n + ROWS_AT_ONCE) * stride);
  for (int r = 0; r < n; r += ROWS_AT_ONCE)
    whitened_distances_to_all<ROWS_AT_ONCE>(work.rows.data() + size_t(r) * clusters.Dp, clusters,
                                            work.everything.data() + size_t(r) * stride, stride);
}

// Takes the `wanted` clusters of lowest score, the lowest index first among equals.
void select(const double* distances, const Clusters& clusters, int wanted, int32_t* K, double* kept,
            Workspace& work) {
  work.scores.resize(size_t(wanted));
  double *scores = work.scores.data(), worst = INFINITY;
  int count = 0;
  for (int begin = 0; begin < clusters.C; begin += LANES) {
    const Doubles score = load<Doubles>(distances + begin) + load<Doubles>(clusters.penalty.data() + begin);
    if (count == wanted && !any_true(score < worst)) continue;
    for (int c = begin; c < begin + LANES && c < clusters.C; ++c) {
      const double value = score[c - begin];
      if (count == wanted && !(value < worst)) continue;
      int place = count < wanted ? count++ : wanted - 1;
      for (; place > 0 && value < scores[place - 1]; --place) {
        scores[place] = scores[place - 1];
        K[place] = K[place - 1];
      }
      scores[place] = value;
      K[place] = c;
      if (count == wanted) worst = scores[wanted - 1];
    }
  }
  if (kept == nullptr) return;
  for (int j = 0; j < wanted; ++j) kept[j] = distances[K[j]];
}

class WhitenedStep : public Statistics {
 public:
  using Statistics::Statistics;

  void run() {
    work_.rows.resize(size_t(n_ + ROWS_AT_ONCE) * Dp_);
    for (int r = 0; r < n_; ++r) load_row(sweep_.rows, first_ + r, row(r), Dp_);
    find_distances(n_, clusters_, work_);
    work_.kept.resize(size_t(n_) * C_prime_);
    for (int r = 0; r < n_; ++r)
      select(work_.everything.data() + size_t(r) * distance_stride(clusters_), clusters_, C_prime_,
             after(r), kept(r), work_);
    sums_.evaluations += int64_t(n_) * clusters_.C;
    count_changes();
    accumulate_soft();
  }
};

}  // namespace

void sweep_whitened(const Sweep& sweep, int64_t first, int count, Sums& sums, Workspace& work) {
  const int at_once = block_rows(*sweep.clusters);
  for (int begin = 0; begin < count && !stopping(); begin += at_once)
    WhitenedStep(sweep, first + begin, std::min(at_once, count - begin), sums, work).run();
}

void closest_whitened(const Rows& rows, const Clusters& clusters, int C_prime, int64_t first, int count,
                      int32_t* K, double* distances, Workspace& work) {
  const int at_once = block_rows(clusters), stride = distance_stride(clusters);
  for (int begin = 0; begin < count && !stopping(); begin += at_once) {
    const int n = std::min(at_once, count - begin);
    work.rows.resize(size_t(n + ROWS_AT_ONCE) * clusters.Dp);
    for (int r = 0; r < n; ++r)
      load_row(rows, first + begin + r, work.rows.data() + size_t(r) * clusters.Dp, clusters.Dp);
    find_distances(n, clusters, work);
    for (int r = 0; r < n; ++r) {
      const int64_t place = (first + begin + r) * C_prime;
      select(work.everything.data() + size_t(r) * stride, clusters, C_prime, K + place,
             distances == nullptr ? nullptr : distances + place, work);
    }
  }
}

}  // namespace cprime::CPRIME_PATH
