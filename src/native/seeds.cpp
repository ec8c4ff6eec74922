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

SeedDraw::SeedDraw(const Rows& rows, const int64_t* line, const double* weights,
                   ForPositions for_positions)
    : n_(rows.n),
      for_positions_(std::move(for_positions)),
      nearest_(size_t(rows.n), INFINITY),
      masses_(size_t(rows.n)),
      cumulated_(size_t(rows.n)),
      owner_(size_t(rows.n), 0) {
  job_.rows = rows;
  job_.line = line;
  job_.weights = weights;
  job_.nearest = nearest_.data();
  job_.owner = owner_.data();
}

void SeedDraw::begin(int64_t position) {
  const int64_t row = job_.line[position];
  isa().set_trials(job_, &row, 1, nullptr, 0);
  accept(0, row);
}

void SeedDraw::add(const double* points, int n_trials) {
  cumulate();
  tried_.resize(size_t(n_trials));
  for (int t = 0; t < n_trials; ++t) tried_[t] = job_.line[drawn(points[t])];
  const int n_seeds = int(chosen_.size());
  isa().set_trials(job_, tried_.data(), n_trials, seeds_.data(), n_seeds);
  evaluations_ += int64_t(n_seeds) * n_trials;
  const int best = n_trials == 1 ? 0 : best_trial();
  accept(best, tried_[best]);
}

// If every row of some weight is a seed already, the rest can only repeat them.
void SeedDraw::cumulate() {
  double sum = 0.0;
  for (int64_t n = 0; n < n_; ++n) {
    masses_[n] = job_.weights[n] * nearest_[n];
    cumulated_[n] = sum += masses_[n];
  }
  if (sum > 0.0) return;
  for (int64_t n = 0; n < n_; ++n) {
    masses_[n] = job_.weights[n];
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
  const size_t n_trials = tried_.size(), n_parts = size_t((n_ + POSITIONS - 1) / POSITIONS);
  parts_.resize(n_parts * n_trials);
  std::atomic<int64_t> evaluations{0};
  for_positions_(work_of_trials(n_, job_.rows.D, int(n_trials)), [&](int64_t first, int count) {
    double* losses = parts_.data() + size_t(first / POSITIONS) * n_trials;
    evaluations += isa().trial_losses(job_, first, count, losses);
  });
  evaluations_ += evaluations;
  std::vector<double> losses(n_trials, 0.0);
  for (size_t i = 0; i < n_parts; ++i)
    for (size_t t = 0; t < n_trials; ++t) losses[t] += parts_[i * n_trials + t];
  const double limit = *std::min_element(losses.begin(), losses.end()) * (1.0 + SAME_LOSS);
  const auto first = std::find_if(losses.begin(), losses.end(), [&](double l) { return l <= limit; });
  return int(first - losses.begin());
}

void SeedDraw::accept(int trial, int64_t row) {
  const int seed = int(chosen_.size());
  std::atomic<int64_t> evaluations{0};
  for_positions_(work_of_trials(n_, job_.rows.D, 1), [&](int64_t first, int count) {
    evaluations += isa().accept_trial(job_, trial, seed, first, count);
  });
  evaluations_ += evaluations;
  chosen_.push_back(row);
  const double* mean = job_.trials.mean(trial);
  seeds_.insert(seeds_.end(), mean, mean + job_.trials.Dp);
}

}  // namespace cprime
