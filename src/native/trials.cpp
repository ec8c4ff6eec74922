// How much closer would rows come to their nearest seed, if these were seeds too?
#include "exact.hpp"
#include "load.hpp"
#include "path.hpp"
#include "trials.hpp"

namespace cprime::CPRIME_PATH {
namespace {

// A trial at least twice as far from a row's nearest seed as the row is cannot be nearer to
// the row: such rows are not even looked at.
bool is_out_of_reach(const double* quarter_apart, double nearest, int trial) {
  return quarter_apart[trial] >= nearest;
}

}  // namespace

int64_t trial_losses(const Trials& job, int64_t first, int count, double* losses) {
  const Clusters& trials = *job.trials;
  const int D = trials.D, Dp = trials.Dp, stride = padded(trials.C);
  Buffer<double> y(Dp), total(stride, 0.0);
  int64_t evaluations = 0;
  for (int64_t n = first; n < first + count; ++n) {
    const double w = job.weights[n * job.weight_stride], nearest = job.nearest[n];
    if (w == 0.0) continue;
    const double* quarter_apart = job.quarter_apart + int64_t(job.owner[n]) * stride;
    bool is_loaded = false;
    for (int t = 0; t < stride; t += LANES) {
      bool is_needed = false;
      for (int lane = 0; lane < LANES; ++lane)
        is_needed |= !is_out_of_reach(quarter_apart, nearest, t + lane);
      Doubles closest = all<Doubles>(nearest);
      if (is_needed) {
        if (!is_loaded) load_row(job.rows, n, y.data(), Dp);
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

int64_t accept_trial(const Trials& job, int seed, int64_t first, int count, double* nearest,
                     int32_t* owner) {
  const Clusters& trials = *job.trials;
  const int Dp = trials.Dp, stride = padded(trials.C);
  Buffer<double> y(Dp);
  int64_t evaluations = 0;
  for (int64_t n = first; n < first + count; ++n) {
    const double* quarter_apart = job.quarter_apart + int64_t(owner[n]) * stride;
    if (is_out_of_reach(quarter_apart, nearest[n], 0)) continue;
    load_row(job.rows, n, y.data(), Dp);
    ++evaluations;
    const double found = distance(y.data(), trials.means.data(), Dp);
    if (found < nearest[n]) {
      nearest[n] = found;
      owner[n] = seed;
    }
  }
  return evaluations;
}

}  // namespace cprime::CPRIME_PATH
