#include "lloyd.hpp"

#include <chrono>
#include <cmath>

#include "isa.hpp"

// Every formula has the operations of its namesake in Python, in their order: em.py,
// models/isotropic.py and convergence.py say what it is for.

namespace cprime {
namespace {

constexpr double PI = 3.14159265358979323846;
constexpr double KNOWN_SHARE = 1.0 / (1 << 20);
constexpr double ROUNDING = 2.0 * 2.220446049250313e-16;

// The sum of a table, row by row.
template <class Value>
double sum_in_order(int C, int D, Value value) {
  double total = 0.0;
  for (int c = 0; c < C; ++c) {
    double row = value(c, 0);
    for (int d = 1; d < D; ++d) row += value(c, d);
    total += row;
  }
  return total;
}

double remaining(double scatter, double taken) {
  const double left = scatter - taken, least = KNOWN_SHARE * scatter;
  return least > left ? least : left;
}

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> seconds = now - last_;
    last_ = now;
    return seconds.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

Lloyd::Lloyd(const Sweep& sweep, const LloydRules& rules, int C, const double* largest, void* scratch)
    : sweep_(sweep),
      rules_(rules),
      C_(C),
      D_(sweep.rows.D),
      Dp_(padded(sweep.rows.D)),
      largest_(largest),
      scratch_(scratch),
      before_(size_t(sweep.rows.n)),
      after_(size_t(sweep.rows.n)),
      next_(size_t(C) * sweep.rows.D) {
  sweep_.C_prime = 1;
  sweep_.clusters = &clusters_;
  clusters_.C = C_;
  clusters_.D = D_;
  clusters_.Dp = Dp_;
  clusters_.means.assign(size_t(C_) * Dp_, 0.0);
  clusters_.penalty.assign(size_t(padded(C_)), INFINITY);
  std::fill_n(clusters_.penalty.begin(), C_, 0.0);
}

void Lloyd::run(LloydRun& run, const std::function<void()>& check) {
  Stopwatch clock;
  std::copy_n(run.seeds, size_t(C_) * D_, run.means);
  if (!sweep(run.means, 1.0, nullptr, 1.0)) return;
  double variance = variance_of(slots_[0].scatter);
  if (rules_.variance_init > 0.0 && rules_.variance == 0.0)
    variance = std::max(rules_.variance_init, rules_.floor);
  double F = free_energy(slots_[0].scatter, variance);
  const auto note = [&](double expected, int64_t evaluations, int64_t changed) {
    run.steps.push_back({F, expected, variance, clock.lap(), double(evaluations), double(changed)});
    std::copy_n(after_.data(), after_.size(), run.labels);
    before_.swap(after_);
  };
  const auto hand_back = [&] { run.end = LloydEnd::HANDED_BACK; };
  if (!std::isfinite(F)) return hand_back();
  note(-INFINITY, 0, 0);
  double expected_before = -INFINITY;
  for (int iteration = 1; iteration <= rules_.max_iter; ++iteration) {
    check();
    // The sweep about the seeds is the first E-step: K does not depend on the variance.
    if (iteration == 1) {
      before_.swap(after_);
    } else if (!sweep(run.means, variance, before_.data(), rules_.reluctance)) {
      return;
    }
    const Sums& sums = slots_[0];
    if (has_empty()) return hand_back();
    const double expected = sums.free_energy / sums.weight;
    taken_ = moved_ = 0.0;
    if (rules_.by_gain || !is_fixed(run.means)) {
      maximize(run.means);
      variance = variance_of(remaining(sums.scatter, taken_));
    }
    F = free_energy(remaining(sums.scatter, taken_), variance);
    if (!std::isfinite(F)) return hand_back();
    run.least = rules_.by_gain ? expected - expected_before : moved_;
    expected_before = expected;
    if (rules_.by_gain ? std::abs(run.least) < rules_.within : moved_ <= rules_.within)
      run.end = LloydEnd::WITHIN;
    if (!rules_.by_gain && sums.changed == 0) run.end = LloydEnd::STRICT;
    note(expected, sums.evaluations, sums.changed);
    if (run.end != LloydEnd::UNFINISHED) break;
  }
  check();
  finish(run);
}

void Lloyd::finish(LloydRun& run) {
  for (size_t i = 0; i < size_t(C_) * D_; ++i)
    run.centers[i] = rules_.as_float ? double(float(run.means[i])) : run.means[i];
  const LloydEnd end = run.end;
  run.end = LloydEnd::UNFINISHED;
  if (!sweep(run.centers, run.steps.back().variance, before_.data(), rules_.reluctance)) return;
  const Sums& sums = slots_[0];
  run.variance = variance_of(sums.scatter);
  run.free_energy = free_energy(sums.scatter, run.variance);
  run.end = !std::isfinite(run.free_energy)   ? LloydEnd::HANDED_BACK
            : end == LloydEnd::UNFINISHED ? LloydEnd::MAX_ITER
                                          : end;
  run.scatter = sums.scatter;
  run.expected_sum = sums.free_energy;
  run.weight = sums.weight;
  run.evaluations = sums.evaluations;
  run.changed = sums.changed;
  std::copy_n(after_.data(), after_.size(), run.labels);
  std::copy_n(sums.counts.data(), size_t(C_), run.counts);
  for (int c = 0; c < C_; ++c)
    std::copy_n(sums.shifts.data() + size_t(c) * Dp_, size_t(D_), run.shifts + size_t(c) * D_);
}

// Sweeps all rows; sums are in the first slot. Returns whether it was not interrupted.
bool Lloyd::sweep(const double* means, double variance, const int32_t* before, double reluctance) {
  for (int c = 0; c < C_; ++c)
    std::copy_n(means + size_t(c) * D_, size_t(D_), clusters_.means.data() + size_t(c) * Dp_);
  isa().pack(clusters_);
  const double whitening = 1.0 / std::sqrt(variance);
  sweep_.sharpness = 0.5 * whitening * whitening;
  sweep_.highest_bias = log_bias(variance);
  sweep_.reluctance = reluctance;
  sweep_.before = before;
  sweep_.continued = before != nullptr;
  sweep_.after = after_.data();
  const int64_t n = sweep_.rows.n, n_leaves = (n + rules_.leaf_rows - 1) / rules_.leaf_rows;
  size_t depth = 0;
  const auto add_last = [&] {
    --depth;
    slots_[depth - 1].take(slots_[depth], Dp_, 0);
  };
  for (int64_t leaf = 0; leaf < n_leaves; ++leaf) {
    const int64_t first = leaf * rules_.leaf_rows;
    Sums& sums = slot(depth++);
    isa().sweep_leaf(sweep_, first, int(std::min<int64_t>(rules_.leaf_rows, n - first)), sums, scratch_);
    if (stopping()) return false;
    // As many additions as siblings are complete: the tree of LeafSum.
    for (int64_t complete = leaf + 1; complete % 2 == 0; complete /= 2) add_last();
  }
  while (depth > 1) add_last();
  return true;
}

// Returns empty sums.
Sums& Lloyd::slot(size_t i) {
  if (i == slots_.size()) slots_.emplace_back();
  Sums& sums = slots_[i];
  sums.prepare(C_, Dp_, 0);
  sums.scatter = sums.quantization_error = sums.entropy = sums.free_energy = sums.weight = 0.0;
  sums.evaluations = sums.changed = 0;
  return sums;
}

double Lloyd::variance_of(double scatter) const {
  if (rules_.variance > 0.0) return rules_.variance;
  const double variance = scatter / (D_ * slots_[0].weight);
  return rules_.floor > variance ? rules_.floor : variance;
}

double Lloyd::log_bias(double variance) const {
  return -0.5 * D_ * std::log(2.0 * PI * variance) - std::log(double(C_));
}

double Lloyd::free_energy(double scatter, double variance) const {
  const double energy = 0.5 * scatter / variance;
  return log_bias(variance) - energy / slots_[0].weight;
}

bool Lloyd::has_empty() const {
  const double* counts = slots_[0].counts.data();
  return std::any_of(counts, counts + C_, [](double count) { return count == 0.0; });
}

bool Lloyd::is_fixed(const double* means) const {
  const Sums& sums = slots_[0];
  bool fixed = true;
  for (int c = 0; c < C_ && fixed; ++c) {
    const double spread = std::sqrt(sums.scatter / sums.counts[c]);
    for (int d = 0; d < D_; ++d) {
      const double step = std::abs(sums.shifts[size_t(c) * Dp_ + d] / sums.counts[c]);
      fixed = fixed && !(step > ROUNDING * (std::abs(means[size_t(c) * D_ + d]) + spread)) &&
              step <= ROUNDING * largest_[d];
    }
  }
  return fixed;
}

void Lloyd::maximize(double* means) {
  const Sums& sums = slots_[0];
  const auto shift = [&](int c, int d) { return sums.shifts[size_t(c) * Dp_ + d]; };
  const auto step = [&](int c, int d) { return next_[size_t(c) * D_ + d] - means[size_t(c) * D_ + d]; };
  for (int c = 0; c < C_; ++c)
    for (int d = 0; d < D_; ++d)
      next_[size_t(c) * D_ + d] = means[size_t(c) * D_ + d] + shift(c, d) / sums.counts[c];
  taken_ = sum_in_order(C_, D_, [&](int c, int d) {
    return step(c, d) * (2.0 * shift(c, d) - sums.counts[c] * step(c, d));
  });
  moved_ = sum_in_order(C_, D_, [&](int c, int d) { return step(c, d) * step(c, d); });
  std::copy(next_.begin(), next_.end(), means);
}

}  // namespace cprime
