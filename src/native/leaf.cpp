// The E-step of one leaf: evaluate, select, normalise, accumulate.
#include <cmath>

#include "exact.hpp"
#include "load.hpp"
#include "path.hpp"
#include "search.hpp"
#include "tile.hpp"
#include "trials.hpp"

namespace cprime::CPRIME_PATH {
namespace {

constexpr int ROWS_AT_ONCE = 6;       // rows per step of `distances_to_all`
constexpr int BLOCK_VALUES = 48 * 1024;  // values of a block of rows that stay in cache
constexpr int MAX_BLOCK = 512;
constexpr int CAPACITY = 160;  // candidates per row before hopeless ones are dropped
// Bounds kept in float32 lose this much when rounded to the safe side.
constexpr double SAFE = 1.0 / (1 << 22);
constexpr float TINY = 1e-30f;  // below this, in units of the hints, squares may underflow
// Clusters this many nats (and log C) below the best outside K add less than 1e-13 to it.
constexpr double NEGLIGIBLE = 30.0;

struct Ranked {
  double score;
  int32_t cluster;
  bool operator<(const Ranked& other) const {
    return score < other.score || (score == other.score && cluster < other.cluster);
  }
};

float rounded_down(double distance) { return float(std::min(distance * (1.0 - SAFE), double(FLT_MAX))); }
float rounded_up(double distance) { return float(distance * (1.0 + SAFE)); }
float shrunk(float bound, float step) {
  const float left = bound - step;
  return left > 0.0f ? left * float(1.0 - SAFE) : 0.0f;
}

float lowest_of(const float* numbers, int n) {
  Sixteen bound = all<Sixteen>(INFINITY);
  for (int i = 0; i < n; i += SIXTEEN) bound = lower(bound, load<Sixteen>(numbers + i));
  return lowest(bound);
}

struct Workspace {
  Search search;
  Buffer<double> rows, kept, relative, everything;
  std::vector<Ranked> ranking;
  std::vector<int> to_scan, to_check;
  std::vector<float> reach;
  std::vector<int32_t> sorted_before, sorted_after;
};

int block_rows(int Dp) { return std::clamp(BLOCK_VALUES / Dp, 8, MAX_BLOCK); }

// Ranks all clusters by the canonical distance; the first `n` of the ranking are in order.
void rank_all(const double* y, const Clusters& clusters, int n, Workspace& work) {
  work.ranking.resize(clusters.C);
  for (int c = 0; c < clusters.C; ++c) {
    const double d = distance(y, clusters.means.data() + size_t(c) * clusters.Dp, clusters.Dp);
    work.ranking[c] = {d + clusters.penalty[c], c};
  }
  std::partial_sort(work.ranking.begin(), work.ranking.begin() + n, work.ranking.end());
}

// Ranks the candidates of row `i` that may be among the C' closest. They come sorted by
// score; returns how many of them were ranked.
int rank_candidates(int i, const double* y, const Clusters& clusters, int C_prime,
                    Workspace& work) {
  Candidate* found = work.search.candidates(i);
  const int count = work.search.count(i);
  std::sort(found, found + count);
  const double limit = found[C_prime - 1].score + 2.0 * work.search.error(i);
  work.ranking.clear();
  for (int j = 0; j < count && (j < C_prime || found[j].score <= limit); ++j) {
    const int c = found[j].cluster;
    const double d = distance(y, clusters.means.data() + size_t(c) * clusters.Dp, clusters.Dp);
    work.ranking.push_back({d + clusters.penalty[c], c});
  }
  std::sort(work.ranking.begin(), work.ranking.end());
  return int(work.ranking.size());
}

// The E-step of a block of rows of one leaf.
class Block {
 public:
  Block(const Sweep& sweep, int64_t first, int n, Sums& sums, Workspace& work)
      : sweep_(sweep),
        clusters_(*sweep.clusters),
        first_(first),
        n_(n),
        Dp_(clusters_.Dp),
        C_prime_(sweep.C_prime),
        sums_(sums),
        work_(work) {}

  void run() {
    work_.rows.resize(size_t(n_ + ROWS_AT_ONCE) * Dp_);
    for (int r = 0; r < n_; ++r) load_row(sweep_.rows, first_ + r, row(r), Dp_);
    if (C_prime_ == clusters_.C) {
      keep_all();
      return;
    }
    work_.kept.resize(size_t(n_) * C_prime_);
    work_.to_scan.clear();
    work_.to_check.clear();
    if (sweep_.use_hints) {
      work_.reach.resize(n_);
      for (int r = 0; r < n_; ++r) keep_if_provable(r);
      check_movers();
    } else {
      for (int r = 0; r < n_; ++r) work_.to_scan.push_back(r);
    }
    scan();
    if (stopping()) return;
    count_changes();
    C_prime_ == 1 ? accumulate_hard() : accumulate_soft();
  }

 private:
  double* row(int r) { return work_.rows.data() + size_t(r) * Dp_; }
  double* kept(int r) { return work_.kept.data() + size_t(r) * C_prime_; }
  int32_t* after(int r) { return sweep_.after + (first_ + r) * C_prime_; }
  const int32_t* before(int r) const {
    return sweep_.before == nullptr ? nullptr : sweep_.before + (first_ + r) * C_prime_;
  }
  double weight(int r) const { return sweep_.weights[(first_ + r) * sweep_.weight_stride]; }
  const double* mean(int c) const { return clusters_.means.data() + size_t(c) * Dp_; }

  // Takes the first C' of the ranking, unless the row is reluctant to leave those it has.
  void choose(int r) {
    int32_t* K = after(r);
    double* distances = kept(r);
    for (int j = 0; j < C_prime_; ++j) take(K, distances, j, work_.ranking[j]);
    if (sweep_.reluctance == 1.0 || before(r) == nullptr) return;
    for (int j = 0; j < C_prime_; ++j) {
      const int c = before(r)[j];
      const double score = distance(row(r), mean(c), Dp_) + clusters_.penalty[c];
      if (!(work_.ranking[j].score < score / sweep_.reluctance)) take(K, distances, j, {score, c});
    }
  }

  void take(int32_t* K, double* distances, int j, const Ranked& chosen) {
    K[j] = chosen.cluster;
    // Less a penalty that was added: the distance itself, to the bit.
    distances[j] = clusters_.handicapped ? distance(current_, mean(chosen.cluster), Dp_) : chosen.score;
  }

  // ---- hints -----------------------------------------------------------------------------

  // Calls use(ids of the row's listed clusters) with their type.
  template <class Use>
  auto with_list(int64_t n, Use use) {
    Hints& hints = *sweep_.hints;
    return hints.wide ? use(static_cast<int32_t*>(hints.listed) + n * LISTED)
                      : use(static_cast<uint16_t*>(hints.listed) + n * LISTED);
  }

  int listed(int64_t n, int j) {
    return with_list(n, [&](auto* ids) { return int(ids[j]); });
  }

  void list(int64_t n, int j, int cluster, float nearer) {
    with_list(n, [&](auto* ids) { ids[j] = static_cast<std::decay_t<decltype(*ids)>>(cluster); });
    sweep_.hints->nearer[n * LISTED + j] = nearer;
  }

  // Lets the listed clusters come as close as they may have; returns one bit for each that
  // may be as close as `reach`.
  uint32_t approach(int64_t n, float reach) {
    Hints& hints = *sweep_.hints;
    float* nearer = hints.nearer + n * LISTED;
    EightFloats step;
    with_list(n, [&](const auto* ids) {
      for (int j = 0; j < LISTED; ++j) step[j] = hints.step[ids[j]];
    });
    EightFloats left = load<EightFloats>(nearer) - step;
    left = left > 0.0f ? left * float(1.0 - SAFE) : EightFloats{};
    store(nearer, left);
    const auto suspect = left <= reach + TINY;
    uint32_t bits = 0;
    for (int j = 0; j < LISTED; ++j) bits |= uint32_t(suspect[j] & 1) << j;
    return bits;
  }

  // Shows, if bounds allow, that the row's clusters are still the closest, or that only
  // listed ones can have come closer.
  void keep_if_provable(int r) {
    Hints& hints = *sweep_.hints;
    const int64_t n = first_ + r;
    if (hints.rest[n] < 0.0f) {
      work_.to_scan.push_back(r);
      return;
    }
    current_ = row(r);
    auto& ranking = work_.ranking;
    ranking.clear();
    for (int j = 0; j < C_prime_; ++j) {
      const int c = before(r)[j];
      ranking.push_back({distance(current_, mean(c), Dp_), c});
    }
    sums_.evaluations += C_prime_;
    const uint32_t suspects = approach(n, reach());
    for (uint32_t left = suspects; left != 0; left &= left - 1) {
      const int c = listed(n, __builtin_ctz(left));
      ranking.push_back({distance(current_, mean(c), Dp_), c});
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
    const float reach = this->reach() + TINY;
    if (const float rest = shrunk(hints.rest[n], hints.step_any); rest > reach) {
      hints.rest[n] = rest;
      return;
    }
    // Movers are at least as far from the row as from its cluster, less the row's distance.
    const float to_movers = shrunk(hints.nearest_mover[ranking[0].cluster],
                                   rounded_up(std::sqrt(ranking[0].score) * hints.unit));
    const float rest = std::min(shrunk(hints.rest[n], hints.step_others), to_movers);
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
  void check_movers() {
    Hints& hints = *sweep_.hints;
    Search& search = work_.search;
    const auto& queue = work_.to_check;
    for (size_t begin = 0; begin < queue.size(); begin += Search::BATCH) {
      const int n = int(std::min(queue.size() - begin, size_t(Search::BATCH)));
      search.prepare(Dp_, CAPACITY);
      for (int i = 0; i < n; ++i) search.set_row(i, row(queue[begin + i]), clusters_.frame);
      search.bound_errors(n, clusters_.D, hints.movers);
      for (int t = 0; t < n; t += TILE) {
        float* scores = search.scores(t, clusters_.D, hints.movers);
        for (int i = t; i < n && i < t + TILE; ++i) check_row(i, queue[begin + i], scores + size_t(i - t) * MAX_GROUP);
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
    const double nearest =
        std::isinf(lowest_score) ? FLT_MAX : work_.search.at_least(i, lowest_score, clusters_.D) / clusters_.frame.shrink * hints.unit;
    const float rest = std::min(shrunk(hints.rest[n], hints.step_others), rounded_down(nearest));
    if (rest > work_.reach[r])
      hints.rest[n] = rest;
    else
      work_.to_scan.push_back(r);
  }

  // Lists the clusters next to those the row keeps, of a ranking that holds them all.
  void note_ranking(int r) {
    Hints& hints = *sweep_.hints;
    const int64_t n = first_ + r;
    int j = 0;
    float rest = FLT_MAX;
    for (const Ranked& next : work_.ranking) {
      if (is_kept(r, next.cluster)) continue;
      const float nearer = rounded_down(std::sqrt(next.score) * hints.unit);
      if (j == LISTED) {
        rest = nearer;
        break;
      }
      list(n, j++, next.cluster, nearer);
    }
    hints.rest[n] = rest;
  }

  // The same from candidates sorted by score, with the bounds their scores allow.
  void note_candidates(int r, int i) {
    Hints& hints = *sweep_.hints;
    const Candidate* found = work_.search.candidates(i);
    const int count = work_.search.count(i);
    const double unit = hints.unit / clusters_.frame.shrink;
    const int64_t n = first_ + r;
    int j = 0;
    for (int k = 0; k < count; ++k) {
      if (is_kept(r, found[k].cluster)) continue;
      const float nearer = rounded_down(work_.search.at_least(i, found[k].score, clusters_.D) * unit);
      if (j == LISTED) {
        hints.rest[n] = nearer;
        return;
      }
      list(n, j++, found[k].cluster, nearer);
    }
    hints.rest[n] = -1.0f;
  }

  bool is_kept(int r, int c) {
    const int32_t* K = after(r);
    return std::find(K, K + C_prime_, c) != K + C_prime_;
  }

  // ---- the search over all clusters ---------------------------------------------------------

  void scan() {
    const auto& queue = work_.to_scan;
    const bool noting = sweep_.hints != nullptr;
    // The common case of k-means: one candidate, and nothing else to ask.
    const bool plain = C_prime_ == 1 && !noting && (sweep_.reluctance == 1.0 || !sweep_.before);
    // One more than are listed bounds the rest; one more again makes up for a row that
    // keeps a cluster which is not among the closest.
    const int wanted = std::min(clusters_.C, C_prime_ + (noting ? LISTED + 2 : 0));
    Search& search = work_.search;
    search.prepare(Dp_, std::max(CAPACITY, 4 * wanted));
    for (size_t begin = 0; begin < queue.size() && !stopping(); begin += Search::BATCH) {
      const int n = int(std::min(queue.size() - begin, size_t(Search::BATCH)));
      for (int i = 0; i < n; ++i) search.set_row(i, row(queue[begin + i]), clusters_.frame);
      search.run(n, clusters_.D, clusters_.panels, wanted, 0.0);
      for (int i = 0; i < n; ++i) {
        const int r = queue[begin + i];
        current_ = row(r);
        const bool decided = search.decided(i);
        if (plain && decided && search.count(i) == 1) {
          const int c = search.candidates(i)[0].cluster;
          after(r)[0] = c;
          kept(r)[0] = distance(current_, mean(c), Dp_);
          continue;
        }
        if (decided)
          rank_candidates(i, current_, clusters_, C_prime_, work_);
        else
          rank_all(current_, clusters_, wanted, work_);
        choose(r);
        if (noting) decided ? note_candidates(r, i) : note_ranking(r);
      }
      sums_.evaluations += int64_t(n) * clusters_.C;
    }
  }

  // ---- statistics -------------------------------------------------------------------------

  void count_changes() {
    for (int r = 0; r < n_; ++r) {
      if (weight(r) == 0.0) continue;
      if (sweep_.before == nullptr || differs(before(r), after(r))) ++sums_.changed;
    }
  }

  // Whether two rows of clusters differ as sets.
  bool differs(const int32_t* one, const int32_t* other) {
    if (std::equal(one, one + C_prime_, other)) return false;
    auto& a = work_.sorted_before;
    auto& b = work_.sorted_after;
    a.assign(one, one + C_prime_);
    b.assign(other, other + C_prime_);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a != b;
  }

  void accumulate_hard() {
    for (int r = 0; r < n_; ++r) {
      const double w = weight(r);
      if (w == 0.0) continue;
      const int c = after(r)[0];
      const double d = kept(r)[0];
      add_shift(c, w, row(r));
      sums_.scatter += w * d;
      sums_.quantization_error += w * d;
      sums_.free_energy +=
          w * (sweep_.highest_bias - sweep_.sharpness * (d + clusters_.penalty[c]));
      sums_.weight += w;
    }
  }

  void accumulate_soft() {
    const int n = n_ * C_prime_;
    auto& relative = work_.relative;
    relative.resize(size_t(n + LANES));
    for (int r = 0; r < n_; ++r) {
      const double best = lowest_score(r);
      for (int j = 0; j < C_prime_; ++j)
        relative[size_t(r) * C_prime_ + j] = sweep_.sharpness * (best - score(r, j));
    }
    std::fill_n(relative.begin() + n, LANES, 0.0);
    exponentials(relative.data(), n);
    for (int r = 0; r < n_; ++r) {
      const double w = weight(r);
      if (w == 0.0) continue;
      const double* e = relative.data() + size_t(r) * C_prime_;
      const double best = lowest_score(r);
      double total = 0.0, surprise = 0.0;
      for (int j = 0; j < C_prime_; ++j) total += e[j];
      const double log_total = std::log(total);
      for (int j = 0; j < C_prime_; ++j) {
        const double q = e[j] / total;
        if (q == 0.0) continue;
        surprise += q * (sweep_.sharpness * (best - score(r, j)));
        const double share = w * q;
        add_shift(after(r)[j], share, row(r));
        sums_.scatter += share * kept(r)[j];
      }
      sums_.quantization_error += w * kept(r)[0];
      sums_.entropy += w * (log_total - surprise);
      sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * best + log_total);
      sums_.weight += w;
    }
  }

  double score(int r, int j) { return kept(r)[j] + clusters_.penalty[after(r)[j]]; }

  double lowest_score(int r) {
    double best = score(r, 0);
    for (int j = 1; j < C_prime_; ++j) best = std::min(best, score(r, j));
    return best;
  }

  void add_shift(int c, double share, const double* y) {
    sums_.meet(c);
    sums_.counts[c] += share;
    const double* mu = mean(c);
    double* shift = sums_.shifts.data() + size_t(c) * Dp_;
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = load<Doubles>(y + d) - load<Doubles>(mu + d);
      store(shift + d, load<Doubles>(shift + d) + share * difference);
    }
  }

  // ---- C' = C: every row keeps all clusters -------------------------------------------------

  void keep_all() {
    const int C = clusters_.C, stride = (C + LANES - 1) / LANES * LANES;
    const int at_once = std::max(ROWS_AT_ONCE, BLOCK_VALUES / stride / ROWS_AT_ONCE * ROWS_AT_ONCE);
    for (int begin = 0; begin < n_ && !stopping(); begin += at_once) {
      const int n = std::min(at_once, n_ - begin);
      auto& shares = work_.everything;
      shares.resize(size_t(n + ROWS_AT_ONCE) * stride);
      for (int r = 0; r < n; r += ROWS_AT_ONCE)
        distances_to_all<ROWS_AT_ONCE>(row(begin + r), clusters_, shares.data() + size_t(r) * stride,
                                       stride);
      for (int r = 0; r < n; ++r) normalise(begin + r, shares.data() + size_t(r) * stride, stride);
      for (int c = 0; c < C; ++c) add_shifts(c, begin, n, shares.data() + c, stride);
    }
    for (int r = 0; r < n_; ++r)
      if (weight(r) > 0.0 && sweep_.before == nullptr && !sweep_.continued) ++sums_.changed;
    sums_.evaluations += int64_t(n_) * C;
  }

  // Turns a row's distances into its shares w q, in place.
  void normalise(int r, double* values, int stride) {
    const double w = weight(r);
    if (w == 0.0) {
      std::fill_n(values, stride, 0.0);
      return;
    }
    int closest = 0;
    double best = values[0] + clusters_.penalty[0];
    for (int c = 1; c < clusters_.C; ++c) {
      const double score = values[c] + clusters_.penalty[c];
      if (score < best) {
        best = score;
        closest = c;
      }
    }
    const double nearest = values[closest];
    Doubles total{}, surprise{}, scatter{};
    work_.relative.resize(stride);
    double* e = work_.relative.data();
    for (int c = 0; c < stride; c += LANES) {
      Doubles relative = sweep_.sharpness *
                         (best - (load<Doubles>(values + c) + load<Doubles>(clusters_.penalty.data() + c)));
      // What has no probability has no surprise either; keep the product finite.
      const Doubles hopeless = all<Doubles>(-1000.0);
      relative = relative > hopeless ? relative : hopeless;
      const Doubles weight_of = exponential(relative);
      total += weight_of;
      surprise += weight_of * relative;
      scatter += weight_of * load<Doubles>(values + c);
      store(e + c, weight_of);
    }
    const double sum = folded(total), log_total = std::log(sum), share = w / sum;
    for (int c = 0; c < stride; c += LANES) store(values + c, load<Doubles>(e + c) * share);
    sums_.scatter += share * folded(scatter);
    sums_.quantization_error += w * nearest;
    sums_.entropy += w * (log_total - folded(surprise) / sum);
    sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * best + log_total);
    sums_.weight += w;
  }

  // Adds the shares of one cluster in a block of rows.
  void add_shifts(int c, int begin, int n, const double* shares, int stride) {
    constexpr int CHUNK = 8;  // vectors of features held in registers
    sums_.meet(c);
    double count = sums_.counts[c];
    for (int r = 0; r < n; ++r) count += shares[size_t(r) * stride];
    sums_.counts[c] = count;
    for (int d = 0; d < Dp_; d += CHUNK * LANES) {
      const int vectors = std::min(CHUNK, (Dp_ - d) / LANES);
      switch (vectors) {
        case 8: add_chunk<8>(c, begin, n, shares, stride, d); break;
        case 7: add_chunk<7>(c, begin, n, shares, stride, d); break;
        case 6: add_chunk<6>(c, begin, n, shares, stride, d); break;
        case 5: add_chunk<5>(c, begin, n, shares, stride, d); break;
        case 4: add_chunk<4>(c, begin, n, shares, stride, d); break;
        case 3: add_chunk<3>(c, begin, n, shares, stride, d); break;
        case 2: add_chunk<2>(c, begin, n, shares, stride, d); break;
        default: add_chunk<1>(c, begin, n, shares, stride, d);
      }
    }
  }

  template <int N>
  void add_chunk(int c, int begin, int n, const double* shares, int stride, int d) {
    double* shift = sums_.shifts.data() + size_t(c) * Dp_ + d;
    Doubles sum[N], mu[N];
    for (int v = 0; v < N; ++v) {
      sum[v] = load<Doubles>(shift + v * LANES);
      mu[v] = load<Doubles>(mean(c) + d + v * LANES);
    }
    for (int r = 0; r < n; ++r) {
      const double share = shares[size_t(r) * stride];
      if (share == 0.0) continue;
      const double* y = row(begin + r) + d;
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) sum[v] += share * (load<Doubles>(y + v * LANES) - mu[v]);
    }
    for (int v = 0; v < N; ++v) store(shift + v * LANES, sum[v]);
  }

  const Sweep& sweep_;
  const Clusters& clusters_;
  const int64_t first_;
  const int n_, Dp_, C_prime_;
  Sums& sums_;
  Workspace& work_;
  const double* current_ = nullptr;
};

// ---- doors --------------------------------------------------------------------------------

void pack_panels(const Clusters& clusters, const int32_t* which, int n, Panels& panels) {
  const int D = clusters.D;
  panels.n = n;
  panels.width = (n + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
  panels.values.assign(size_t(panels.width) * D, 0.0f);
  panels.constants.assign(size_t(panels.width), INFINITY);
  panels.reach = panels.level = 0.0;
  for (int begin = 0; begin < panels.width; begin += PANEL) {
    const int width = std::min(PANEL, panels.width - begin);
    float* panel = panels.values.data() + size_t(begin) * D;
    for (int i = begin; i < begin + width && i < n; ++i) {
      const int c = which == nullptr ? i : which[i];
      const double* mu = clusters.means.data() + size_t(c) * clusters.Dp;
      double square = 0.0;
      for (int d = 0; d < D; ++d) {
        const double value = (mu[d] - clusters.frame.origin[d]) * clusters.frame.shrink;
        square += value * value;
        panel[size_t(d) * width + (i - begin)] = float(-2.0 * value);
      }
      const double constant =
          square + clusters.penalty[c] * clusters.frame.shrink * clusters.frame.shrink;
      panels.constants[i] = float(std::min(constant, 1e30));
      panels.reach = std::max(panels.reach, std::sqrt(square));
      panels.level = std::max(panels.level, std::min(constant, 1e30));
    }
  }
}

void pack(Clusters& clusters) {
  const int C = clusters.C, Dp = clusters.Dp;
  auto& origin = clusters.frame.origin;
  origin.assign(Dp, 0.0);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < Dp; ++d) origin[d] += clusters.means[size_t(c) * Dp + d] / C;
  double longest = 0.0;
  for (int c = 0; c < C; ++c)
    longest = std::max(longest, distance(clusters.means.data() + size_t(c) * Dp, origin.data(), Dp));
  clusters.frame.shrink = longest > 0.0 ? std::ldexp(1.0, -std::ilogb(std::sqrt(longest)) - 1) : 1.0;
  pack_panels(clusters, nullptr, C, clusters.panels);
}

void pack_columns(Clusters& clusters) {
  const int C = clusters.C, D = clusters.D, groups = (C + LANES - 1) / LANES;
  clusters.columns.assign(size_t(groups) * LANES * D, 0.0);
  for (int c = 0; c < C; ++c)
    for (int d = 0; d < D; ++d)
      clusters.columns[(size_t(c / LANES) * D + d) * LANES + c % LANES] =
          clusters.means[size_t(c) * clusters.Dp + d];
}

double nearest_of(const Clusters& clusters, int c, const int32_t* others, int n) {
  const double* mu = clusters.means.data() + size_t(c) * clusters.Dp;
  double nearest = INFINITY;
  for (int i = 0; i < n; ++i)
    if (others[i] != c)
      nearest = std::min(nearest, distance(mu, clusters.means.data() + size_t(others[i]) * clusters.Dp,
                                           clusters.Dp));
  return std::sqrt(nearest);
}

void sweep_leaf(const Sweep& sweep, int64_t first, int count, Sums& sums, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  const int at_once = block_rows(sweep.clusters->Dp);
  for (int begin = 0; begin < count && !stopping(); begin += at_once)
    Block(sweep, first + begin, std::min(at_once, count - begin), sums, work).run();
}

// Calls visit(row number, values, place in the search's batch) for rows in batches.
template <class Visit>
void in_batches(const Rows& rows, const Clusters& clusters, int64_t first, int count, int wanted,
                int capacity, double slack, Workspace& work, Visit visit) {
  const int Dp = clusters.Dp;
  work.search.prepare(Dp, capacity);
  work.rows.resize(size_t(Search::BATCH) * Dp);
  for (int begin = 0; begin < count && !stopping(); begin += Search::BATCH) {
    const int n = std::min(Search::BATCH, count - begin);
    for (int i = 0; i < n; ++i) {
      double* y = work.rows.data() + size_t(i) * Dp;
      load_row(rows, first + begin + i, y, Dp);
      work.search.set_row(i, y, clusters.frame);
    }
    work.search.run(n, clusters.D, clusters.panels, wanted, slack);
    for (int i = 0; i < n && !stopping(); ++i)
      visit(first + begin + i, work.rows.data() + size_t(i) * Dp, i);
  }
}

void closest(const Rows& rows, const Clusters& clusters, int C_prime, int64_t first, int count,
             int32_t* K, double* distances, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  const int capacity = std::max(CAPACITY, 4 * C_prime);
  const auto visit = [&](int64_t n, const double* y, int i) {
    if (distances == nullptr && C_prime == 1 && work.search.decided(i) && work.search.count(i) == 1) {
      K[n] = work.search.candidates(i)[0].cluster;
      return;
    }
    if (work.search.decided(i))
      rank_candidates(i, y, clusters, C_prime, work);
    else
      rank_all(y, clusters, C_prime, work);
    for (int j = 0; j < C_prime; ++j) {
      const int c = work.ranking[j].cluster;
      K[n * C_prime + j] = c;
      if (distances != nullptr)
        distances[n * C_prime + j] =
            clusters.handicapped ? distance(y, clusters.means.data() + size_t(c) * clusters.Dp, clusters.Dp)
                                 : work.ranking[j].score;
    }
  };
  in_batches(rows, clusters, first, count, C_prime, capacity, 0.0, work, visit);
}

void distances_of(const Rows& rows, const Clusters& clusters, int64_t first, int count, double* out,
                  void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  const int Dp = clusters.Dp, C = clusters.C, stride = (C + LANES - 1) / LANES * LANES;
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

// log(1 + sum over clusters outside K / sum over those inside), row by row.
class Gaps {
 public:
  Gaps(const Clusters& clusters, const int32_t* K, int C_prime, double sharpness, double* out,
       Workspace& work)
      : clusters_(clusters), K_(K), C_prime_(C_prime), sharpness_(sharpness), out_(out), work_(work) {
    crowd_rows_.resize(size_t(ROWS_AT_ONCE) * clusters.Dp);
  }

  // A row few of whose clusters matter, the search having found them; others wait until
  // there are enough to look at all clusters together.
  void visit(int64_t n, const double* y, int i) {
    const int count = work_.search.count(i);
    if (work_.search.decided(i) && 4 * count < clusters_.C) {
      const Candidate* found = work_.search.candidates(i);
      outside_.clear();
      for (int j = 0; j < count; ++j)
        if (!is_kept(n, found[j].cluster)) outside_.push_back(score(y, found[j].cluster));
      finish(n, y);
      return;
    }
    std::copy_n(y, clusters_.Dp, crowd_rows_.data() + crowd_.size() * clusters_.Dp);
    crowd_.push_back(n);
    if (crowd_.size() == ROWS_AT_ONCE) finish_crowd();
  }

  void finish_crowd() {
    const int stride = (clusters_.C + LANES - 1) / LANES * LANES;
    work_.everything.resize(size_t(ROWS_AT_ONCE) * stride);
    distances_to_all<ROWS_AT_ONCE>(crowd_rows_.data(), clusters_, work_.everything.data(), stride);
    for (size_t i = 0; i < crowd_.size(); ++i) {
      double* scores = work_.everything.data() + i * stride;
      for (int c = 0; c < clusters_.C; ++c) scores[c] += clusters_.penalty[c];
      for (int j = 0; j < C_prime_; ++j) scores[K_[crowd_[i] * C_prime_ + j]] = INFINITY;
      outside_.assign(scores, scores + clusters_.C);
      finish(crowd_[i], crowd_rows_.data() + i * clusters_.Dp);
    }
    crowd_.clear();
  }

 private:
  bool is_kept(int64_t n, int c) const {
    const int32_t* K = K_ + n * C_prime_;
    return std::find(K, K + C_prime_, c) != K + C_prime_;
  }

  double score(const double* y, int c) const {
    return distance(y, clusters_.means.data() + size_t(c) * clusters_.Dp, clusters_.Dp) +
           clusters_.penalty[c];
  }

  void finish(int64_t n, const double* y) {
    inside_.clear();
    for (int j = 0; j < C_prime_; ++j) inside_.push_back(score(y, K_[n * C_prime_ + j]));
    const double best_inside = *std::min_element(inside_.begin(), inside_.end());
    const double best_outside =
        outside_.empty() ? INFINITY : *std::min_element(outside_.begin(), outside_.end());
    if (std::isinf(best_outside)) {
      out_[n] = 0.0;
      return;
    }
    const double x = sharpness_ * (best_inside - best_outside) +
                     std::log(sum(outside_, best_outside)) - std::log(sum(inside_, best_inside));
    out_[n] = x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }

  double sum(Buffer<double>& scores, double best) {
    scores.resize((scores.size() + LANES - 1) / LANES * LANES, INFINITY);
    Doubles total{};
    for (size_t j = 0; j < scores.size(); j += LANES)
      total += exponential(sharpness_ * (best - load<Doubles>(scores.data() + j)));
    return folded(total);
  }

  const Clusters& clusters_;
  const int32_t* K_;
  const int C_prime_;
  const double sharpness_;
  double* out_;
  Workspace& work_;
  Buffer<double> inside_, outside_, crowd_rows_;
  std::vector<int64_t> crowd_;
};

void gaps(const Rows& rows, const Clusters& clusters, const int32_t* K, int C_prime, double sharpness,
          int64_t first, int count, double* out, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  Gaps gaps(clusters, K, C_prime, sharpness, out, work);
  const double shrink = clusters.frame.shrink;
  const double slack = (NEGLIGIBLE + std::log(double(clusters.C))) / sharpness * shrink * shrink;
  in_batches(rows, clusters, first, count, std::min(C_prime + 1, clusters.C),
             clusters.C + 2 * SIXTEEN, slack, work,
             [&](int64_t n, const double* y, int i) { gaps.visit(n, y, i); });
  gaps.finish_crowd();
}

}  // namespace

extern const Path path;
const Path path = {
    CPRIME_NAME,
    [] { return std::shared_ptr<void>(std::make_shared<Workspace>()); },
    pack,
    pack_panels,
    pack_columns,
    nearest_of,
    sweep_leaf,
    closest,
    gaps,
    distances_of,
    trial_losses,
    accept_trial,
    multiply_adds,
};

}  // namespace cprime::CPRIME_PATH
