// What do rows lose by looking at the clusters in K alone?
#include <cfloat>
#include <cmath>

#include "exact.hpp"
#include "load.hpp"
#include "path.hpp"
#include "ranking.hpp"
#include "tile.hpp"

namespace cprime::CPRIME_PATH {
namespace {

// Clusters this many nats (and log C) below the best outside K add less than 1e-13 to it.
constexpr double NEGLIGIBLE = 30.0;
constexpr double TOLERATED = 1e-13;  // share of a gap that rounding errors may make up
constexpr int FEW_NEAR = 2;
constexpr double DOUBLE_ROUNDOFF = 1.0 / (int64_t(1) << 53);

// log(1 + sum over clusters outside K / sum over those inside), for TILE rows at a time.
//
// Scores of all clusters in float64, by multiplying and adding, are good enough for clusters that
// hardly count; those near the best outside K, and those inside, are evaluated by the
// canonical formula.
class Gaps {
 public:
  Gaps(const Clusters& clusters, const int32_t* K, int C_prime, double sharpness, double* out,
       Workspace& work)
      : clusters_(clusters), K_(K), C_prime_(C_prime), sharpness_(sharpness), out_(out), work_(work) {
    const int Dp = clusters.Dp;
    work.rows.resize(size_t(TILE) * Dp);
    centred_.resize(size_t(TILE) * Dp);
    work.everything.resize(size_t(TILE) * clusters.panels64.width);
    outside_.resize(clusters.panels64.width);
    inside_.resize(padded(C_prime));
  }

  void run(const Rows& rows, int64_t first, int n) {
    const int Dp = clusters_.Dp, width = clusters_.panels64.width;
    double square[TILE];
    for (int i = 0; i < TILE; ++i) {
      double* y = work_.rows.data() + size_t(i) * Dp;
      double* centred = centred_.data() + size_t(i) * Dp;
      load_row(rows, first + std::min(i, n - 1), y, Dp);
      Doubles squares{};
      for (int d = 0; d < Dp; d += LANES) {
        const Doubles value = load<Doubles>(y + d) - load<Doubles>(clusters_.frame.origin.data() + d);
        squares += value * value;
        store(centred + d, value);
      }
      square[i] = folded(squares);
    }
    score_tile(centred_.data(), Dp, clusters_.D, clusters_.panels64.values.data(),
               clusters_.panels64.constants.data(), width, work_.everything.data(), width);
    for (int i = 0; i < n; ++i)
      out_[first + i] = gap(work_.rows.data() + size_t(i) * Dp, K_ + (first + i) * C_prime_,
                            work_.everything.data() + size_t(i) * width, square[i]);
  }

 private:
  double gap(const double* y, const int32_t* K, double* scores, double square) {
    const Panels64& panels = clusters_.panels64;
    for (int j = 0; j < C_prime_; ++j) {
      inside_[j] = score(y, K[j]);
      scores[K[j]] = INFINITY;
    }
    std::fill(inside_.begin() + C_prime_, inside_.end(), INFINITY);
    Doubles low = load<Doubles>(scores);
    for (int c = LANES; c < panels.width; c += LANES) low = lower(load<Doubles>(scores + c), low);
    const double best = lowest(low);
    if (std::isinf(best)) return 0.0;

    // Clusters that count are no farther than `farthest`, so neither they nor the row are far
    // from the origin compared with the row: that bounds the errors of their scores, in nats,
    // and of the sum over all clusters `exact` nats below the best.
    const double log_C = std::log(double(clusters_.C)), enough = log_C + NEGLIGIBLE;
    const double farthest = std::sqrt(std::max(best + square, 0.0) + (enough + 1.0) / sharpness_);
    const double size = 2.0 * std::sqrt(square) + farthest;
    const double error = (clusters_.D + 8) * DOUBLE_ROUNDOFF * size * size * sharpness_;
    const double exact = std::max(log_C + std::log(error / TOLERATED), 0.0) + 4.0 * error;
    const double last_exact = exact < enough ? best + exact / sharpness_ : DBL_MAX;
    Doubles low_outside = all<Doubles>(INFINITY);
    for (int c = 0; c < panels.width; c += LANES) {
      const Doubles found = load<Doubles>(scores + c);
      Doubles outside = found + square;
      const Longs near = found <= last_exact;
      if (any_true(near)) outside = refined(y, c, near, outside);
      low_outside = lower(outside, low_outside);
      store(outside_.data() + c, outside);
    }
    const double best_outside = lowest(low_outside);
    const double best_inside = *std::min_element(inside_.begin(), inside_.end());
    const double x = sharpness_ * (best_inside - best_outside) +
                     std::log(sum(outside_.data(), panels.width, best_outside)) -
                     std::log(sum(inside_.data(), C_prime_, best_inside));
    return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }

  // Eight scores, with those that are near by the canonical formula: one by one if they are
  // few, else all together.
  Doubles refined(const double* y, int c, const Longs& near, Doubles scores) const {
    int64_t count = 0;
    for (int lane = 0; lane < LANES; ++lane) count -= near[lane];
    if (count <= FEW_NEAR) {
      for (int lane = 0; lane < LANES; ++lane)
        if (near[lane] != 0) scores[lane] = score(y, c + lane);
      return scores;
    }
    const double* columns = clusters_.columns.data() + size_t(c) * clusters_.D;
    const Doubles exact = every<1, 1>(y, clusters_.Dp, columns, clusters_.D, 0).of[0] +
                          load<Doubles>(clusters_.penalty.data() + c);
    return near ? exact : scores;
  }

  double score(const double* y, int c) const {
    return distance(y, clusters_.mean(c), clusters_.Dp) +
           clusters_.penalty[c];
  }

  double sum(const double* scores, int n, double best) const {
    Doubles total{};
    for (int j = 0; j < n; j += LANES)
      total += exponential(sharpness_ * (best - load<Doubles>(scores + j)));
    return folded(total);
  }

  const Clusters& clusters_;
  const int32_t* K_;
  const int C_prime_;
  const double sharpness_;
  double* out_;
  Workspace& work_;
  Buffer<double> inside_, outside_, centred_;
};

}  // namespace

void gaps(const Rows& rows, const Clusters& clusters, const int32_t* K, int C_prime, double sharpness,
          int64_t first, int count, double* out, void* scratch) {
  Gaps gaps(clusters, K, C_prime, sharpness, out, *static_cast<Workspace*>(scratch));
  for (int begin = 0; begin < count && !stopping(); begin += TILE)
    gaps.run(rows, first + begin, std::min(TILE, count - begin));
}

}  // namespace cprime::CPRIME_PATH
