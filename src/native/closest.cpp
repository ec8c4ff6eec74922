// The closest clusters of rows, and distances to all of them.
#include "load.hpp"
#include "isa.hpp"
#include "statistics.hpp"
#include "whitened.hpp"

namespace cprime::CPRIME_ISA {
namespace {

// Calls visit(row number, place in the search's batch) for rows in batches.
template <class RowOf, class Visit>
void in_batches(RowOf row_of, const Clusters& clusters, int64_t first, int count, int wanted,
                int capacity, Workspace& work, Visit visit) {
  work.search.prepare(clusters.Dp, capacity);
  for (int begin = 0; begin < count && !stopping(); begin += Search::BATCH) {
    const int n = std::min(Search::BATCH, count - begin);
    for (int i = 0; i < n; ++i)
      work.search.set_row(i, row_of(first + begin + i), clusters.frame);
    work.search.run(n, clusters.D, clusters.panels, wanted);
    if (stopping()) return;
    for (int i = 0; i < n; ++i) visit(first + begin + i, i);
  }
}

}  // namespace

void closest(const Rows& rows, const Clusters& clusters, int C_prime, int64_t first, int count,
             int32_t* K, double* distances, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  if (clusters.is_whitened()) {
    closest_whitened(rows, clusters, C_prime, first, count, K, distances, work);
    return;
  }
  const int capacity = std::max(CAPACITY, 4 * C_prime);
  work.rows.resize(clusters.Dp);
  double* y = work.rows.data();
  const auto visit = [&](int64_t n, int i) {
    const bool decided = work.search.decided(i);
    if (distances == nullptr && C_prime == 1 && decided && work.search.count(i) == 1) {
      K[n] = work.search.candidates(i)[0].cluster;
      return;
    }
    load_row(rows, n, y, clusters.Dp);
    if (decided)
      rank_candidates(i, y, clusters, C_prime, work);
    else
      rank_all(y, clusters, C_prime, work);
    for (int j = 0; j < C_prime; ++j) {
      const int c = work.ranking[j].cluster;
      K[n * C_prime + j] = c;
      if (distances != nullptr)
        distances[n * C_prime + j] =
            clusters.handicapped ? distance(y, clusters.mean(c), clusters.Dp)
                                 : work.ranking[j].score;
    }
  };
  if (lie_in_place(rows)) {
    with_rows_in_place(rows, [&](auto row_of) {
      in_batches(row_of, clusters, first, count, C_prime, capacity, work, visit);
    });
    return;
  }
  const auto loaded = [&](int64_t n) {
    load_row(rows, n, y, clusters.Dp);
    return LoadedRow{y};
  };
  in_batches(loaded, clusters, first, count, C_prime, capacity, work, visit);
}

void distances_of(const Rows& rows, const Clusters& clusters, int64_t first, int count, double* out,
                  void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  const int Dp = clusters.Dp, C = clusters.C, stride = padded(C);
  work.rows.resize(size_t(ROWS_AT_ONCE) * Dp);
  work.everything.resize(size_t(ROWS_AT_ONCE) * stride);
  for (int begin = 0; begin < count && !stopping(); begin += ROWS_AT_ONCE) {
    const int n = std::min(ROWS_AT_ONCE, count - begin);
    for (int r = 0; r < n; ++r)
      load_row(rows, first + begin + r, work.rows.data() + size_t(r) * Dp, Dp);
    distances_to_all<ROWS_AT_ONCE>(work.rows.data(), clusters, work.everything.data(), stride);
    for (int r = 0; r < n; ++r)
      std::copy_n(work.everything.data() + size_t(r) * stride, C, out + (first + begin + r) * C);
  }
}

}  // namespace cprime::CPRIME_ISA
