// How much closer would rows come to their nearest seed, if these were seeds too?
#include "trials.hpp"

#include "load.hpp"
#include "isa.hpp"
#include "ranking.hpp"

namespace cprime::CPRIME_ISA {

void pack(Clusters&);

namespace {

constexpr int AHEAD = 6;      // rows between asking for one and looking at it
constexpr int FEATURES = 16;  // up to so many features float64 is as fast as scores are
// So are few trials, of so many values together.
constexpr int FEW_TRIALS = LANES, FEW_VALUES = 512;

bool are_few(int n_trials, int D) { return n_trials <= FEW_TRIALS && n_trials * D <= FEW_VALUES; }

// Calls use(function that gives row number n), wherever rows lie.
template <class Use>
void with_rows(const Rows& rows, Workspace& work, Use use) {
  if (lie_in_place(rows)) {
    with_rows_in_place(rows, use);
    return;
  }
  const int Dp = padded(rows.D);
  work.rows.resize(size_t(Dp));
  double* y = work.rows.data();
  use([&rows, y, Dp](int64_t n) {
    load_row(rows, n, y, Dp);
    return LoadedRow{y};
  });
}

}  // namespace

void set_trials(Trials& job, const int64_t* rows, int n_trials, const double* seeds, int n_seeds) {
  Clusters& trials = job.trials;
  const int D = job.rows.D, Dp = padded(D);
  trials.C = n_trials;
  trials.D = D;
  trials.Dp = Dp;
  trials.means.resize(size_t(n_trials) * Dp);
  trials.penalty.assign(size_t(padded(n_trials)), 0.0);
  for (int t = 0; t < n_trials; ++t) load_row(job.rows, rows[t], trials.means.data() + size_t(t) * Dp, Dp);
  if (D <= FEATURES || are_few(n_trials, D))
    trials.panels.width = (n_trials + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
  else
    pack(trials);
  job.reach.assign(size_t(std::max(n_seeds, 1)), 0.0);
  for (int seed = 0; seed < n_seeds; ++seed) {
    double nearest = INFINITY;
    for (int t = 0; t < n_trials; ++t)
      nearest = std::min(nearest, distance(seeds + size_t(seed) * Dp, trials.mean(t), Dp));
    job.reach[size_t(seed)] = nearest * (0.25 * (1.0 - 1e-9));
  }
}

namespace {

// Trials at least twice as far from a row's nearest seed as the row is cannot be nearer to the
// row: such rows are not even looked at.
bool may_be_near(const Trials& job, int64_t n) {
  return job.reach[size_t(job.owner[n])] < job.nearest[n];
}

// Few features: all distances at once, of eight rows side by side.
class ByDistance {
 public:
  ByDistance(const Trials& job) : job_(job), total_(size_t(job.trials.C) * LANES, 0.0) {}

  // Looks at n <= 8 rows from `first`.
  template <class RowOf>
  void look(int64_t first, int n, RowOf row_of) {
    const Clusters& trials = job_.trials;
    alignas(64) double weights[LANES] = {}, nearest[LANES] = {};
    int looking = 0;
    for (int r = 0; r < n; ++r) {
      weights[r] = job_.weight(first + r);
      nearest[r] = job_.nearest[first + r];
      looking += may_be_near(job_, first + r);
    }
    weight_ = load<Doubles>(weights);
    nearest_ = load<Doubles>(nearest);
    evaluations_ += int64_t(looking) * trials.C;
    if (looking == 0) {
      std::fill_n(job_.near + first * job_.words(), n * job_.words(), uint16_t(0));
      for (int t = 0; t < trials.C; ++t) add(t, nearest_);
      return;
    }
    for (int r = 0; r < n; ++r) {
      const auto y = row_of(first + r);
      for (int d = 0; d < trials.D; ++d) columns_[d * LANES + r] = double(y.values[d]);
    }
    for (int word = 0; word < job_.words(); ++word) {
      alignas(64) int64_t bits[LANES];
      store(bits, look_at(word * SIXTEEN));
      for (int r = 0; r < n; ++r) job_.near[(first + r) * job_.words() + word] = uint16_t(bits[r]);
    }
  }

  void losses(double* of_trials) const {
    for (int t = 0; t < job_.trials.C; ++t)
      of_trials[t] = folded(load<Doubles>(total_.data() + size_t(t) * LANES));
  }

  int64_t evaluations() const { return evaluations_; }

 private:
  // Looks at up to sixteen trials from t on; returns for every row a bit for each that is nearer.
  Longs look_at(int t) {
    const Clusters& trials = job_.trials;
    Longs bits{};
    for (int64_t bit = 1; bit < 1 << SIXTEEN && t < trials.C; bit *= 2, ++t) {
      const Doubles found = every<1, 1>(trials.mean(t), trials.Dp, columns_, trials.D, 0).of[0];
      const Longs nearer = found < nearest_;
      bits |= nearer & bit;
      add(t, nearer ? found : nearest_);
    }
    return bits;
  }

  // Rows of no weight may have no finite distance yet.
  [[gnu::always_inline]] void add(int t, const Doubles& closest) {
    double* sum = total_.data() + size_t(t) * LANES;
    store(sum, load<Doubles>(sum) + (weight_ == 0.0 ? Doubles{} : weight_ * closest));
  }

  const Trials& job_;
  Buffer<double> total_;  // loss of every trial, in lanes
  alignas(64) double columns_[FEATURES * LANES] = {};  // of rows, feature by feature
  Doubles weight_, nearest_;
  int64_t evaluations_ = 0;
};

// Few trials: the distance of every row to each of them.
int64_t try_few(const Trials& job, int64_t first, int count, double* losses, Workspace& work) {
  const Clusters& trials = job.trials;
  Doubles total{};
  int64_t evaluations = 0;
  with_rows(job.rows, work, [&](auto row_of) {
    for (int64_t n = first; n < first + count; ++n) {
      const double w = job.weight(n), nearest = job.nearest[n];
      alignas(64) double closest[LANES];
      std::fill_n(closest, LANES, nearest);
      unsigned near = 0;
      if (may_be_near(job, n)) {
        const auto y = row_of(n);
        for (int t = 0; t < trials.C; ++t) {
          const double found = distance_of(y, trials.mean(t), trials.Dp);
          near |= unsigned(found < nearest) << t;
          closest[t] = std::min(nearest, found);
        }
        evaluations += trials.C;
      }
      job.near[n] = uint16_t(near);
      // Rows of no weight may have no finite distance yet.
      if (w > 0.0) total += w * load<Doubles>(closest);
    }
  });
  if (losses != nullptr)
    for (int t = 0; t < trials.C; ++t) losses[t] = total[t];
  return evaluations;
}

// Many features: scores tell which trials may be nearer.
int64_t find_near(const Trials& job, int64_t first, int count, Workspace& work) {
  Search& search = work.search;
  const Clusters& trials = job.trials;
  const int words = job.words();
  const double shrink = trials.frame.shrink;
  int64_t queue[Search::BATCH], evaluations = 0;
  int queued = 0;
  auto& to_look = work.to_look;
  to_look.clear();
  for (int r = 0; r < count; ++r) {
    const int64_t n = first + r;
    if (may_be_near(job, n))
      to_look.push_back(r);
    else
      std::fill_n(job.near + n * words, words, uint16_t(0));
  }
  const bool in_place = lie_in_place(job.rows);
  search.prepare(trials.Dp, 0);
  with_rows(job.rows, work, [&](auto row_of) {
    const auto score = [&] {
      search.face(queued, trials.D, trials.panels);
      for (int tile = 0; tile < queued; tile += TILE) {
        const Scores& scores = search.scores(tile, trials.D, trials.panels);
        for (int i = tile; i < queued && i < tile + TILE; ++i) {
          const double nearest = job.nearest[queue[i]] * shrink * shrink;
          const float limit = search.is_scored(i) ? search.highest_within(i, nearest) : FLT_MAX;
          for (int w = 0; w < words; ++w)
            job.near[queue[i] * words + w] =
                uint16_t(at_most(scores.of_clusters[i - tile] + w * SIXTEEN, limit));
        }
      }
      evaluations += int64_t(queued) * trials.C;
      queued = 0;
    };
    for (size_t i = 0; i < to_look.size(); ++i) {
      // They lie anywhere: the processor cannot guess which comes next.
      if (in_place && i + AHEAD < to_look.size()) prefetch(row_of(first + to_look[i + AHEAD]));
      const int64_t n = first + to_look[i];
      search.set_row(queued, row_of(n), trials.frame);
      queue[queued++] = n;
      if (queued == Search::BATCH) score();
    }
    score();
  });
  return evaluations;
}

void add_losses(const Trials& job, int64_t first, int count, double* losses, Workspace& work) {
  const Clusters& trials = job.trials;
  const int stride = job.words() * SIXTEEN;
  Buffer<double> total(size_t(stride), 0.0), closest(size_t(stride), 0.0);
  with_rows(job.rows, work, [&](auto row_of) {
    for (int64_t n = first; n < first + count; ++n) {
      const double w = job.weight(n), nearest = job.nearest[n];
      if (w == 0.0) continue;
      const uint16_t* near = job.near + n * job.words();
      std::fill_n(closest.begin(), stride, nearest);
      for (int t = 0; t < stride; t += SIXTEEN)
        for (uint32_t left = near[t / SIXTEEN]; left != 0; left &= left - 1) {
          const int trial = t + __builtin_ctz(left);
          closest[size_t(trial)] =
              std::min(nearest, distance_of(row_of(n), trials.mean(trial), trials.Dp));
        }
      for (int t = 0; t < stride; t += LANES)
        store(total.data() + t, load<Doubles>(total.data() + t) + w * load<Doubles>(closest.data() + t));
    }
  });
  std::copy_n(total.data(), trials.C, losses);
}

}  // namespace

int64_t try_trials(const Trials& job, int64_t first, int count, double* losses, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  if (job.trials.D <= FEATURES) {
    ByDistance trials(job);
    with_rows(job.rows, work, [&](auto row_of) {
      for (int begin = 0; begin < count; begin += LANES)
        trials.look(first + begin, std::min(LANES, count - begin), row_of);
    });
    if (losses != nullptr) trials.losses(losses);
    return trials.evaluations();
  }
  if (are_few(job.trials.C, job.trials.D)) return try_few(job, first, count, losses, work);
  const int64_t evaluations = find_near(job, first, count, work);
  if (losses != nullptr) add_losses(job, first, count, losses, work);
  return evaluations;
}

void accept_trial(const Trials& job, int trial, int seed, int64_t first, int count, void* scratch) {
  Workspace& work = *static_cast<Workspace*>(scratch);
  const Clusters& trials = job.trials;
  const uint16_t* near = job.near + trial / SIXTEEN;
  with_rows(job.rows, work, [&](auto row_of) {
    for (int64_t n = first; n < first + count; ++n) {
      if ((near[n * job.words()] >> trial % SIXTEEN & 1) == 0) continue;
      const double found = distance_of(row_of(n), trials.mean(trial), trials.Dp);
      if (found < job.nearest[n]) {
        job.nearest[n] = found;
        job.owner[n] = seed;
      }
    }
  });
}

void list_followers(const Clusters& rows, const double* nearest, int64_t first, int count,
                    std::vector<Follower>& found, void* scratch) {
  Search& search = static_cast<Workspace*>(scratch)->search;
  const double shrink = rows.frame.shrink;
  search.prepare(rows.Dp, 0);
  for (int64_t begin = first; begin < first + count && !stopping(); begin += Search::BATCH) {
    const int n = int(std::min<int64_t>(first + count - begin, Search::BATCH));
    double within[Search::BATCH];
    for (int i = 0; i < n; ++i) {
      search.set_row(i, LoadedRow{rows.mean(int(begin) + i)}, rows.frame);
      within[i] = nearest[begin + i] * shrink * shrink;
    }
    search.visit_within(n, rows.D, rows.panels, int(begin), within, [&](int i, int other) {
      const int row = int(begin) + i;
      if (other < row) return;
      const double squared = distance(rows.mean(row), rows.mean(other), rows.Dp);
      if (squared < nearest[row]) found.push_back({row, other, squared});
      if (squared < nearest[other] && other != row) found.push_back({other, row, squared});
    });
  }
}

}  // namespace cprime::CPRIME_ISA
