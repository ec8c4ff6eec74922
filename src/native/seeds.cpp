#include "seeds.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "isa.hpp"

namespace cprime {
namespace {

// Trials whose losses differ by no more than this share are equally good: the first of
// them is taken, so that the order of rows, which shows in the last bits, has no say.
constexpr double SAME_LOSS = 1e-12;

}  // namespace

SeedDraw::SeedDraw(const Rows& rows, const int64_t* line, const double* weights, int64_t weight_stride,
                   ForRows for_rows)
    : n_(rows.n),
      line_(line),
      for_rows_(std::move(for_rows)),
      nearest_(size_t(rows.n), INFINITY),
      masses_(size_t(rows.n)),
      cumulated_(size_t(rows.n)),
      owner_(size_t(rows.n), 0) {
  job_.rows = rows;
  job_.weights = weights;
  job_.weight_stride = weight_stride;
  job_.nearest = nearest_.data();
  job_.owner = owner_.data();
}

void SeedDraw::begin(int64_t position) {
  tried_ = {line_[position]};
  set_trials();
  accept(0);
}

void SeedDraw::add(const double* points, int n_trials) {
  cumulate();
  tried_.resize(size_t(n_trials));
  for (int t = 0; t < n_trials; ++t) tried_[size_t(t)] = line_[drawn(points[t])];
  set_trials();
  accept(n_trials == 1 ? 0 : best_trial());
}

void SeedDraw::set_trials() {
  const int n_seeds = int(chosen_.size()), n_trials = int(tried_.size());
  isa().set_trials(job_, tried_.data(), n_trials, seeds_.data(), n_seeds);
  evaluations_ += int64_t(n_seeds) * n_trials;
  near_.resize(size_t(n_) * size_t(job_.words()));
  job_.near = near_.data();
}

// If every row of some weight is a seed already, the rest can only repeat them.
void SeedDraw::cumulate() {
  double sum = 0.0;
  for (int64_t n = 0; n < n_; ++n) {
    masses_[n] = job_.weight(line_[n]) * nearest_[line_[n]];
    cumulated_[n] = sum += masses_[n];
  }
  if (sum > 0.0) return;
  for (int64_t n = 0; n < n_; ++n) {
    masses_[n] = job_.weight(line_[n]);
    cumulated_[n] = sum += masses_[n];
  }
}

int64_t SeedDraw::drawn(double point) const {
  const auto found = std::upper_bound(cumulated_.begin(), cumulated_.end(), point * cumulated_.back());
  int64_t position = found - cumulated_.begin();
  if (position < n_) return position;
  // A point so close to 1 that rounding put it at the very end.
  do --position;
  while (position > 0 && masses_[position] == 0.0);
  return position;
}

int SeedDraw::best_trial() {
  const size_t n_trials = tried_.size(), n_parts = size_t((n_ + SEED_ROWS - 1) / SEED_ROWS);
  parts_.resize(n_parts * n_trials);
  std::atomic<int64_t> evaluations{0};
  for_rows_(work_of_trials(n_, job_.rows.D, int(n_trials)), [&](int64_t first, int count, void* scratch) {
    double* losses = parts_.data() + size_t(first / SEED_ROWS) * n_trials;
    evaluations += isa().try_trials(job_, first, count, losses, scratch);
  });
  evaluations_ += evaluations;
  std::vector<double> losses(n_trials, 0.0);
  for (size_t i = 0; i < n_parts; ++i)
    for (size_t t = 0; t < n_trials; ++t) losses[t] += parts_[i * n_trials + t];
  const double limit = *std::min_element(losses.begin(), losses.end()) * (1.0 + SAME_LOSS);
  const auto first = std::find_if(losses.begin(), losses.end(), [&](double l) { return l <= limit; });
  return int(first - losses.begin());
}

// Where there is one trial, rows look at it here; of several they have been told already.
void SeedDraw::accept(int trial) {
  const int seed = int(chosen_.size());
  const bool only = tried_.size() == 1;
  std::atomic<int64_t> evaluations{0};
  for_rows_(only ? work_of_trials(n_, job_.rows.D, 1) : double(n_), [&](int64_t first, int count, void* scratch) {
    if (only) evaluations += isa().try_trials(job_, first, count, nullptr, scratch);
    isa().accept_trial(job_, trial, seed, first, count, scratch);
  });
  evaluations_ += evaluations;
  chosen_.push_back(tried_[size_t(trial)]);
  const double* mean = job_.trials.mean(trial);
  seeds_.insert(seeds_.end(), mean, mean + job_.trials.Dp);
}

}  // namespace cprime
