// What do rows lose by looking at the clusters in K alone?
#include <cmath>

#include "load.hpp"
#include "isa.hpp"
#include "ranking.hpp"

namespace cprime::CPRIME_ISA {
namespace {

// All clusters this many nats (and log C) below the best outside K together add less than
// 1e-13 to it: they are left out.
constexpr double NEGLIGIBLE = 30.0;
constexpr int FEW_OF = 4;      // more than a fourth of all clusters are as soon all looked at
constexpr int MOST_KEPT = 64;  // clusters a row keeps, for a search to pay
constexpr int CAPACITY_OF_GAPS = 512;  // candidates per row before it looks at all clusters

// log(1 + sum over clusters outside K / sum over those inside), for a batch of rows at a time.
//
// The search finds the clusters that may count. Which of them do is decided by canonical
// distances, so the result does not depend on how well it searched.
class Gaps {
 public:
  Gaps(const Clusters& clusters, const int32_t* K, int C_prime, double sharpness, double* out,
       Workspace& work)
      : clusters_(clusters),
        K_(K),
        C_prime_(C_prime),
        sharpness_(sharpness),
        window_((NEGLIGIBLE + std::log(double(clusters.C))) / sharpness),
        out_(out),
        work_(work) {
    work.rows.resize(size_t(Search::BATCH) * clusters.Dp);
    work.search.prepare(clusters.Dp, CAPACITY_OF_GAPS);
    scores_.resize(size_t(padded(clusters.C)));
    inside_.resize(size_t(padded(C_prime)));
    is_inside_.assign(size_t(clusters.C), false);
    // Most clusters are candidates where rows keep many.
    is_worth_searching_ = C_prime < MOST_KEPT && !clusters.is_whitened();
  }

  void run(const Rows& rows, int64_t first, int n) {
    for (int i = 0; i < n; ++i) load_row(rows, first + i, row(i), clusters_.Dp);
    if (is_worth_searching_) search(n);
    int crowded[ROWS_AT_ONCE], n_crowded = 0, n_undecided = 0;
    for (int i = 0; i < n && !stopping(); ++i) {
      if (is_worth_searching_ && has_few_candidates(i)) {
        out_[first + i] = gap(row(i), K_of(first + i), sum_candidates(i, K_of(first + i)));
        continue;
      }
      ++n_undecided;
      crowded[n_crowded++] = i;
      if (n_crowded == ROWS_AT_ONCE) sum_all(first, crowded, n_crowded);
      n_crowded %= ROWS_AT_ONCE;
    }
    if (n_crowded > 0) sum_all(first, crowded, n_crowded);
    is_worth_searching_ = n_undecided < n / 2 && !clusters_.is_whitened();
  }

 private:
  bool has_few_candidates(int i) const {
    return work_.search.decided(i) && work_.search.count(i) <= clusters_.C / FEW_OF;
  }

  double* row(int i) { return work_.rows.data() + size_t(i) * clusters_.Dp; }

  void search(int n) {
    for (int i = 0; i < n; ++i) work_.search.set_row(i, LoadedRow{row(i)}, clusters_.frame);
    // Of the wanted lowest, one at least is outside K.
    const int wanted = std::min(C_prime_ + 1, clusters_.C);
    const double shrink = clusters_.frame.shrink;
    const double slack = window_ * shrink * shrink * (1.0 + 1e-9);
    work_.search.run(n, clusters_.D, clusters_.panels, wanted, slack);
  }

  // A sum over clusters outside K of exp(sharpness * (best - score)). Cluster c is added in
  // lane c mod 8, lanes from the lowest c up, whichever way the scores were found.
  struct Outside {
    double best;
    Doubles sum;
  };

  Outside sum_candidates(int i, const int32_t* K) {
    Candidate* found = work_.search.candidates(i);
    const int count = work_.search.count(i);
    std::sort(found, found + count,
              [](const Candidate& a, const Candidate& b) { return a.cluster < b.cluster; });
    int n = 0;
    double best = INFINITY;
    for (int k = 0; k < C_prime_; ++k) is_inside_[K[k]] = true;
    for (int j = 0; j < count; ++j) {
      const int c = found[j].cluster;
      if (is_inside_[c]) continue;
      scores_[n] = score(row(i), c);
      best = std::min(best, scores_[n]);
      found[n++].cluster = c;
    }
    for (int k = 0; k < C_prime_; ++k) is_inside_[K[k]] = false;
    for (int j = 0; j < n; ++j) scores_[j] = exponent(scores_[j], best);
    std::fill(scores_.begin() + n, scores_.begin() + padded(n), 0.0);
    exponentials(scores_.data(), n);
    Outside outside{best, {}};
    for (int j = 0; j < n; ++j) outside.sum[found[j].cluster % LANES] += scores_[j];
    return outside;
  }

  // Rows with many candidates look at all clusters, some rows at once.
  void sum_all(int64_t first, const int* which, int n) {
    const int Dp = clusters_.Dp, stride = padded(clusters_.C);
    crowded_rows_.resize(size_t(ROWS_AT_ONCE) * Dp);
    work_.everything.resize(size_t(ROWS_AT_ONCE) * stride);
    for (int k = 0; k < n; ++k) std::copy_n(row(which[k]), Dp, crowded_rows_.begin() + size_t(k) * Dp);
    whitened_distances_to_all<ROWS_AT_ONCE>(crowded_rows_.data(), clusters_, work_.everything.data(),
                                            stride);
    for (int k = 0; k < n; ++k) {
      double* scores = work_.everything.data() + size_t(k) * stride;
      const int32_t* K = K_of(first + which[k]);
      for (int j = 0; j < C_prime_; ++j) scores[K[j]] = INFINITY;
      out_[first + which[k]] = gap(row(which[k]), K, sum_scores(scores, stride));
    }
  }

  Outside sum_scores(double* scores, int stride) const {
    Doubles low = all<Doubles>(INFINITY);
    for (int c = 0; c < stride; c += LANES) {
      const Doubles found = load<Doubles>(scores + c) + load<Doubles>(clusters_.penalty.data() + c);
      store(scores + c, found);
      low = lower(found, low);
    }
    Outside outside{lowest(low), {}};
    for (int c = 0; c < stride; c += LANES)
      outside.sum += exponential(exponent(load<Doubles>(scores + c), outside.best));
    return outside;
  }

  double gap(const double* y, const int32_t* K, const Outside& outside) {
    if (std::isinf(outside.best)) return 0.0;
    for (int j = 0; j < C_prime_; ++j) inside_[j] = score(y, K[j]);
    const double best = *std::min_element(inside_.begin(), inside_.begin() + C_prime_);
    for (int j = 0; j < C_prime_; ++j) inside_[j] = sharpness_ * (best - inside_[j]);
    std::fill(inside_.begin() + C_prime_, inside_.end(), 0.0);
    exponentials(inside_.data(), C_prime_);
    double inside = 0.0;
    for (int j = 0; j < C_prime_; ++j) inside += inside_[j];
    const double x = sharpness_ * (best - outside.best) + std::log(folded(outside.sum)) - std::log(inside);
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
  const int32_t* K_;
  const int C_prime_;
  const double sharpness_;
  const double window_;  // how much farther than the best outside K a cluster may be to count
  double* out_;
  Workspace& work_;
  bool is_worth_searching_;
  std::vector<uint8_t> is_inside_;  // which clusters a row keeps, while it is asked
  Buffer<double> inside_, scores_, crowded_rows_;
};

}  // namespace

void gaps(const Rows& rows, const Clusters& clusters, const int32_t* K, int C_prime, double sharpness,
          int64_t first, int count, double* out, void* scratch) {
  Gaps gaps(clusters, K, C_prime, sharpness, out, *static_cast<Workspace*>(scratch));
  for (int begin = 0; begin < count && !stopping(); begin += Search::BATCH)
    gaps.run(rows, first + begin, std::min(Search::BATCH, count - begin));
}

}  // namespace cprime::CPRIME_ISA
