// Which clusters do scores of bytes leave open? Those few are scored more closely by whoever asks.
#pragma once

#include <algorithm>
#include <cmath>

#include "bytes.hpp"
#include "candidates.hpp"
#include "isa.hpp"

namespace cprime::CPRIME_ISA {

constexpr int FEW_OF_BYTES = 3;  // more than a third of all clusters are as soon all scored in float32
// Several closest, up to so many, are searched by bytes among so many or more; so are those next to them. With
// fewer clusters, float32 finds both sooner, or better bounds.
constexpr int MOST_BY_BYTES = 3, LEAST_BY_BYTES = 256;

class ByteSearch {
 public:
  static constexpr int BATCH = 64;

  // Whether the one closest cluster is searched by scores of bytes, and whether several are.
  static bool finds_one(const Panels& panels) { return HAS_BYTE_PRODUCTS && !panels.bytes.is_empty(); }
  static bool finds_several(const Panels& panels) { return finds_one(panels) && panels.n >= LEAST_BY_BYTES; }

  // Makes ready for rows 0 .. n, none of which has anything listed.
  void begin(int n) { std::fill_n(unlisted_, n, INFINITY); }

  // Scores rows 0 .. n, which lie `stride` apart and are followed by zeros up to a whole tile. Clusters that may
  // be among the `closest`, and not farther than `within` (squared), have no higher scores than the limits.
  void score(const float* rows, int stride, const double* lengths, const double* within, int n, int D,
             const Panels& panels, int closest) {
    const int in_tiles = (n + TILE - 1) / TILE * TILE;
    rows_.prepare(in_tiles, D);
    for (int i = 0; i < in_tiles; ++i) rows_.set(i, rows + size_t(i) * stride, D, i < n ? lengths[i] : 0.0);
    LowestTwo none{};
    std::fill_n(none.lowest, BINS, INFINITY);
    std::fill_n(none.second, BINS, INFINITY);
    std::fill_n(lowest_[0], in_tiles * HALVES, none);
    const int per_group = std::max(GROUP_BYTES / rows_.stride(), PANEL) / PANEL * PANEL;
    for (int c = 0; c < panels.width; c += per_group)
      for (int t = 0; t < n && !stopping(); t += TILE)
        lowest_two_of_bytes(rows_, t, panels.bytes, c, std::min(per_group, panels.width - c), lowest_ + t);
    // The minima of disjoint sets are scores too, so as many of them bound that of the last.
    for (int i = 0; i < n; ++i) limits_[i] = closest == 1 ? lowest_score(i) : ranked(lowest_of_sets(i).of, closest);
    // Without a branch, so in vectors.
    for (int i = 0; i < n; ++i) {
      const double highest = rows_.highest_within(i, std::sqrt(within[i]), panels.bytes);
      limits_[i] = as_float(std::min(rows_.limit(i, limits_[i], panels.bytes), highest));
    }
    listed_.resize(size_t(panels.width) + 2 * SIXTEEN);
  }

  float lowest_score(int i) const {
    const OfSets sets = lowest_of_sets(i);
    return lowest(lower(sets.of[0], sets.of[1]));
  }

  // Lists clusters of row `i` whose scores are within the limit; of sets with two of them, all clusters.
  // Returns how many.
  int list(int i, int C) {
    int n = 0;
    for (int half = 0; half < HALVES; ++half) {
      const LowestTwo& of = lowest_[i][half];
      const uint32_t shared = at_most(of.second, limits_[i]);
      for (uint32_t near = at_most(of.lowest, limits_[i]); near != 0; near &= near - 1) {
        const int set = __builtin_ctz(near);
        if (!(shared >> set & 1)) {
          listed_[n++] = of.cluster(set);
          continue;
        }
        for (int panel = set + half * PANEL; panel < C; panel += HALVES * PANEL)
          for (int c = panel; c < panel + PANEL && c < C; c += FLOATS) listed_[n++] = c;
      }
    }
    return n;
  }

  // Adds the lowest of other sets to the `found` clusters of row `i` that are listed because their scores are
  // within the limit, until about as many sets are listed as are wanted. Returns how many there are then.
  int list_next(int i, int found, int wanted) {
    const auto& halves = lowest_[i];
    const float limit = limits_[i];
    const OfSets sets = lowest_of_sets(i);
    const float next = std::max(limit, ranked(sets.of, wanted));
    Sixteen unlisted = all<Sixteen>(INFINITY);
    for (int half = 0; half < HALVES; ++half) {
      const Sixteen low = sets.of[half], second = load<Sixteen>(halves[half].second);
      // What is behind the lowest of a set, unless all of the set are listed.
      unlisted = lower(unlisted, low > next ? low : second > limit ? second : all<Sixteen>(INFINITY));
      const uint32_t near = at_most(halves[half].lowest, next) & ~at_most(halves[half].lowest, limit);
      for (uint32_t left = near; left != 0; left &= left - 1)
        listed_[found++] = halves[half].cluster(__builtin_ctz(left));
    }
    unlisted_[i] = lowest(unlisted);
    return found;
  }

  // What was listed last, with room for LISTED_AT_ONCE more.
  int32_t* listed() { return listed_.data(); }

  // How far clusters are, at least, that were not listed, in the frame; infinitely, if others were not asked for.
  double beyond(int i, const Panels& panels) const {
    return std::isinf(unlisted_[i]) ? INFINITY : rows_.at_least(i, unlisted_[i], panels.bytes);
  }

  // Scores of clusters whose squared distance, in the frame, is at most this are no higher.
  float highest_within(int i, double squared, const Panels& panels) const {
    return as_float(rows_.highest_within(i, std::sqrt(squared), panels.bytes));
  }

 private:
  struct OfSets {
    Sixteen of[HALVES];
  };
  // The lowest scores of all sets.
  OfSets lowest_of_sets(int i) const { return {{load<Sixteen>(lowest_[i][0].lowest), load<Sixteen>(lowest_[i][1].lowest)}}; }

  ByteRows rows_;
  LowestTwo lowest_[BATCH][HALVES];
  float limits_[BATCH];
  float unlisted_[BATCH];  // the lowest score of what is not listed
  std::vector<int32_t> listed_;
};

}  // namespace cprime::CPRIME_ISA
