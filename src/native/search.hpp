// Which clusters may be among the closest to a row? Float32 scores and a bound on their
// errors narrow it down to a few candidates; float64 decides among those.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "path.hpp"
#include "tile.hpp"
#include "values.hpp"

namespace cprime::CPRIME_PATH {

constexpr int MAX_GROUP = 480;  // clusters scored before candidates are collected
constexpr int GROUP_STEP = 48;  // a multiple of every path's panels, and of sixteen
constexpr int GROUP_VALUES = 96 * 1024;  // values of a group's panels that stay in cache
constexpr int FEW = 12;  // up to here the minima of BINS sets of clusters bound the wanted-th lowest,
constexpr int SETS = GROUP_STEP;         // up to a third of this those of so many sets
constexpr int MANY = 48;                 // candidates that are worth thinning out one by one
constexpr int WORD = 64;                 // clusters compared before any is noted
constexpr double UNIT_ROUNDOFF = 1.0 / (1 << 24);
constexpr double EXACT_ROUNDOFF = UNIT_ROUNDOFF * UNIT_ROUNDOFF / 32;
constexpr double FARTHEST = 1e12;  // rows farther out, in the frame, are not scored

struct Candidate {
  float score;
  int32_t cluster;
  bool operator<(const Candidate& other) const { return score < other.score; }
};

// Sorts candidates by score. A few have their ranks counted: no branch to guess wrong.
inline void sort_by_score(Candidate* found, int count) {
  constexpr int MOST = 2 * SIXTEEN;
  if (count > MOST) {
    std::sort(found, found + count);
    return;
  }
  Candidate before[MOST];
  float scores[MOST];
  for (int i = 0; i < MOST; ++i) scores[i] = INFINITY;
  for (int i = 0; i < count; ++i) {
    before[i] = found[i];
    scores[i] = found[i].score;
  }
  SixteenInts lane, rank[2] = {};
  for (int i = 0; i < SIXTEEN; ++i) lane[i] = i;
  for (int i = 0; i < count; ++i) {
    const Sixteen score = all<Sixteen>(scores[i]);
    for (int v = 0; v < 2; ++v) {
      const Sixteen other = load<Sixteen>(scores + v * SIXTEEN);
      rank[v] -= (score < other) | ((score == other) & (lane + v * SIXTEEN > i));
    }
  }
  int32_t ranks[MOST];
  store(ranks, rank[0]);
  store(ranks + SIXTEEN, rank[1]);
  for (int i = 0; i < count; ++i) found[ranks[i]] = before[i];
}

// Scores a batch of rows against panels and collects candidates.
class Search {
 public:
  static constexpr int BATCH = 64;

  // Memory is kept between calls.
  void prepare(int Dp, int capacity) {
    Dp_ = Dp;
    capacity_ = capacity;
    rows_.resize(size_t(BATCH) * Dp);
    scores_.resize(size_t(TILE) * MAX_GROUP);
    bins_.resize(size_t(TILE) * BINS);
    minima_.resize(size_t(BATCH) * SETS);
    candidates_.resize(size_t(BATCH) * capacity);
  }

  // Puts row `i` of the batch into the frame.
  template <class Row>
  void set_row(int i, const Row& y, const Frame& frame) {
    float* to = rows_.data() + size_t(i) * Dp_;
    Doubles squares{};
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles value =
          (y.at(d) - load<Doubles>(frame.origin.data() + d)) * frame.shrink;
      squares += value * value;
      store(to + d, narrowed(value));
    }
    square_[i] = folded(squares);
    scored_[i] = square_[i] < FARTHEST * FARTHEST;
    if (!scored_[i]) std::fill_n(to, Dp_, 0.0f);
  }

  // Finds, for rows 0 .. n of the batch, all clusters that may be among the `wanted` closest,
  // or less than `slack` (a squared distance in the frame) farther than those.
  void run(int n, int D, const Panels& panels, int wanted, double slack = 0.0) {
    const int in_tiles = (n + TILE - 1) / TILE * TILE;
    std::fill(rows_.begin() + size_t(n) * Dp_, rows_.begin() + size_t(in_tiles) * Dp_, 0.0f);
    for (int i = 0; i < n; ++i) {
      error_[i] = error(square_[i], D, panels);
      margin_[i] = 2.0 * error_[i] + slack;
      limit_[i] = FLT_MAX;
      count_[i] = 0;
      crowded_[i] = false;
    }
    std::fill_n(minima_.begin(), size_t(n) * SETS, INFINITY);
    const int per_group = std::clamp(GROUP_VALUES / D, GROUP_STEP, MAX_GROUP) / GROUP_STEP * GROUP_STEP;
    for (int c = 0; c < panels.width; c += per_group) {
      const int width = std::min(per_group, panels.width - c);
      for (int t = 0; t < n && !stopping(); t += TILE) {
        score_tile(rows_.data() + size_t(t) * Dp_, Dp_, D, panels.values.data() + size_t(c) * D,
                   panels.constants.data() + c, width, scores_.data(), MAX_GROUP, bins_.data());
        for (int r = 0; r < TILE && t + r < n; ++r)
          if (scored_[t + r] && !crowded_[t + r])
            collect(t + r, scores_.data() + size_t(r) * MAX_GROUP, width, c, bins_.data() + r * BINS,
                    wanted);
      }
    }
    for (int i = 0; i < n; ++i)
      if (scored_[i] && !crowded_[i]) settle(i, wanted);
  }

  // False where scores cannot tell: the row must look at all clusters in float64.
  bool decided(int i) const { return scored_[i] && !crowded_[i]; }
  Candidate* candidates(int i) { return candidates_.data() + size_t(i) * capacity_; }
  int count(int i) const { return count_[i]; }
  double error(int i) const { return error_[i]; }

  // A lower bound on the distance a score stands for, in the frame.
  double at_least(int i, double score, int D) const {
    const double squared = score + square_[i] * (1.0 - D * 1e-15) - error_[i];
    return squared > 0.0 ? std::sqrt(squared) * (1.0 - 1e-9) : 0.0;
  }

  // Scores of one tile of rows against few panels.
  float* scores(int t, int D, const Panels& panels) {
    score_tile(rows_.data() + size_t(t) * Dp_, Dp_, D, panels.values.data(), panels.constants.data(),
               panels.width, scores_.data(), MAX_GROUP, bins_.data());
    return scores_.data();
  }

  // How much a score may differ from the canonical distance, less the row's square: by
  // rounding in D multiply-adds, of rows and means to float32, and of the constant; and,
  // what counts for rows far away, by that of the canonical distance itself.
  static double error(double square, int D, const Panels& panels) {
    const double length = std::sqrt(square), farthest = length + panels.reach;
    const double size = panels.level + 2.0 * length * panels.reach;
    return 1.01 * ((D + 4) * UNIT_ROUNDOFF * size + (D + 8) * EXACT_ROUNDOFF * farthest * farthest) +
           FLT_MIN;
  }

  void bound_errors(int n, int D, const Panels& panels) {
    for (int i = 0; i < n; ++i) error_[i] = error(square_[i], D, panels);
  }

  bool is_scored(int i) const { return scored_[i]; }

 private:
  // An upper bound on the `wanted`-th lowest score so far: the minima of disjoint sets of
  // clusters are scores too, so the wanted-th lowest of them is such a bound.
  float bound(int i, const float* scores, int width, const float* bins, int wanted) {
    float* minima = minima_.data() + size_t(i) * SETS;
    if (wanted <= FEW) {
      const Sixteen low[1] = {lower(load<Sixteen>(minima), load<Sixteen>(bins))};
      store(minima, low[0]);
      return wanted == 1 ? lowest(low[0]) : ranked(low, wanted);
    }
    if (wanted <= SETS / 3) {
      Sixteen low[3];
      for (int v = 0; v < 3; ++v) low[v] = load<Sixteen>(minima + v * SIXTEEN);
      int c = 0;
      for (; c + SETS <= width; c += SETS)
        for (int v = 0; v < 3; ++v) low[v] = lower(low[v], load<Sixteen>(scores + c + v * SIXTEEN));
      for (int v = 0; c < width; c += SIXTEEN, ++v) low[v] = lower(low[v], load<Sixteen>(scores + c));
      for (int v = 0; v < 3; ++v) store(minima + v * SIXTEEN, low[v]);
      return ranked(low, wanted);
    }
    if (width < wanted) return INFINITY;
    ordered_.assign(scores, scores + width);
    std::nth_element(ordered_.begin(), ordered_.begin() + (wanted - 1), ordered_.end());
    return ordered_[wanted - 1];
  }

  // The wanted-th lowest of 16 N numbers, without a branch: each one's rank is the count
  // of those no higher.
  template <int N>
  static float ranked(const Sixteen (&numbers)[N], int wanted) {
    SixteenInts rank[N] = {};
    for (int i = 0; i < N; ++i)
      for (int lane = 0; lane < SIXTEEN; ++lane) {
        const Sixteen number = all<Sixteen>(numbers[i][lane]);
        for (int j = 0; j < N; ++j) rank[j] -= number <= numbers[j];
      }
    Sixteen bound = all<Sixteen>(INFINITY);
    for (int j = 0; j < N; ++j)
      bound = lower(bound, rank[j] >= wanted ? numbers[j] : all<Sixteen>(INFINITY));
    return lowest(bound);
  }

  void collect(int i, const float* scores, int width, int first, const float* bins, int wanted) {
    limit_[i] = std::min(limit_[i], double(bound(i, scores, width, bins, wanted)));
    // Rounded up, and never so high that the padding of a panel would count.
    const double sum = limit_[i] + margin_[i];
    const float limit = std::min(float(sum + std::abs(sum) * 2.0 * UNIT_ROUNDOFF), FLT_MAX);
    Candidate* found = candidates(i);
    int count = count_[i];
    for (int j = 0; j < width; j += WORD) {
      uint64_t bits = 0;
      for (int k = 0; k < WORD && j + k < width; k += SIXTEEN)
        bits |= uint64_t(at_most(scores + j + k, limit)) << k;
      if (count + WORD > capacity_) {
        count_[i] = count;
        if (!make_room(i, wanted)) return;
        count = count_[i];
      }
      for (; bits != 0; bits &= bits - 1) {
        const int k = j + __builtin_ctzll(bits);
        found[count++] = {scores[k], first + k};
      }
    }
    count_[i] = count;
  }

  // Drops candidates that later ones have made hopeless.
  bool make_room(int i, int wanted) {
    settle(i, wanted);
    crowded_[i] = count_[i] > capacity_ - WORD;
    return !crowded_[i];
  }

  // Keeps the candidates that may be among the wanted lowest, given all of them so far.
  void settle(int i, int wanted) {
    Candidate* found = candidates(i);
    // Sets bound badly if the lowest are all in one.
    if (wanted > 1 && count_[i] > std::max(wanted, MANY)) {
      std::nth_element(found, found + (wanted - 1), found + count_[i]);
      limit_[i] = std::min(limit_[i], double(found[wanted - 1].score));
    }
    const double limit = limit_[i] + margin_[i];
    int count = 0;
    for (int j = 0; j < count_[i]; ++j) {
      found[count] = found[j];
      count += found[j].score <= limit;
    }
    count_[i] = count;
  }

  int Dp_ = 0, capacity_ = 0;
  Buffer<float> rows_, scores_, bins_;
  Buffer<float> minima_;  // of each row, over disjoint sets of clusters
  std::vector<float> ordered_;
  std::vector<Candidate> candidates_;
  double square_[BATCH], error_[BATCH], margin_[BATCH];
  double limit_[BATCH];
  int count_[BATCH];
  bool scored_[BATCH], crowded_[BATCH];
};

}  // namespace cprime::CPRIME_PATH
