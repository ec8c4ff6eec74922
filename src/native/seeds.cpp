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
// Followers are found once there are so many seeds, so that few rows follow another: a seed to so many rows.
constexpr int64_t LEAST_SEEDS = 16, ROWS_OF_SEED = 256;
// What looking at a pair of rows among all pairs costs, of what it costs in a step of its own, at most.
constexpr double OF_A_STEP = 0.5;
// A loss that is less than this share of what rows lose now has too few digits left as a difference.
constexpr double LEAST_OF_TOTAL = 1e-3;

}  // namespace

SeedDraw::SeedDraw(const Rows& rows, const int64_t* line, const double* weights, int64_t weight_stride,
                   int64_t n_seeds, ForRows for_rows)
    : n_(rows.n),
      n_seeds_(n_seeds),
      line_(line),
      for_rows_(std::move(for_rows)),
      masses_(rows.n),
      nearest_(size_t(rows.n), INFINITY),
      owner_(size_t(rows.n), 0),
      seeds_before_followers_(std::max(LEAST_SEEDS, rows.n / ROWS_OF_SEED)) {
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
  if (!followers_.are_known() && followers_pay(n_trials)) find_followers();
  if (!followers_.are_known()) set_masses();
  // If every row of some weight is a seed already, the rest can only repeat them.
  if (masses_.total() == 0.0) masses_.set_all([&](int64_t n) { return job_.weight(line_[n]); });
  tried_.resize(size_t(n_trials));
  for (int t = 0; t < n_trials; ++t) tried_[size_t(t)] = line_[masses_.at(points[t])];
  if (followers_.are_known()) {
    accept_followed(best_by_followers());
    return;
  }
  set_trials();
  accept(n_trials == 1 ? 0 : best_trial());
}

bool SeedDraw::followers_pay(int n_trials) const {
  const int64_t n_chosen = int64_t(chosen_.size());
  return n_chosen == seeds_before_followers_ && double(n_seeds_ - n_chosen) * n_trials >= OF_A_STEP * double(n_);
}

void SeedDraw::find_followers() {
  seeds_before_followers_ *= 2;
  std::vector<int32_t> among;
  for (int64_t n = 0; n < n_; ++n)
    if (job_.weight(n) > 0.0 && nearest_[size_t(n)] > 0.0) among.push_back(int32_t(n));
  if (!followers_.find(job_.rows, std::move(among), nearest_.data(), for_rows_)) return;
  position_.resize(size_t(n_));
  for (int64_t i = 0; i < n_; ++i) position_[size_t(line_[i])] = i;
  set_masses();
}

void SeedDraw::set_trials() {
  const int n_seeds = int(chosen_.size()), n_trials = int(tried_.size());
  isa().set_trials(job_, tried_.data(), n_trials, seeds_.data(), n_seeds);
  evaluations_ += int64_t(n_seeds) * n_trials;
  near_.resize(size_t(n_) * size_t(job_.words()));
  job_.near = near_.data();
}

void SeedDraw::set_masses() {
  masses_.set_all([&](int64_t i) {
    const int64_t n = line_[i];
    const double w = job_.weight(n);
    // Rows of no weight may have no finite distance yet.
    return w > 0.0 ? w * nearest_[size_t(n)] : 0.0;
  });
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
  return first_of_lowest(losses);
}

// The same, where it is known which rows would follow a trial.
int SeedDraw::best_by_followers() {
  const double total = masses_.total();
  std::vector<double> losses(tried_.size(), total);
  for (size_t t = 0; t < tried_.size(); ++t)
    followers_.visit(tried_[t], [&](int32_t n, double found) {
      const double nearest = nearest_[size_t(n)];
      if (found < nearest) losses[t] -= job_.weight(n) * (nearest - found);
    });
  if (*std::min_element(losses.begin(), losses.end()) >= LEAST_OF_TOTAL * total) return first_of_lowest(losses);
  set_trials();
  return best_trial();
}

int SeedDraw::first_of_lowest(const std::vector<double>& losses) const {
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

void SeedDraw::accept_followed(int trial) {
  const int32_t seed = int32_t(chosen_.size());
  const int64_t row = tried_[size_t(trial)];
  followers_.visit(row, [&](int32_t n, double found) {
    if (found >= nearest_[size_t(n)]) return;
    nearest_[size_t(n)] = found;
    owner_[size_t(n)] = seed;
    masses_.set(position_[size_t(n)], job_.weight(n) * found);
  });
  chosen_.push_back(row);
  seeds_.resize(seeds_.size() + size_t(padded(job_.rows.D)));
  isa().load(job_.rows, row, seeds_.data() + seeds_.size() - size_t(padded(job_.rows.D)));
}

}  // namespace cprime
