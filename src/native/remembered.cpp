#include "remembered.hpp"

#include <algorithm>
#include <cmath>

namespace cprime {
namespace {

// Sums about other means: adding up all rows anew is called for before this much of the
// scatter is a difference of larger numbers, or this many sweeps have left rounding errors.
constexpr double MOST_DRIFT = 0.05;
constexpr int MOST_SWEEPS = 50;
// Above this share of rows that changed, moving them is more work than adding up all.
constexpr double MOST_CHANGED = 0.2;
// What is left of a sum after subtractions, below this share, may be rounding error.
constexpr double KNOWN_SHARE = 1.0 / (1 << 20);
constexpr double MOST_UNEVEN = 1024.0;

// Movers are a small share of all clusters, and at least one panel of them; the fast ones
// a handful of those.
int count_movers(int C) { return std::min({std::max(48, C / 16 / 48 * 48), 480, C - 1}); }
int count_fast(int C) { return std::min(8 + C / 128, count_movers(C)); }

// A row that leaves takes its weight from a sum: light rows must not drown in heavy ones.
bool are_even(const Sweep& sweep) {
  const int64_t n = sweep.weight_stride == 0 ? 1 : sweep.rows.n;
  double lightest = INFINITY, heaviest = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    const double w = sweep.weights[i * sweep.weight_stride];
    if (w > 0.0) lightest = std::min(lightest, w);
    heaviest = std::max(heaviest, w);
  }
  return heaviest <= MOST_UNEVEN * lightest;
}

double squared_step(const double* from, const double* to, int Dp) {
  double square = 0.0;
  for (int d = 0; d < Dp; ++d) square += (to[d] - from[d]) * (to[d] - from[d]);
  return square;
}

}  // namespace

Remembered::Remembered(int64_t n, int C) : wide_(C > 65535) {
  const size_t size = size_t(n) * LISTED;
  wide_ ? wide_lists_.resize(size) : narrow_lists_.resize(size);
  nearer_.resize(size);
  rest_.assign(size_t(n), -1.0f);
  reach_.assign(size_t(n), 0.0f);
}

void Remembered::close(const Clusters& clusters) {
  means_ = clusters.means;
  serial_ = -serial_;
}

// ---- bounds ---------------------------------------------------------------------------------

void Remembered::lend(const Clusters& clusters, bool known, Hints& hints) {
  hints.wide = wide_;
  hints.listed = wide_ ? static_cast<void*>(wide_lists_.data()) : static_cast<void*>(narrow_lists_.data());
  hints.nearer = nearer_.data();
  hints.rest = rest_.data();
  hints.reach = reach_.data();
  if (!known) unit_ = clusters.frame.shrink;
  hints.unit = unit_;
  if (known) measure_steps(clusters, hints);
}

void Remembered::measure_steps(const Clusters& clusters, Hints& hints) {
  const int C = clusters.C, n_movers = count_movers(C), n_fast = count_fast(C);
  step_.resize(size_t(C));
  // Up, by more than its rounding errors.
  for (int c = 0; c < C; ++c)
    step_[c] = float(std::sqrt(squared_step(means_.data() + size_t(c) * clusters.Dp, clusters.mean(c),
                                            clusters.Dp)) *
                     unit_ * (1.0 + 1e-6));
  std::vector<int32_t> order(static_cast<size_t>(C));
  for (int c = 0; c < C; ++c) order[c] = c;
  std::partial_sort(order.begin(), order.begin() + n_movers + 1, order.end(), [&](int a, int b) {
    return step_[a] > step_[b] || (step_[a] == step_[b] && a < b);
  });
  hints.step = step_.data();
  hints.step_any = step_[order[0]];
  hints.step_slow = step_[order[n_fast]];
  hints.step_others = step_[order[n_movers]];
  hints.mover_of.assign(size_t(C), -1);
  for (int i = 0; i < n_movers; ++i) hints.mover_of[order[i]] = i;
  path().pack_some(clusters, order.data(), n_movers, hints.movers);
  hints.nearest_fast.resize(size_t(C));
  for (int c = 0; c < C; ++c) {
    const double distance = path().nearest_of(clusters, c, order.data(), n_fast) * unit_;
    hints.nearest_fast[c] = float(std::min(distance * (1.0 - 1e-6), 1e38));
  }
}

// ---- sums -----------------------------------------------------------------------------------

// What the scatter about the anchors has more than that about the means.
double Remembered::gained(const Clusters& clusters) const {
  double sum = 0.0;
  for (int c = 0; c < clusters.C; ++c) {
    const double* mu = clusters.mean(c);
    const double* anchor = anchors_.data() + size_t(c) * clusters.Dp;
    const double* shift = sums_.shifts.data() + size_t(c) * clusters.Dp;
    double of_cluster = 0.0;
    for (int d = 0; d < clusters.Dp; ++d) {
      const double step = mu[d] - anchor[d];
      of_cluster += step * (2.0 * shift[d] - sums_.counts[c] * step);
    }
    sum += of_cluster;
  }
  return sum;
}

// How far the means are from the anchors, in units of scatter.
double Remembered::drift(const Clusters& clusters) const {
  double sum = 0.0;
  for (int c = 0; c < clusters.C; ++c)
    sum += sums_.counts[c] *
           squared_step(anchors_.data() + size_t(c) * clusters.Dp, clusters.mean(c), clusters.Dp);
  return sum;
}

bool Remembered::can_follow(const Clusters& clusters) {
  if (anchors_.empty() || !is_even_) return false;
  // An empty cluster may be anywhere by now: its sums, being zero, are about any point.
  for (int c = 0; c < clusters.C; ++c)
    if (sums_.members[c] == 0)
      std::copy_n(clusters.mean(c), clusters.Dp, anchors_.data() + size_t(c) * clusters.Dp);
  return age_ < MOST_SWEEPS && double(sums_.changed) <= MOST_CHANGED * double(reach_.size()) &&
         drift(clusters) <= MOST_DRIFT * sums_.scatter;
}

bool Remembered::follow(const std::vector<Tree::Node>& changes, const Clusters& clusters) {
  sums_.changed = sums_.evaluations = 0;
  std::fill(sums_.moved.begin(), sums_.moved.end(), 0.0);
  for (const auto& node : changes) sums_.add(*node.sums, clusters.Dp, 0);
  // Of a cluster that all rows have left, no rounding error may stay behind.
  for (int c = 0; c < clusters.C; ++c)
    if (sums_.members[c] == 0) {
      sums_.counts[c] = sums_.spread[c] = 0.0;
      std::fill_n(sums_.shifts.begin() + size_t(c) * clusters.Dp, clusters.Dp, 0.0);
    }
  ++age_;
  return !is_coarse(clusters);
}

// Whether rows that moved were so far out, or means come so close to their rows, that what
// is left of the sums is mostly rounding.
bool Remembered::is_coarse(const Clusters& clusters) const {
  if (!(sums_.scatter - gained(clusters) >= KNOWN_SHARE * std::abs(sums_.scatter))) return true;
  return std::any_of(sums_.met.begin(), sums_.met.end(), [&](int c) {
    return sums_.members[c] > 0 && !(sums_.spread[c] >= KNOWN_SHARE * sums_.moved[c]);
  });
}

Tree::Node Remembered::about_means(const Sweep& sweep, const Tree::Node& last) const {
  const Clusters& clusters = *sweep.clusters;
  auto sums = std::make_unique<Sums>(sums_);
  sums->scatter = sums_.scatter - gained(clusters);
  for (int c = 0; c < clusters.C; ++c)
    for (int d = 0; d < clusters.Dp; ++d) {
      const size_t i = size_t(c) * clusters.Dp + d;
      sums->shifts[i] -= sums_.counts[c] * (clusters.means[i] - anchors_[i]);
    }
  sums->quantization_error = sums->scatter;
  sums->free_energy = sums->weight * sweep.highest_bias - sweep.sharpness * sums->scatter;
  // One tree over all leaves, however few of them have rows that moved.
  int level = 0;
  while ((int64_t(1) << level) < last.start + (int64_t(1) << last.level)) ++level;
  return {0, level, std::move(sums)};
}

void Remembered::start_over(const std::vector<Tree::Node>& nodes, const Sweep& sweep) {
  const Clusters& clusters = *sweep.clusters;
  sums_ = Sums();
  sums_.prepare(clusters.C, clusters.Dp, 0);
  for (const auto& node : nodes) sums_.add(*node.sums, clusters.Dp, 0);
  anchors_ = clusters.means;
  age_ = 0;
  is_even_ = are_even(sweep);
}

}  // namespace cprime
