// How much closer would rows come to their nearest seed, if these were seeds too?
#include "trials.hpp"

#include "exact.hpp"
#include "load.hpp"
#include "isa.hpp"

namespace cprime::CPRIME_ISA {

void pack_columns(Clusters&);

void set_trials(Trials& job, const int64_t* rows, int n_trials, const double* seeds, int n_seeds) {
  Clusters& trials = job.trials;
  const int D = job.rows.D, Dp = padded(D), stride = padded(n_trials);
  trials.C = n_trials;
  trials.D = D;
  trials.Dp = Dp;
  trials.means.resize(size_t(n_trials) * Dp);
  for (int t = 0; t < n_trials; ++t) load_row(job.rows, rows[t], trials.means.data() + size_t(t) * Dp, Dp);
  pack_columns(trials);
  job.quarter_apart.assign(size_t(std::max(n_seeds, 1)) * stride, 0.0);
  for (int seed = 0; seed < n_seeds; ++seed) {
    double* quarter_apart = job.quarter_apart.data() + size_t(seed) * stride;
    distances_to_all<1>(seeds + size_t(seed) * Dp, trials, quarter_apart, stride);
    for (int t = 0; t < stride; ++t)
      quarter_apart[t] = t < n_trials ? quarter_apart[t] * (0.25 * (1.0 - 1e-9)) : INFINITY;
  }
}

// A trial at least twice as far from a row's nearest seed as the row is cannot be nearer to
// the row: such rows are not even looked at.

int64_t trial_losses(const Trials& job, int64_t first, int count, double* losses) {
  const Clusters& trials = job.trials;
  const int D = trials.D, Dp = trials.Dp, stride = padded(trials.C);
  Buffer<double> y(Dp), total(stride, 0.0);
  int64_t evaluations = 0;
  for (int64_t n = first; n < first + count; ++n) {
    const double w = job.weights[n], nearest = job.nearest[n];
    if (w == 0.0) continue;
    const double* quarter_apart = job.quarter_apart.data() + int64_t(job.owner[n]) * stride;
    bool is_loaded = false;
    for (int t = 0; t < stride; t += LANES) {
      Doubles closest = all<Doubles>(nearest);
      if (any_true(load<Doubles>(quarter_apart + t) < nearest)) {
        if (!is_loaded) load_row(job.rows, job.line[n], y.data(), Dp);
        is_loaded = true;
        const Doubles found =
            every<1, 1>(y.data(), Dp, trials.columns.data() + size_t(t) * D, D, 0).of[0];
        closest = lower(found, closest);
        evaluations += std::min(LANES, trials.C - t);
      }
      store(total.data() + t, load<Doubles>(total.data() + t) + w * closest);
    }
  }
  std::copy_n(total.data(), trials.C, losses);
  return evaluations;
}

int64_t accept_trial(const Trials& job, int trial, int seed, int64_t first, int count) {
  const Clusters& trials = job.trials;
  const int Dp = trials.Dp, stride = padded(trials.C);
  Buffer<double> y(Dp);
  int64_t evaluations = 0;
  for (int64_t n = first; n < first + count; ++n) {
    if (job.quarter_apart[size_t(job.owner[n]) * stride + trial] >= job.nearest[n]) continue;
    load_row(job.rows, job.line[n], y.data(), Dp);
    ++evaluations;
    const double found = distance(y.data(), trials.mean(trial), Dp);
    if (found < job.nearest[n]) {
      job.nearest[n] = found;
      job.owner[n] = seed;
    }
  }
  return evaluations;
}

}  // namespace cprime::CPRIME_ISA
