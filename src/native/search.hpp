// Which clusters may be among the closest to a row? Float32 scores and a bound on their
// errors narrow it down to a few candidates; float64 decides among those.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "byte_search.hpp"
#include "candidates.hpp"
#include "isa.hpp"
#include "tile.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

constexpr int GROUP_STEP = 48;  // a multiple of every ISA's panels, and of sixteen
constexpr int GROUP_VALUES = 96 * 1024;  // values of a group's panels that stay in cache
constexpr int FEW = 12;  // up to here the minima of BINS sets of clusters bound the wanted-th lowest,
constexpr int SETS = GROUP_STEP;         // up to a third of this those of so many sets
constexpr int MANY = 48;                 // candidates that are worth thinning out one by one
constexpr int WORD = 64;                 // columns compared before any is looked at
constexpr double EXACT_ROUNDOFF = UNIT_ROUNDOFF * UNIT_ROUNDOFF / 32;
constexpr double FARTHEST = 1e12;  // rows farther out, in the frame, are not scored

// Scores a batch of rows against panels and collects candidates.
class Search {
 public:
  static constexpr int BATCH = ByteSearch::BATCH;

  // Memory is kept between calls.
  void prepare(int Dp, int capacity) {
    Dp_ = Dp;
    capacity_ = capacity;
    rows_.resize(size_t(BATCH) * Dp + SIXTEEN);
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
    within_[i] = INFINITY;
    scored_[i] = square_[i] < FARTHEST * FARTHEST;
    if (!scored_[i]) std::fill_n(to, Dp_, 0.0f);
  }

  // Lets the next search for the closest cluster of row `i` find none that is farther than this, squared and
  // in the frame.
  void confine(int i, double squared) { within_[i] = squared; }

  // Finds, for rows 0 .. n of the batch, all clusters that may be among the `wanted` closest,
  // or less than `slack` (a squared distance in the frame) farther than those.
  void run(int n, int D, const Panels& panels, int wanted, double slack = 0.0) {
    begin(n, D, panels, slack);
    const bool bytes_find = wanted == 1 ? ByteSearch::finds_one(panels) : ByteSearch::finds_several(panels);
    if (slack == 0.0 && wanted <= MOST_BY_BYTES && bytes_find) {
      wanted == 1 ? settle_rows_of_bytes(n, panels) : list_rows_by_bytes(n, panels, wanted, wanted);
      collect_open_rows(panels, wanted);
      return;
    }
    if (wanted > 1 && wanted <= MOST_IN_LANES && slack == 0.0) {
      collect_in_lanes(n, panels, wanted);
      return;
    }
    if (wanted == 1 && slack == 0.0) {
      settle_clear_rows(n, panels);
    } else {
      for (int i = 0; i < n; ++i)
        if (scored_[i]) open_.push_back(i);
    }
    collect_open_rows(panels, wanted);
  }

  // Finds all clusters that may be among the `closest`, and about as many in all as are wanted, by scores of
  // bytes. Those it does not find are at least `beyond` away.
  void run_by_bytes(int n, int D, const Panels& panels, int closest, int wanted) {
    begin(n, D, panels, 0.0);
    list_rows_by_bytes(n, panels, closest, wanted);
    collect_open_rows(panels, wanted);
  }

  // How far clusters are, at least, that the search has not scored in float32, in the frame.
  double beyond(int i, const Panels& panels) const { return by_bytes_.beyond(i, panels); }

  // False where scores cannot tell: the row must look at all clusters in float64.
  bool decided(int i) const { return scored_[i] && !crowded_[i]; }
  Candidate* candidates(int i) { return found_[i]; }
  int count(int i) const { return count_[i]; }

  // How much a score up to this one may be off.
  double error(int i, double score) const {
    return error_within(score + square_[i], length_[i]);
  }

  // A lower bound on the distance a score stands for, in the frame. The cluster is as far as
  // the score says, or nearer; then so are errors.
  double at_least(int i, double score, double error) const {
    const double squared = score + square_[i] * (1.0 - D_ * 1e-15) - error;
    return squared > 0.0 ? std::sqrt(squared) * (1.0 - 1e-9) : 0.0;
  }

  // If `score` is the wanted-th lowest, those of clusters that may be among the wanted closest
  // are no higher than this.
  double limit(int i, double score) const { return limit(score, square_[i], length_[i]); }

  // Scores of clusters whose squared distance, in the frame, is at most this are no higher.
  float highest_within(int i, double squared) const { return highest_within(squared, square_[i], length_[i]); }

  // The same of the scores that candidates have.
  float highest_candidate_within(int i, double squared, const Panels& panels) const {
    return is_of_bytes_[i] ? by_bytes_.highest_within(i, squared, panels) : highest_within(i, squared);
  }

  // The same of a row of this square and length.
  float highest_within(double squared, double square, double length) const {
    return as_float(squared - square * (1.0 - D_ * 1e-15) + error_within(squared, length));
  }

  // Finds the candidates of row `i` among n listed clusters, which hold all that may be among the
  // `wanted` <= MOST_IN_LANES closest. The list has room for LISTED_AT_ONCE more.
  void run_on(int i, const Panels& panels, const MeanRows& means, int32_t* listed, int n, int wanted) {
    slack_ = 0.0;
    std::fill_n(listed + n, LISTED_AT_ONCE, listed[0]);
    listed_scores_.resize(size_t(n + SETS));
    float* scores = listed_scores_.data();
    score_listed(rows_.data() + size_t(i) * Dp_, means.values.data(), means.stride, panels.constants.data(), listed, n, scores);
    std::fill_n(scores + n, SETS, INFINITY);
    limit_[i] = bound_of(scores, n, wanted);
    const float limit = as_float(this->limit(i, limit_[i]));
    found_[i] = candidates_.data() + size_t(i) * capacity_;
    count_[i] = 0;
    crowded_[i] = is_of_bytes_[i] = false;
    for (int j = 0; j < n && !crowded_[i]; j += SIXTEEN)
      for (uint32_t near = at_most(scores + j, limit); near != 0 && !crowded_[i]; near &= near - 1) {
        const int place = j + __builtin_ctz(near);
        crowded_[i] = count_[i] == capacity_;
        if (!crowded_[i]) found_[i][count_[i]++] = {scores[place], listed[place]};
      }
  }

  // Scores of row `i` and n listed clusters; there is room for LISTED_AT_ONCE more of both.
  void score_few(int i, const Panels& all, const MeanRows& means, const int32_t* listed, int n, float* out) const {
    score_listed(rows_.data() + size_t(i) * Dp_, means.values.data(), means.stride, all.constants.data(), listed, n, out);
  }

  // How high scores are, at most, of clusters that may be among the `wanted` closest, if those that were
  // searched are some of all.
  float limit_of_found(int i, int wanted) const {
    float bound = limit_[i];
    if (wanted == 1)
      for (int j = 0; j < count_[i]; ++j) bound = std::min(bound, found_[i][j].score);
    return as_float(limit(i, bound));
  }

  double square(int i) const { return square_[i]; }

  // Calls visit(i, cluster) for rows 0 .. n of the batch and all clusters, from `first` on and perhaps a few before
  // it, that may be at most so far from them, by squared distances in the frame.
  template <class Visit>
  void visit_within(int n, int D, const Panels& panels, int first, const double* squared, Visit visit) {
    face(n, D, panels);
    clear_rows(n);
    float limits[BATCH];
    for (int i = 0; i < n; ++i) limits[i] = scored_[i] ? highest_within(i, squared[i]) : FLT_MAX;
    const int per_group = std::clamp(GROUP_VALUES / D, GROUP_STEP, MAX_GROUP) / GROUP_STEP * GROUP_STEP;
    for (int c = first / GROUP_STEP * GROUP_STEP; c < panels.width && !stopping(); c += per_group) {
      const int width = std::min(per_group, panels.width - c);
      for (int t = 0; t < n; t += TILE) {
        score_tile(rows_.data() + size_t(t) * Dp_, Dp_, D, panels.values.data() + size_t(c) * D,
                   panels.constants.data() + c, width, scores_);
        for (int i = t; i < n && i < t + TILE; ++i)
          visit_scores(i - t, width, limits[i], [&](int k) { visit(i, c + k); });
      }
    }
  }

  // Scores of one tile of rows against few panels.
  Scores& scores(int t, int D, const Panels& panels) {
    score_tile(rows_.data() + size_t(t) * Dp_, Dp_, D, panels.values.data(), panels.constants.data(),
               panels.width, scores_);
    return scores_;
  }

  // Scores of one tile of rows against all panels; `out` has their width per row.
  void all_scores(int t, int D, const Panels& panels, float* out) {
    const int per_group = std::clamp(GROUP_VALUES / D, GROUP_STEP, MAX_GROUP) / GROUP_STEP * GROUP_STEP;
    for (int c = 0; c < panels.width; c += per_group) {
      const int width = std::min(per_group, panels.width - c);
      score_tile(rows_.data() + size_t(t) * Dp_, Dp_, D, panels.values.data() + size_t(c) * D,
                 panels.constants.data() + c, width, scores_);
      for (int r = 0; r < TILE; ++r)
        std::copy_n(scores_.of_clusters[r], width, out + size_t(r) * panels.width + c);
    }
  }

  // How high scores are, at most, of clusters less than `slack` (a squared distance in the frame)
  // farther than one of this score.
  float limit_within(int i, double score, double slack) {
    slack_ = slack;
    return as_float(limit(score, square_[i], length_[i]));
  }

  // Makes ready for the errors of scores of rows 0 .. n against these panels.
  void face(int n, int D, const Panels& panels) {
    D_ = D;
    reach_ = panels.reach;
    level_ = panels.level;
    for (int i = 0; i < n; ++i) length_[i] = std::sqrt(square_[i]);
  }

  bool is_scored(int i) const { return scored_[i]; }

 private:
  void begin(int n, int D, const Panels& panels, double slack) {
    face(n, D, panels);
    slack_ = slack;
    std::fill_n(limit_, n, FLT_MAX);
    std::fill_n(count_, n, 0);
    std::fill_n(crowded_, n, false);
    std::fill_n(is_of_bytes_, n, false);
    by_bytes_.begin(n);
    open_.clear();
  }

  double limit(double score, double square, double length) const {
    const double farthest = std::max(0.0, score + square) + error_within(INFINITY, length);
    return score + 2.0 * error_within(farthest + slack_, length) + slack_;
  }

  // How much a score may differ from the canonical distance, penalty included, less the row's
  // square, if that distance is at most `squared`: by rounding in D multiply-adds, of rows
  // and means to float32, and of the constant; and, what counts for rows far away, by that
  // of the canonical distance itself. A cluster so close has a mean of limited length.
  double error_within(double squared, double length) const {
    const double near = std::sqrt(std::max(0.0, squared)), mean = std::min(reach_, length + near);
    const double size = std::min(level_, mean * mean + near * near) + 2.0 * length * mean;
    const double farthest = length + mean;
    return 1.01 * ((D_ + 4) * UNIT_ROUNDOFF * size + (D_ + 8) * EXACT_ROUNDOFF * farthest * farthest) +
           FLT_MIN;
  }

  // An upper bound on the `wanted`-th lowest score so far: the minima of disjoint sets of
  // clusters are scores too, so the wanted-th lowest of them is such a bound.
  float bound(int i, int r, int width, int wanted) {
    const float* scores = scores_.of_clusters[r];
    float* minima = minima_.data() + size_t(i) * SETS;
    if (wanted <= FEW) {
      const Sixteen low[1] = {lower(load<Sixteen>(minima), load<Sixteen>(scores_.of_sets[r]))};
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

  // The same of n scores that lie together, infinities behind them.
  static float bound_of(const float* scores, int n, int wanted) {
    Sixteen low[3] = {all<Sixteen>(INFINITY), all<Sixteen>(INFINITY), all<Sixteen>(INFINITY)};
    for (int j = 0; j < n; j += SETS)
      for (int v = 0; v < 3; ++v) low[v] = lower(low[v], load<Sixteen>(scores + j + v * SIXTEEN));
    return wanted == 1 ? lowest(lower(low[0], lower(low[1], low[2]))) : ranked(low, wanted);
  }

  // Finds the closest cluster, and those about as close, from the two lowest scores in disjoint
  // sets of clusters. Rows with two candidates in one set stay open: there may be a third.
  void settle_clear_rows(int n, const Panels& panels) {
    clear_rows(n);
    LowestTwo none{};
    std::fill_n(none.lowest, BINS, INFINITY);
    std::fill_n(none.second, BINS, INFINITY);
    std::fill_n(lowest_two_, n, none);
    const int per_group = std::max(GROUP_VALUES / D_, PANEL) / PANEL * PANEL;
    for (int c = 0; c < panels.width; c += per_group) {
      const int width = std::min(per_group, panels.width - c);
      for (int t = 0; t < n && !stopping(); t += TILE)
        lowest_two_of_tile(rows_.data() + size_t(t) * Dp_, Dp_, D_,
                           panels.values.data() + size_t(c) * D_, panels.constants.data() + c, width,
                           c, lowest_two_ + t);
    }
    float limits[BATCH];
    for (int i = 0; i < n; ++i) limits[i] = lowest(load<Sixteen>(lowest_two_[i].lowest));
    // Without a branch, so in vectors.
    for (int i = 0; i < n; ++i) limits[i] = as_float(limit(limits[i], square_[i], length_[i]));
    for (int i = 0; i < n; ++i) {
      if (!scored_[i]) continue;
      const LowestTwo& two = lowest_two_[i];
      if (at_most(two.second, limits[i]) != 0) {
        open_.push_back(i);
        continue;
      }
      found_[i] = settled_ + i * BINS;
      for (uint32_t near = at_most(two.lowest, limits[i]); near != 0; near &= near - 1) {
        const int set = __builtin_ctz(near);
        found_[i][count_[i]++] = {two.lowest[set], two.cluster(set)};
      }
    }
  }

  // The same by scores of bytes: rows with one candidate, or none, are done, and others score theirs in float32.
  void settle_rows_of_bytes(int n, const Panels& panels) {
    score_bytes(n, panels, 1);
    for (int i = 0; i < n; ++i) {
      if (!scored_[i]) continue;
      const int found = by_bytes_.list(i, panels.n);
      if (found == 0) continue;
      if (found > panels.n / FEW_OF_BYTES) {
        open_.push_back(i);
      } else if (found > 1) {
        run_on(i, panels, panels.bytes.means, by_bytes_.listed(), found, 1);
      } else {
        is_of_bytes_[i] = true;
        found_[i] = settled_ + i;
        found_[i][0] = {by_bytes_.lowest_score(i), by_bytes_.listed()[0]};
        count_[i] = 1;
      }
    }
  }

  // Rows score in float32 what may be among the closest by scores of bytes, and the lowest of some more sets.
  void list_rows_by_bytes(int n, const Panels& panels, int closest, int wanted) {
    score_bytes(n, panels, closest);
    for (int i = 0; i < n; ++i) {
      if (!scored_[i]) continue;
      int found = by_bytes_.list(i, panels.n);
      if (wanted > closest && found <= panels.n / FEW_OF_BYTES) found = by_bytes_.list_next(i, found, wanted);
      if (found > panels.n / FEW_OF_BYTES)
        open_.push_back(i);
      else
        run_on(i, panels, panels.bytes.means, by_bytes_.listed(), found, wanted);
    }
  }

  void score_bytes(int n, const Panels& panels, int closest) {
    clear_rows(n);
    by_bytes_.score(rows_.data(), Dp_, length_, within_, n, D_, panels, closest);
  }

  void collect_open_rows(const Panels& panels, int wanted) {
    const int n = int(open_.size());
    for (int j = 0; j < n; ++j) {
      const int i = open_[j];
      found_[i] = candidates_.data() + size_t(i) * capacity_;
      std::fill_n(minima_.begin() + size_t(i) * SETS, SETS, INFINITY);
      // To the front: the rows of a tile lie together.
      if (i != j) std::copy_n(rows_.begin() + size_t(i) * Dp_, Dp_, rows_.begin() + size_t(j) * Dp_);
    }
    clear_rows(n);
    const int per_group = std::clamp(GROUP_VALUES / D_, GROUP_STEP, MAX_GROUP) / GROUP_STEP * GROUP_STEP;
    for (int c = 0; c < panels.width; c += per_group) {
      const int width = std::min(per_group, panels.width - c);
      for (int t = 0; t < n && !stopping(); t += TILE) {
        score_tile(rows_.data() + size_t(t) * Dp_, Dp_, D_, panels.values.data() + size_t(c) * D_,
                   panels.constants.data() + c, width, scores_);
        collect_tile(open_.data() + t, std::min(TILE, n - t), width, c, wanted);
      }
    }
    for (int i : open_)
      if (!crowded_[i] && count_[i] > wanted) settle(i, wanted);
  }

  // Finds the candidates of several clusters a row. Rows are in lanes, and each has its lowest scores so
  // far in registers, so the bound on the wanted-th lowest costs little and is the best there is.
  void collect_in_lanes(int n, const Panels& panels, int wanted) {
    columns_.resize(size_t(BATCH) * D_);
    const int in_lanes = (n + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
    for (int i = 0; i < in_lanes; ++i) {
      float* to = columns_.data() + size_t(i / SIXTEEN) * SIXTEEN * D_ + i % SIXTEEN;
      // Lanes behind the last row repeat it, and find nothing.
      const float* from = rows_.data() + size_t(std::min(i, n - 1)) * Dp_;
      for (int d = 0; d < D_; ++d) to[size_t(d) * SIXTEEN] = from[d];
      found_[i] = candidates_.data() + size_t(i) * capacity_;
    }
    std::fill_n(lowest_[0][0], sizeof lowest_ / sizeof lowest_[0][0][0], INFINITY);
    const int per_group = std::clamp(GROUP_VALUES / D_, GROUP_STEP, LANES_GROUP) / GROUP_STEP * GROUP_STEP;
    for (int c = 0; c < panels.width; c += per_group) {
      const int width = std::min(per_group, panels.width - c);
      for (int t = 0; t < n && !stopping(); t += SIXTEEN) {
        float(*lowest)[SIXTEEN] = lowest_[t / SIXTEEN];
        const bool named = width == panels.width && wanted <= MOST_NAMED;
        score_lanes(columns_.data() + size_t(t) * D_, D_, panels.values.data() + size_t(c) * D_,
                    panels.constants.data() + c, width, wanted, lane_scores_, lowest,
                    named ? clusters_of_lowest_ : nullptr);
        find_lane_limits(t, std::min(SIXTEEN, n - t), lowest[wanted - 1]);
        if (!named || !take_lowest(t, wanted)) collect_lanes(t, width, c, wanted);
      }
    }
    if (panels.width <= per_group) return;
    for (int i = 0; i < n; ++i)
      if (scored_[i] && !crowded_[i] && count_[i] > wanted) settle(i, wanted);
  }

  void find_lane_limits(int t, int n, const float* bounds) {
    // Without a branch, so in vectors.
    for (int r = 0; r < SIXTEEN; ++r)
      lane_limits_[r] = as_float(limit(bounds[r], square_[t + r], length_[t + r]));
    for (int r = 0; r < SIXTEEN; ++r) {
      if (r < n && scored_[t + r] && !crowded_[t + r])
        limit_[t + r] = bounds[r];
      else
        lane_limits_[r] = -INFINITY;
    }
  }

  // Calls visit(lane, score, cluster) for scores within the limits, clusters in order.
  template <class Visit>
  [[gnu::always_inline]] void visit_lanes(int width, Visit visit) {
    const float* scores = lane_scores_.of_clusters[0];
    constexpr int AT_ONCE = WORD / SIXTEEN;
    for (int c = 0; c < width; c += AT_ONCE, scores += WORD) {
      uint64_t bits = 0;
      for (int k = 0; k < AT_ONCE; ++k)
        bits |= uint64_t(at_most(scores + k * SIXTEEN, lane_limits_)) << (k * SIXTEEN);
      for (; bits != 0; bits &= bits - 1) {
        const int bit = __builtin_ctzll(bits);
        visit(bit % SIXTEEN, scores[bit], c + bit / SIXTEEN);
      }
    }
  }

  void collect_lanes(int t, int width, int first, int wanted) {
    visit_lanes(width, [&](int lane, float score, int c) {
      const int i = t + lane;
      if (count_[i] == capacity_ && !make_room(i, wanted)) lane_limits_[lane] = -INFINITY;
      if (!crowded_[i]) found_[i][count_[i]++] = {score, first + c};
    });
  }

  // Takes the wanted lowest of all scores, where no other is within the limit. Returns whether that
  // is so in all lanes; the others are left to be collected.
  bool take_lowest(int t, int wanted) {
    const auto& lowest = lowest_[t / SIXTEEN];
    uint32_t open = at_most(lowest[wanted], lane_limits_);
    for (int r = 0; r < SIXTEEN; ++r) {
      if (open >> r & 1 || lane_limits_[r] == -INFINITY) continue;
      for (int j = 0; j < wanted; ++j) found_[t + r][j] = {lowest[j][r], clusters_of_lowest_[j][r]};
      count_[t + r] = wanted;
      lane_limits_[r] = -INFINITY;
    }
    return open == 0;
  }

  // Empties the rows behind the n-th that its tile has.
  void clear_rows(int n) {
    const int in_tiles = (n + TILE - 1) / TILE * TILE;
    std::fill(rows_.begin() + size_t(n) * Dp_, rows_.begin() + size_t(in_tiles) * Dp_, 0.0f);
  }

  void collect_tile(const int* rows, int n, int width, int first, int wanted) {
    double bounds[TILE] = {}, squares[TILE] = {}, lengths[TILE] = {};
    for (int r = 0; r < n; ++r) {
      const int i = rows[r];
      limit_[i] = std::min(limit_[i], double(bound(i, r, width, wanted)));
      bounds[r] = limit_[i];
      squares[r] = square_[i];
      lengths[r] = length_[i];
    }
    float limits[TILE];
    for (int r = 0; r < TILE; ++r) limits[r] = as_float(limit(bounds[r], squares[r], lengths[r]));
    for (int r = 0; r < n; ++r)
      if (!crowded_[rows[r]]) collect(rows[r], r, width, first, limits[r], wanted);
  }

  // Calls visit(cluster of the group) for scores of row `r` of the tile within the limit.
  template <class Visit>
  [[gnu::always_inline]] void visit_scores(int r, int width, float limit, Visit visit) {
    const float *columns = scores_.of_columns[r], *scores = scores_.of_clusters[r];
    for (int j = 0; j < columns_of(width); j += SIXTEEN)
      for (uint32_t bits = at_most(columns + j, limit); bits != 0; bits &= bits - 1) {
        const int column = j + __builtin_ctz(bits);
        const int top = column / FLOATS * PANEL + column % FLOATS;
        for (int c = top; c < top + PANEL && c < width; c += FLOATS)
          if (scores[c] <= limit) visit(c);
      }
  }

  void collect(int i, int r, int width, int first, float limit, int wanted) {
    const float *columns = scores_.of_columns[r], *scores = scores_.of_clusters[r];
    const int n = columns_of(width);
    Candidate* found = candidates(i);
    int count = count_[i];
    for (int j = 0; j < n; j += WORD) {
      uint64_t bits = 0;
      for (int k = 0; k < WORD && j + k < n; k += SIXTEEN)
        bits |= uint64_t(at_most(columns + j + k, limit)) << k;
      for (; bits != 0; bits &= bits - 1) {
        if (count + VECTORS > capacity_) {
          count_[i] = count;
          if (!make_room(i, wanted)) return;
          count = count_[i];
        }
        const int column = j + __builtin_ctzll(bits);
        const int top = column / FLOATS * PANEL + column % FLOATS;
        for (int c = top; c < top + PANEL && c < width; c += FLOATS) {
          found[count] = {scores[c], first + c};
          count += scores[c] <= limit;
        }
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
    const double limit = this->limit(i, limit_[i]);
    int count = 0;
    for (int j = 0; j < count_[i]; ++j) {
      found[count] = found[j];
      count += found[j].score <= limit;
    }
    count_[i] = count;
  }

  int D_ = 0, Dp_ = 0, capacity_ = 0;
  Buffer<float> rows_;
  Scores scores_;
  Buffer<float> minima_;  // of each row, over disjoint sets of clusters
  Buffer<float> columns_;  // rows of the batch feature by feature, sixteen at a time
  LaneScores lane_scores_;
  alignas(64) float lane_limits_[SIXTEEN];
  alignas(64) int32_t clusters_of_lowest_[NAMES][SIXTEEN];
  alignas(64) float lowest_[BATCH / SIXTEEN][MOST_IN_LANES][SIXTEEN];  // scores of each row, in order
  LowestTwo lowest_two_[BATCH];
  ByteSearch by_bytes_;
  std::vector<int> open_;  // rows of the batch whose candidates are to be collected
  std::vector<float> ordered_;
  Buffer<float> listed_scores_;
  std::vector<Candidate> candidates_;
  Candidate settled_[BATCH * BINS];
  Candidate* found_[BATCH];  // each row's candidates, in one or the other
  double reach_ = 0.0, level_ = 0.0, slack_ = 0.0;  // of the panels, and of the search
  double square_[BATCH] = {}, length_[BATCH] = {}, limit_[BATCH] = {}, within_[BATCH] = {};
  int count_[BATCH];
  bool scored_[BATCH], crowded_[BATCH], is_of_bytes_[BATCH] = {};  // whether scores are those of bytes
};

}  // namespace cprime::CPRIME_ISA
