// The closest clusters of rows, and distances to all of them.
#include "load.hpp"
#include "neighbours.hpp"
#include "isa.hpp"
#include "statistics.hpp"
#include "whitened.hpp"

namespace cprime::CPRIME_ISA {
namespace {

// Calls visit(row number, place in the search's batch) for rows in batches. Clusters farther from a row than
// within(row number), squared and in the frame, are of no interest.
template <class RowOf, class Within, class Visit>
void in_batches(RowOf row_of, Within within, const Clusters& clusters, int64_t first, int count, int wanted,
                int capacity, Workspace& work, Visit visit) {
  work.search.prepare(clusters.Dp, capacity);
  for (int begin = 0; begin < count && !stopping(); begin += Search::BATCH) {
    const int n = std::min(Search::BATCH, count - begin);
    for (int i = 0; i < n; ++i) {
      work.search.set_row(i, row_of(first + begin + i), clusters.frame);
      work.search.confine(i, within(first + begin + i));
    }
    work.search.run(n, clusters.D, clusters.panels, wanted);
    if (stopping()) return;
    for (int i = 0; i < n; ++i) visit(first + begin + i, i);
  }
}

// Calls use(function that gives row number n), wherever rows lie; `work.rows` has room for one.
template <class Use>
void with_rows(const Rows& rows, const Clusters& clusters, Workspace& work, Use use) {
  if (lie_in_place(rows)) {
    with_rows_in_place(rows, use);
    return;
  }
  use([&](int64_t n) {
    load_row(rows, n, work.rows.data(), clusters.Dp);
    return LoadedRow{work.rows.data()};
  });
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
    if (decided && C_prime == 1)
      rank_nearly_sorted(i, y, clusters, work);
    else if (decided)
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
  with_rows(rows, clusters, work, [&](auto row_of) {
    const auto any_distance = [](int64_t) { return INFINITY; };
    in_batches(row_of, any_distance, clusters, first, count, C_prime, capacity, work, visit);
  });
}

void nearer(const Rows& rows, const Clusters& clusters, const Neighbours* neighbours, int32_t number,
            int64_t first, int count, double* nearest, int32_t* owner, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  Search& search = work.search;
  work.rows.resize(clusters.Dp);
  double* y = work.rows.data();
  const double shrink = clusters.frame.shrink;
  const auto within = [&](int64_t n) { return nearest[n] * shrink * shrink; };
  const auto visit = [&](int64_t n, int i) {
    const bool decided = search.decided(i);
    if (decided) {
      const Candidate* found = search.candidates(i);
      const float limit = search.highest_candidate_within(i, within(n), clusters.panels);
      const auto may_be_nearer = [&](const Candidate& of) { return of.score <= limit; };
      if (std::none_of(found, found + search.count(i), may_be_nearer)) return;
    }
    load_row(rows, n, y, clusters.Dp);
    decided ? rank_nearly_sorted(i, y, clusters, work) : rank_all(y, clusters, 1, work);
    const Ranked& best = work.ranking[0];
    if (!(best.score < nearest[n])) return;
    nearest[n] = best.score;
    owner[n] = number + best.cluster;
  };
  with_rows(rows, clusters, work, [&](auto row_of) {
    if (neighbours == nullptr) {
      in_batches(row_of, within, clusters, first, count, 1, CAPACITY, work, visit);
      return;
    }
    // A cluster nearer to a row than the nearest so far is within twice that distance from it.
    std::vector<int64_t> left;
    search.prepare(clusters.Dp, CAPACITY);
    search.face(0, clusters.D, clusters.panels);
    for (int64_t n = first; n < first + count; ++n) {
      // Rows that lie together are alike: if most have many near, so have the others.
      const bool pays = n - first < Search::BATCH || int64_t(left.size()) < (n - first) / 2;
      if (n + 1 < first + count && pays) prefetch_near(*neighbours, owner[n + 1]);
      const double reach = 2.0 * std::sqrt(nearest[n]) * (1.0 + 1e-9) * shrink;
      const int n_near = pays ? list_near(*neighbours, search, owner[n], reach, work.near) : clusters.C;
      if (n_near == 0) continue;
      if (n_near <= clusters.C / NEAR_OF) {
        search.set_row(0, row_of(n), clusters.frame);
        if (search.is_scored(0)) {
          search.face(1, clusters.D, clusters.panels);
          search.run_on(0, clusters.panels, neighbours->means, work.near.data(), n_near, 1);
          visit(n, 0);
          continue;
        }
      }
      left.push_back(n);
    }
    in_batches([&](int64_t k) { return row_of(left[size_t(k)]); }, [&](int64_t k) { return within(left[size_t(k)]); },
               clusters, 0, int(left.size()), 1, CAPACITY, work, [&](int64_t k, int i) { visit(left[size_t(k)], i); });
  });
}

void score_neighbours(const Clusters& clusters, const double* anchors, int first, int count,
                      Neighbours& neighbours, void* scratch) {
  Search& search = static_cast<Workspace*>(scratch)->search;
  search.prepare(clusters.Dp, 0);
  const int width = clusters.panels.width;
  Buffer<float> scores(size_t(TILE) * width);
  for (int begin = first; begin < first + count && !stopping(); begin += TILE) {
    const int n = std::min(TILE, first + count - begin);
    for (int i = 0; i < TILE; ++i)
      search.set_row(i, LoadedRow{anchors + size_t(begin + std::min(i, n - 1)) * clusters.Dp}, clusters.frame);
    search.all_scores(0, clusters.D, clusters.panels, scores.data());
    for (int i = 0; i < n; ++i) {
      neighbours.squares[begin + i] = search.square(i);
      const float square = float(search.square(i));
      uint16_t* codes = neighbours.codes.data() + size_t(begin + i) * neighbours.width;
      std::fill_n(codes, neighbours.width, UINT16_MAX);
      for (int c = 0; c < width; ++c) codes[c] = Neighbours::code(scores[size_t(i) * width + c], square);
      // So far out that nothing is known.
      if (!search.is_scored(i)) std::fill_n(codes, clusters.C, uint16_t(0));
    }
  }
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
