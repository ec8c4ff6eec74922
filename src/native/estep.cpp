// The E-step of one leaf: evaluate, select, normalise, accumulate.
#include "all_clusters.hpp"
#include "few.hpp"
#include "isa.hpp"
#include "neighbours.hpp"
#include "statistics.hpp"
#include "whitened.hpp"

namespace cprime::CPRIME_ISA {
namespace {

constexpr int MAX_BLOCK = 512;
constexpr int FAILING_OF = 10;  // more than a tenth of the rows that have bounds must search
constexpr int AHEAD = 4;  // rows between asking for one and looking at it

constexpr int BLOCK_VALUES = 48 * 1024;  // values of a block of rows that stay in cache

int block_rows(int Dp) { return std::clamp(BLOCK_VALUES / Dp, 8, MAX_BLOCK); }

class EStep : public Statistics {
 public:
  using Statistics::Statistics;

  void run() {
    work_.rows.resize(size_t(n_) * Dp_);
    // With one cluster per row most need no float64 copy: they are read where they lie.
    if (C_prime_ == 1 && lie_in_place(sweep_.rows)) {
      with_rows_in_place(sweep_.rows, [&](auto row_of) {
        run_on([&](int r) { return row_of(first_ + r); });
      });
      return;
    }
    for (int r = 0; r < n_; ++r) fetch(r);
    run_on([&](int r) { return LoadedRow{row(r)}; });
  }

 private:
  template <class RowAt>
  static constexpr bool is_in_place = !std::is_same_v<std::invoke_result_t<RowAt, int>, LoadedRow>;

  template <class RowAt>
  void run_on(RowAt row_at) {
    work_.kept.resize(size_t(n_) * C_prime_);
    sweep_.is_decided ? measure_kept() : find(row_at);
    if (stopping()) return;
    count_changes();
    C_prime_ > 1 ? accumulate_soft() : accumulate_hard(row_at);
  }

  // How far the clusters are that rows keep; of rows of one, their sums tell.
  void measure_kept() {
    if (C_prime_ == 1) return;
    for (int r = 0; r < n_; ++r)
      for (int j = 0; j < C_prime_; ++j) kept(r)[j] = distance(row(r), mean(after(r)[j]), Dp_);
  }

  template <class RowAt>
  void find(RowAt row_at) {
    work_.to_scan.clear();
    work_.to_check.clear();
    if (sweep_.use_hints) {
      work_.reach.resize(n_);
      work_.to_look.clear();
      for (int r = 0; r < n_; ++r)
        if (!(C_prime_ == 1 && keeps_without_looking(r))) work_.to_look.push_back(r);
      for (size_t i = 0; i < work_.to_look.size(); ++i) {
        // They lie anywhere: the processor cannot guess which comes next.
        if (i + AHEAD < work_.to_look.size()) prefetch(row_at(work_.to_look[i + AHEAD]));
        look(work_.to_look[i], row_at(work_.to_look[i]));
      }
      check_movers(row_at);
    } else {
      for (int r = 0; r < n_; ++r) work_.to_scan.push_back(r);
    }
    scan(row_at);
  }

  void fetch(int r) { load_row(sweep_.rows, first_ + r, row(r), Dp_); }

  // Takes the first C' of the ranking, unless the row is reluctant to leave those it has.
  void choose(int r) {
    const Ranked* chosen = work_.ranking.data();
    if (sweep_.reluctance != 1.0 && before(r) != nullptr) {
      auto& had = work_.had;
      had.clear();
      for (int j = 0; j < C_prime_; ++j) {
        const int c = before(r)[j];
        had.push_back({distance(row(r), mean(c), Dp_) + clusters_.penalty[c], c});
      }
      stay_where_reluctant(had, chosen, sweep_.reluctance);
      chosen = had.data();
    }
    for (int j = 0; j < C_prime_; ++j) take(after(r), kept(r), j, chosen[j]);
  }

  void take(int32_t* K, double* distances, int j, const Ranked& chosen) {
    K[j] = chosen.cluster;
    // Less a penalty that was added: the distance itself, to the bit.
    distances[j] = clusters_.handicapped ? distance(current_, mean(chosen.cluster), Dp_) : chosen.score;
  }

  // Shows, if bounds allow, that the one cluster of a row is still the closest, from how far
  // it was and how far clusters moved.
  bool keeps_without_looking(int r) {
    Hints& hints = *sweep_.hints;
    const int64_t n = first_ + r;
    if (hints.rest[n] < 0.0f) return false;
    const int own = before(r)[0];
    const float reach = (hints.reach[n] + hints.step[own]) * float(1.0 + SAFE);
    if (approach(n, reach) != 0) return false;
    const float rest = rest_bound(n, own, reach);
    if (!(rest > reach + TINY)) return false;
    hints.rest[n] = rest;
    hints.reach[n] = reach;
    after(r)[0] = own;
    return true;
  }

  // The same of a row that is looked at; or that only listed clusters can have come closer.
  // Puts the row into a queue if neither can be shown.
  template <class Row>
  void look(int r, const Row& y) {
    Hints& hints = *sweep_.hints;
    const int64_t n = first_ + r;
    if (hints.rest[n] < 0.0f) {
      work_.to_scan.push_back(r);
      return;
    }
    auto& ranking = work_.ranking;
    ranking.resize(C_prime_);
    for (int j = 0; j < C_prime_; ++j) {
      const int c = before(r)[j];
      ranking[j] = {distance_of(y, mean(c), Dp_), c};
    }
    sums_.evaluations += C_prime_;
    // With one cluster per row the listed ones have already approached.
    const uint32_t suspects =
        C_prime_ == 1 ? at_most(load<EightFloats>(hints.nearer + n * LISTED), reach() + TINY)
                      : approach(n, reach());
    for (uint32_t left = suspects; left != 0; left &= left - 1) {
      const int c = listed(n, __builtin_ctz(left));
      ranking.push_back({distance_of(y, mean(c), Dp_), c});
      ++sums_.evaluations;
    }
    prefer();
    int next = C_prime_;
    for (uint32_t left = suspects; left != 0; left &= left - 1, ++next)
      list(n, __builtin_ctz(left), ranking[next].cluster,
           rounded_down(std::sqrt(ranking[next].score) * hints.unit));
    for (int j = 0; j < C_prime_; ++j) {
      after(r)[j] = ranking[j].cluster;
      kept(r)[j] = ranking[j].score;
    }
    hints.reach[n] = this->reach();
    const float reach = hints.reach[n] + TINY;
    const float rest = rest_bound(n, ranking[0].cluster,
                                  rounded_up(std::sqrt(ranking[0].score) * hints.unit));
    if (rest > reach) {
      hints.rest[n] = rest;
      return;
    }
    work_.reach[r] = reach;
    work_.to_check.push_back(r);
  }

  // How far the kept clusters are, which come first in the ranking; rounded up.
  float reach() const {
    double farthest = 0.0;
    for (int j = 0; j < C_prime_; ++j) farthest = std::max(farthest, work_.ranking[j].score);
    return rounded_up(std::sqrt(farthest) * sweep_.hints->unit);
  }

  // Orders the ranking, the first C' being those the row keeps.
  void prefer() {
    auto& ranking = work_.ranking;
    if (ranking.size() == 1) return;
    if (sweep_.reluctance == 1.0) {
      std::sort(ranking.begin(), ranking.end());
      return;
    }
    // Lazy, with one cluster per row: the one it has comes first unless clearly beaten.
    const auto rival = std::min_element(ranking.begin() + 1, ranking.end());
    if (rival->score < ranking[0].score / sweep_.reluctance) std::iter_swap(ranking.begin(), rival);
  }

  // Rows whose bound fails only because some clusters moved far look at those alone.
  template <class RowAt>
  void check_movers(RowAt row_at) {
    Hints& hints = *sweep_.hints;
    Search& search = work_.search;
    const auto& queue = work_.to_check;
    for (size_t begin = 0; begin < queue.size(); begin += Search::BATCH) {
      const int n = int(std::min(queue.size() - begin, size_t(Search::BATCH)));
      search.prepare(Dp_, CAPACITY);
      for (int i = 0; i < n; ++i) search.set_row(i, row_at(queue[begin + i]), clusters_.frame);
      search.face(n, clusters_.D, hints.movers);
      for (int t = 0; t < n; t += TILE) {
        Scores& scores = search.scores(t, clusters_.D, hints.movers);
        for (int i = t; i < n && i < t + TILE; ++i) check_row(i, queue[begin + i], scores.of_clusters[i - t]);
      }
      sums_.evaluations += int64_t(n) * hints.movers.n;
    }
  }

  void check_row(int i, int r, float* scores) {
    Hints& hints = *sweep_.hints;
    const int64_t n = first_ + r;
    if (!work_.search.is_scored(i)) {
      work_.to_scan.push_back(r);
      return;
    }
    const auto ignore = [&](int c) {
      if (hints.mover_of[c] >= 0) scores[hints.mover_of[c]] = INFINITY;
    };
    for (int j = 0; j < C_prime_; ++j) ignore(after(r)[j]);
    for (int j = 0; j < LISTED; ++j) ignore(listed(n, j));
    const float lowest_score = lowest_of(scores, hints.movers.width);
    const Search& search = work_.search;
    const double nearest = std::isinf(lowest_score)
                               ? FLT_MAX
                               : search.at_least(i, lowest_score, search.error(i, lowest_score)) /
                                     clusters_.frame.shrink * hints.unit;
    const float rest = std::min(shrunk(hints.rest[n], hints.step_others), rounded_down(nearest));
    if (rest > work_.reach[r])
      hints.rest[n] = rest;
    else
      work_.to_scan.push_back(r);
  }

  template <class RowAt>
  void scan(RowAt row_at) {
    const auto& queue = work_.to_scan;
    const bool noting = sweep_.hints != nullptr;
    // The common case of k-means: one candidate, and nothing else to ask.
    const bool eager = !noting && (sweep_.reluctance == 1.0 || !sweep_.before);
    const bool plain = C_prime_ == 1 && eager;
    if (eager && C_prime_ <= MOST_OF_FEW && are_few(clusters_.C, clusters_.D) && !clusters_.handicapped) {
      scan_few<MOST_OF_FEW>(row_at);
      return;
    }
    // One more than are listed bounds the rest; one more again makes up for a row that
    // keeps a cluster which is not among the closest.
    const int wanted = std::min(clusters_.C, C_prime_ + (noting ? LISTED + 2 : 0));
    // What is not listed has a bound from bytes, which is blurred: good enough where bounds do not hold
    // for long anyway.
    const bool by_bytes = C_prime_ <= MOST_BY_BYTES && sweep_.reluctance == 1.0 && noting &&
                          queue.size() > size_t(n_) / FAILING_OF && ByteSearch::finds_several(clusters_.panels);
    Search& search = work_.search;
    search.prepare(Dp_, std::max(CAPACITY, 4 * wanted));
    if (sweep_.neighbours != nullptr) scan_near(row_at, plain, wanted);
    for (size_t begin = 0; begin < queue.size() && !stopping(); begin += Search::BATCH) {
      const int n = int(std::min(queue.size() - begin, size_t(Search::BATCH)));
      for (int i = 0; i < n; ++i) search.set_row(i, row_at(queue[begin + i]), clusters_.frame);
      if (by_bytes)
        search.run_by_bytes(n, clusters_.D, clusters_.panels, C_prime_, wanted);
      else
        search.run(n, clusters_.D, clusters_.panels, wanted);
      // An interrupted search has not found anything.
      if (stopping()) return;
      for (int i = 0; i < n; ++i)
        take_found<is_in_place<RowAt>>(queue[begin + i], i, plain, wanted, search.beyond(i, clusters_.panels));
      sums_.evaluations += int64_t(n) * clusters_.C;
    }
  }

  // A distance in the frame in units of the hints, rounded down.
  float in_units(double distance) const {
    return rounded_down(distance / clusters_.frame.shrink * sweep_.hints->unit);
  }

  // Takes what the search found for row `r`, which is number `i` of its batch. Clusters it did not look
  // at are at least `beyond` away, in the frame.
  template <bool IN_PLACE>
  void take_found(int r, int i, bool plain, int wanted, double beyond) {
    const Search& search = work_.search;
    const bool noting = sweep_.hints != nullptr, decided = search.decided(i);
    if (plain && decided && search.count(i) == 1) {
      after(r)[0] = work_.search.candidates(i)[0].cluster;
      return;
    }
    if (IN_PLACE) fetch(r);
    current_ = row(r);
    if (decided && !noting)
      rank_nearly_sorted(i, current_, clusters_, work_);
    else if (decided)
      rank_candidates(i, current_, clusters_, C_prime_, work_);
    else
      rank_all(current_, clusters_, wanted, work_);
    choose(r);
    if (!noting) return;
    if (!decided)
      note_ranking(r);
    else
      note_candidates(r, i, in_units(beyond));
    sweep_.hints->reach[first_ + r] = rounded_up(std::sqrt(kept(r)[0]) * sweep_.hints->unit);
  }

  // Rows look at clusters near one they had, where those are few; the others stay in the queue.
  template <class RowAt>
  void scan_near(RowAt row_at, bool plain, int wanted) {
    auto& queue = work_.to_scan;
    Search& search = work_.search;
    size_t left = 0, begin = 0;
    for (bool pays = true; pays && begin < queue.size() && !stopping();) {
      const int n = int(std::min(queue.size() - begin, size_t(Search::BATCH)));
      const size_t left_before = left;
      for (int i = 0; i < n; ++i) search.set_row(i, row_at(queue[begin + i]), clusters_.frame);
      search.face(n, clusters_.D, clusters_.panels);
      for (int i = 0; i < n; ++i) {
        const int r = queue[begin + i];
        if (i + 1 < n) prefetch_near(*sweep_.neighbours, before(queue[begin + i + 1])[0]);
        const double beyond = find_near(r, i, row_at(r), wanted);
        if (beyond < 0.0)
          queue[left++] = r;
        else
          take_found<is_in_place<RowAt>>(r, i, plain, wanted, beyond);
      }
      begin += size_t(n);
      // Rows that lie together are alike.
      pays = left - left_before < size_t(n) / 2;
    }
    left = size_t(std::copy(queue.begin() + begin, queue.end(), queue.begin() + left) - queue.begin());
    queue.resize(left);
  }

  // Searches among clusters near the closest a row had. Returns how far others are, at least, in the
  // frame; < 0 if too many are near.
  template <class Row>
  double find_near(int r, int i, const Row& y, int wanted) {
    constexpr double WIDER = 1.5;  // of rows that note what is next to the clusters they keep
    const Neighbours& neighbours = *sweep_.neighbours;
    Search& search = work_.search;
    if (!search.is_scored(i)) return -1.0;
    double nearest = INFINITY, farthest = 0.0;
    int closest = 0;
    for (int j = 0; j < C_prime_; ++j) {
      const int c = before(r)[j];
      const double d = distance_of(y, mean(c), Dp_);
      if (d < nearest) {
        nearest = d;
        closest = c;
      }
      farthest = std::max(farthest, d);
    }
    // A cluster farther than this from the closest is farther from the row than all it had.
    const double reach = std::sqrt(farthest) * (sweep_.hints != nullptr ? WIDER : 1.0);
    const double within = (std::sqrt(nearest) + reach) * (1.0 + 1e-9) * clusters_.frame.shrink;
    const int n = list_near(neighbours, search, closest, within, work_.near);
    sums_.evaluations += C_prime_;
    if (n > clusters_.C / NEAR_OF) return -1.0;
    search.run_on(i, clusters_.panels, neighbours.means, work_.near.data(), n, wanted);
    sums_.evaluations += n;
    return reach * clusters_.frame.shrink;
  }

  // All rows look at all clusters, which are few.
  template <int KEPT, class RowAt>
  void scan_few(RowAt row_at) {
    if constexpr (KEPT > 1)
      if (C_prime_ < KEPT) return scan_few<KEPT - 1>(row_at);
    ClosestOfFew<KEPT> closest(clusters_);
    for (int r = 0; r < n_; r += LANES)
      closest.find(r, std::min(LANES, n_ - r), row_at, after(r), KEPT == 1 ? nullptr : kept(r));
    sums_.evaluations += int64_t(n_) * clusters_.C;
  }

  const double* current_ = nullptr;
};

}  // namespace

std::shared_ptr<void> make_scratch() { return std::make_shared<Workspace>(); }

void sweep_leaf(const Sweep& sweep, int64_t first, int count, Sums& sums, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  if (sweep.C_prime == sweep.clusters->C) {
    sweep_all_clusters(sweep, first, count, sums, work);
    return;
  }
  if (sweep.clusters->is_whitened()) {
    sweep_whitened(sweep, first, count, sums, work);
    return;
  }
  const int at_once = block_rows(sweep.clusters->Dp);
  for (int begin = 0; begin < count && !stopping(); begin += at_once)
    EStep(sweep, first + begin, std::min(at_once, count - begin), sums, work).run();
}

}  // namespace cprime::CPRIME_ISA
