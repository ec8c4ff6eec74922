#include "hint_store.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace cprime {
namespace {

// Movers are a small share of all clusters, and at least one vector of them; the fast ones
// a handful of those.
int count_movers(int C) { return std::min({std::max(16, C / 16 / 16 * 16), 480, C - 1}); }
int count_fast(int C) { return std::min(8 + C / 128, count_movers(C)); }

double squared_step(const double* from, const double* to, int Dp) {
  double square = 0.0;
  for (int d = 0; d < Dp; ++d) square += (to[d] - from[d]) * (to[d] - from[d]);
  return square;
}

// A copy, or the one made last if it is the same: blocks of a sweep have one between them.
std::shared_ptr<const Buffer<double>> shared_copy(const Buffer<double>& means) {
  static std::mutex one_at_a_time;
  static std::weak_ptr<const Buffer<double>> last;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  auto copy = last.lock();
  if (copy == nullptr || *copy != means) {
    copy = std::make_shared<const Buffer<double>>(means);
    last = copy;
  }
  return copy;
}

}  // namespace

HintStore::HintStore(int64_t n, int C) : wide_(C > 65535) {
  const size_t size = size_t(n) * LISTED;
  wide_ ? wide_lists_.resize(size) : narrow_lists_.resize(size);
  nearer_.resize(size);
  rest_.assign(size_t(n), -1.0f);
  reach_.assign(size_t(n), 0.0f);
}

size_t HintStore::nbytes() const {
  return narrow_lists_.size() * sizeof(uint16_t) + wide_lists_.size() * sizeof(int32_t) +
         (nearer_.size() + rest_.size() + reach_.size() + step_.size()) * sizeof(float);
}

void HintStore::close(const Clusters& clusters) {
  means_ = shared_copy(clusters.means);
  serial_ = -serial_;
}

void HintStore::lend(const Clusters& clusters, bool known, Hints& hints) {
  hints.wide = wide_;
  hints.listed = wide_ ? static_cast<void*>(wide_lists_.data()) : static_cast<void*>(narrow_lists_.data());
  hints.nearer = nearer_.data();
  hints.rest = rest_.data();
  hints.reach = reach_.data();
  if (!known) unit_ = clusters.frame.shrink;
  hints.unit = unit_;
  if (known) measure_steps(clusters, hints);
}

void HintStore::measure_steps(const Clusters& clusters, Hints& hints) {
  const int C = clusters.C, n_movers = count_movers(C), n_fast = count_fast(C);
  step_.resize(size_t(C));
  // Up, by more than its rounding errors.
  for (int c = 0; c < C; ++c)
    step_[c] = float(std::sqrt(squared_step(means_->data() + size_t(c) * clusters.Dp, clusters.mean(c),
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
  isa().pack_some(clusters, order.data(), n_movers, hints.movers);
  hints.nearest_fast.resize(size_t(C));
  for (int c = 0; c < C; ++c) {
    const double distance = isa().nearest_of(clusters, c, order.data(), n_fast) * unit_;
    hints.nearest_fast[c] = float(std::min(distance * (1.0 - 1e-6), 1e38));
  }
}

}  // namespace cprime
