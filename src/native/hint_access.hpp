// What rows remember of clusters they do not keep: reading it, and writing it.
#pragma once

#include "block.hpp"

namespace cprime::CPRIME_ISA {

// Bounds kept in float32 lose this much when rounded to the safe side.
constexpr double SAFE = 1.0 / (1 << 22);
constexpr float TINY = 1e-30f;  // below this, in units of the hints, squares may underflow

inline float rounded_down(double distance) {
  return float(std::min(distance * (1.0 - SAFE), double(FLT_MAX)));
}

inline float rounded_up(double distance) { return float(distance * (1.0 + SAFE)); }

// A bound on a distance, when one end may have moved by `step`.
inline float shrunk(float bound, float step) {
  const float left = bound - step;
  return left > 0.0f ? left * float(1.0 - SAFE) : 0.0f;
}

inline float lowest_of(const float* numbers, int n) {
  Sixteen bound = all<Sixteen>(INFINITY);
  for (int i = 0; i < n; i += SIXTEEN) bound = lower(bound, load<Sixteen>(numbers + i));
  return lowest(bound);
}

class HintAccess : public Block {
 public:
  using Block::Block;

 protected:
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
    EightFloats left = load<EightFloats>(nearer);
    with_list(n, [&](const auto* ids) { left -= look_up(hints.step, ids); });
    left = left > 0.0f ? left * float(1.0 - SAFE) : EightFloats{};
    store(nearer, left);
    return at_most(left, reach + TINY);
  }

  // How near may clusters be that are neither kept nor listed? The row is at most `distance`
  // from `cluster`.
  float rest_bound(int64_t n, int cluster, float distance) const {
    const Hints& hints = *sweep_.hints;
    const float by_all = shrunk(hints.rest[n], hints.step_any);
    // Fast ones are at least as far from the row as from its cluster, less the row's distance.
    const float by_slow = std::min(shrunk(hints.rest[n], hints.step_slow),
                                   shrunk(hints.nearest_fast[cluster], distance));
    return std::max(by_all, by_slow);
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

  // The same from candidates sorted by score, with the bounds their scores allow. All other
  // clusters are at least `beyond` away.
  void note_candidates(int r, int i, float beyond) {
    Hints& hints = *sweep_.hints;
    const Candidate* found = work_.search.candidates(i);
    const int count = work_.search.count(i);
    const double unit = hints.unit / clusters_.frame.shrink;
    const int64_t n = first_ + r;
    // Of the farthest that will be listed, or bound the rest, or farther.
    const int last = std::min(count - 1, LISTED + C_prime_);
    const double error = work_.search.error(i, found[last].score);
    int j = 0;
    for (int k = 0; k < count; ++k) {
      if (is_kept(r, found[k].cluster)) continue;
      const float nearer = rounded_down(work_.search.at_least(i, found[k].score, error) * unit);
      if (j == LISTED) {
        hints.rest[n] = std::min(nearer, beyond);
        return;
      }
      list(n, j++, found[k].cluster, nearer);
    }
    hints.rest[n] = beyond < FLT_MAX ? beyond : -1.0f;
    // A cluster that is kept says nothing when it is listed as well.
    for (; j < LISTED; ++j) list(n, j, after(r)[0], FLT_MAX);
  }

  bool is_kept(int r, int c) {
    const int32_t* K = after(r);
    return std::find(K, K + C_prime_, c) != K + C_prime_;
  }
};

}  // namespace cprime::CPRIME_ISA
