// What do rows lose by looking at the clusters in K alone?
#include <cmath>

#include "load.hpp"
#include "isa.hpp"
#include "hint_access.hpp"
#include "products.hpp"
#include "ranking.hpp"

namespace cprime::CPRIME_ISA {
namespace {

// All clusters this many nats (and log C) below the best outside K together add less than
// 1e-13 to it: they are left out.
constexpr double NEGLIGIBLE = 30.0;
constexpr double LOG_OF_LEAST = -28.0;  // what errors of distances from products may add up to
constexpr int FEW_OF = 2;      // more than half of all clusters are as soon all looked at
constexpr int MOST_KEPT = 64;  // clusters a row keeps, for a search to pay
constexpr int FEW_FEATURES = 16;  // products gain nothing on canonical distances
constexpr int FEW_CLUSTERS = 16;  // all are as soon looked at as scored

// log(1 + sum over clusters outside K / sum over those inside), for a batch of rows at a time.
//
// A float32 search finds clusters that may count. Which of them do is decided by distances from
// products in float64; those that count for much get the canonical one in its place. None of
// this depends on how well it searched.
class Gaps {
 public:
  Gaps(const Clusters& clusters, const Centred& centred, const int32_t* K, int C_prime,
       double sharpness, double* out, Workspace& work)
      : clusters_(clusters),
        centred_(centred),
        K_(K),
        C_prime_(C_prime),
        sharpness_(sharpness),
        window_((NEGLIGIBLE + std::log(double(clusters.C))) / sharpness),
        by_products_(!clusters.is_whitened() && clusters.D > FEW_FEATURES),
        out_(out),
        work_(work) {
    work.rows.resize(size_t(Search::BATCH) * clusters.Dp);
    work.search.prepare(clusters.Dp, 0);
    work.screened.resize(size_t(TILE) * clusters.panels.width);
    for (auto* places : {&listed_, &near_, &near_clusters_}) places->resize(size_t(clusters.C + SIXTEEN));
    scores_.resize(size_t(padded(clusters.C)));
    near_scores_.resize(size_t(padded(clusters.C)));
    centred_rows_.resize(size_t(ROWS_AT_ONCE) * clusters.Dp);
    inside_.resize(size_t(padded(C_prime)));
    is_worth_searching_ = may_search();
  }

  void run(const Rows& rows, int64_t first, int n) {
    for (int i = 0; i < n; ++i) load_row(rows, first + i, row(i), clusters_.Dp);
    n_crowded_ = n_undecided_ = 0;
    if (is_worth_searching_)
      search(first, n);
    else
      for (int i = 0; i < n; ++i) look_at_all(first, i);
    if (n_crowded_ > 0) sum_all(first);
    is_worth_searching_ = n_undecided_ < n / 2 && may_search();
  }

 private:
  // A sum over clusters outside K of exp(sharpness * (best - score)). Cluster c is added in
  // lane c mod 8, lanes from the lowest c up, whichever way the scores were found.
  struct Outside {
    double best;
    Doubles sum;
  };

  // Which distances from products count at all, and up to which they are replaced.
  struct Limits {
    double near, far;
  };

  // Most clusters are candidates where rows keep many.
  bool may_search() const {
    return C_prime_ < MOST_KEPT && clusters_.C > FEW_CLUSTERS && !clusters_.is_whitened();
  }

  double* row(int i) { return work_.rows.data() + size_t(i) * clusters_.Dp; }

  void search(int64_t first, int n) {
    Search& search = work_.search;
    for (int i = 0; i < n; ++i) search.set_row(i, LoadedRow{row(i)}, clusters_.frame);
    for (int i = n; i % TILE != 0; ++i) search.set_row(i, LoadedRow{row(0)}, clusters_.frame);
    search.face(n, clusters_.D, clusters_.panels);
    for (int t = 0; t < n && !stopping(); t += TILE) {
      search.all_scores(t, clusters_.D, clusters_.panels, work_.screened.data());
      for (int i = t; i < n && i < t + TILE; ++i) {
        float* scores = work_.screened.data() + size_t(i - t) * clusters_.panels.width;
        const int32_t* K = K_of(first + i);
        const int count = search.is_scored(i) ? list_candidates(i, K, scores) : clusters_.C;
        if (count <= clusters_.C / FEW_OF)
          out_[first + i] = gap(row(i), K, sum_candidates(i, count));
        else
          look_at_all(first, i);
      }
    }
  }

  // Some rows at once, when there are enough of them.
  void look_at_all(int64_t first, int i) {
    ++n_undecided_;
    crowded_[n_crowded_++] = i;
    if (n_crowded_ == ROWS_AT_ONCE) sum_all(first);
  }

  // Lists the clusters outside K that may count, from the lowest up; returns their number.
  int list_candidates(int i, const int32_t* K, float* scores) {
    const int width = clusters_.panels.width;
    for (int k = 0; k < C_prime_; ++k) scores[K[k]] = INFINITY;
    const double shrink = clusters_.frame.shrink;
    // Errors of products are far below the margin that is left for those of float32.
    const double slack = window_ * shrink * shrink * (1.0 + 1e-9);
    const float limit = work_.search.limit_within(i, lowest_of(scores, width), slack);
    int n = 0;
    for (int c = 0; c < width; c += SIXTEEN) n += list_at_most(scores + c, limit, c, listed_.data() + n);
    return n;
  }

  // Puts a row about the origin of the means; returns its square.
  double centre(const double* y, double* to) const {
    Doubles squares{};
    for (int d = 0; d < clusters_.Dp; d += LANES) {
      const Doubles value = load<Doubles>(y + d) - load<Doubles>(clusters_.frame.origin.data() + d);
      store(to + d, value);
      squares += value * value;
    }
    return folded(squares);
  }

  // If `best` is the lowest distance from products outside K, less the row's square.
  Limits limits(double best, double square) const {
    const double error =
        error_of_products(best + square + window_, std::sqrt(square), centred_.reach, clusters_.D);
    const double nats = std::log(clusters_.C * (sharpness_ * error)) - LOG_OF_LEAST;
    const double near = nats > 0.0 ? std::min(nats / sharpness_, window_) : 0.0;
    return {best + (near + 2.0 * error), best + (window_ + 2.0 * error)};
  }

  Outside sum_candidates(int i, int n) {
    const double* y = row(i);
    double best = INFINITY;
    if (by_products_) {
      const double square = centre(y, centred_rows_.data());
      products_with(centred_rows_.data(), centred_, clusters_.Dp, listed_.data(), n, scores_.data());
      std::fill(scores_.begin() + n, scores_.begin() + padded(n), INFINITY);
      best = settle(y, square, padded(n), scores_.data(), [&](int j) { return listed_[j]; });
    } else {
      scores_of(y, clusters_, listed_.data(), n, scores_.data());
      for (int j = 0; j < n; ++j) best = std::min(best, scores_[j]);
    }
    for (int j = 0; j < n; ++j) scores_[j] = exponent(scores_[j], best);
    std::fill(scores_.begin() + n, scores_.begin() + padded(n), 0.0);
    exponentials(scores_.data(), n);
    double lanes[LANES] = {};
    for (int j = 0; j < n; ++j) lanes[listed_[j] % LANES] += scores_[j];
    return {best, load<Doubles>(lanes)};
  }

  // Turns distances from products, less the row's square, into scores: canonical ones of clusters
  // that count for much, none of those beyond the window. Returns the best.
  template <class ClusterAt>
  double settle(const double* y, double square, int n, double* scores, ClusterAt cluster_at) {
    Doubles low = all<Doubles>(INFINITY);
    for (int j = 0; j < n; j += LANES) low = lower(load<Doubles>(scores + j), low);
    const double lowest_of_all = lowest(low);
    if (std::isinf(lowest_of_all)) return lowest_of_all;
    const auto [near, far] = limits(lowest_of_all, square);
    const Doubles none = all<Doubles>(INFINITY);
    int n_near = 0;
    for (int j = 0; j < n; j += LANES) {
      const Doubles found = load<Doubles>(scores + j);
      n_near += list_at_most(found, near, j, near_.data() + n_near);
      store(scores + j, found <= far ? found + square : none);
    }
    for (int k = 0; k < n_near; ++k) near_clusters_[k] = cluster_at(near_[k]);
    scores_of(y, clusters_, near_clusters_.data(), n_near, near_scores_.data());
    double best = INFINITY;
    for (int k = 0; k < n_near; ++k) {
      scores[near_[k]] = near_scores_[k];
      best = std::min(best, near_scores_[k]);
    }
    return best;
  }

  // Rows with many candidates look at all clusters.
  void sum_all(int64_t first) {
    const int n = n_crowded_;
    const int* which = crowded_;
    n_crowded_ = 0;
    const int Dp = clusters_.Dp, stride = padded(clusters_.C);
    work_.everything.resize(size_t(ROWS_AT_ONCE) * stride);
    double squares[ROWS_AT_ONCE] = {};
    for (int k = 0; k < n; ++k) {
      double* to = centred_rows_.data() + size_t(k) * Dp;
      if (by_products_)
        squares[k] = centre(row(which[k]), to);
      else
        std::copy_n(row(which[k]), Dp, to);
    }
    double* everything = work_.everything.data();
    if (by_products_)
      products_with_all<ROWS_AT_ONCE>(centred_rows_.data(), clusters_, centred_, everything, stride);
    else
      whitened_distances_to_all<ROWS_AT_ONCE>(centred_rows_.data(), clusters_, everything, stride);
    for (int k = 0; k < n; ++k) {
      double* scores = everything + size_t(k) * stride;
      const int32_t* K = K_of(first + which[k]);
      for (int j = 0; j < C_prime_; ++j) scores[K[j]] = INFINITY;
      const double best =
          by_products_ ? settle(row(which[k]), squares[k], stride, scores, [](int c) { return c; })
                       : add_penalties(scores, stride);
      out_[first + which[k]] = gap(row(which[k]), K, sum_scores(scores, stride, best));
    }
  }

  // Returns the best.
  double add_penalties(double* scores, int stride) const {
    Doubles low = all<Doubles>(INFINITY);
    for (int c = 0; c < stride; c += LANES) {
      const Doubles found = load<Doubles>(scores + c) + load<Doubles>(clusters_.penalty.data() + c);
      store(scores + c, found);
      low = lower(found, low);
    }
    return lowest(low);
  }

  Outside sum_scores(const double* scores, int stride, double best) const {
    Outside outside{best, {}};
    for (int c = 0; c < stride; c += LANES)
      outside.sum += exponential(exponent(load<Doubles>(scores + c), best));
    return outside;
  }

  double gap(const double* y, const int32_t* K, const Outside& outside) {
    if (std::isinf(outside.best)) return 0.0;
    for (int j = 0; j < C_prime_; ++j) inside_[j] = score(y, K[j]);
    const double best = *std::min_element(inside_.begin(), inside_.begin() + C_prime_);
    double inside = 1.0;
    if (C_prime_ > 1) {
      for (int j = 0; j < C_prime_; ++j) inside_[j] = sharpness_ * (best - inside_[j]);
      std::fill(inside_.begin() + C_prime_, inside_.end(), 0.0);
      exponentials(inside_.data(), C_prime_);
      inside = 0.0;
      for (int j = 0; j < C_prime_; ++j) inside += inside_[j];
    }
    const double x = sharpness_ * (best - outside.best) + std::log(folded(outside.sum) / inside);
    return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }

  // Of a score outside K; without end beyond the window.
  Doubles exponent(const Doubles& score, double best) const {
    const Doubles none = all<Doubles>(-INFINITY);
    return score <= best + window_ ? sharpness_ * (best - score) : none;
  }

  double exponent(double score, double best) const {
    return score <= best + window_ ? sharpness_ * (best - score) : -INFINITY;
  }

  double score(const double* y, int c) const {
    return whitened_distance(y, clusters_, c) + clusters_.penalty[c];
  }

  const int32_t* K_of(int64_t n) const { return K_ + n * C_prime_; }

  const Clusters& clusters_;
  const Centred& centred_;
  const int32_t* K_;
  const int C_prime_;
  const double sharpness_;
  const double window_;  // how much farther than the best outside K a cluster may be to count
  const bool by_products_;
  double* out_;
  Workspace& work_;
  bool is_worth_searching_;
  int crowded_[ROWS_AT_ONCE], n_crowded_ = 0, n_undecided_ = 0;
  std::vector<int32_t> listed_;  // clusters that may count
  std::vector<int32_t> near_, near_clusters_;  // places of scores that count for much, and whose
  Buffer<double> inside_, scores_, near_scores_, centred_rows_;
};

}  // namespace

void gaps(const Rows& rows, const Clusters& clusters, const Centred& centred, const int32_t* K,
          int C_prime, double sharpness, int64_t first, int count, double* out, void* scratch) {
  Gaps gaps(clusters, centred, K, C_prime, sharpness, out, *static_cast<Workspace*>(scratch));
  for (int begin = 0; begin < count && !stopping(); begin += Search::BATCH)
    gaps.run(rows, first + begin, std::min(Search::BATCH, count - begin));
}

}  // namespace cprime::CPRIME_ISA
