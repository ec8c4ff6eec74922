// Sums over the rows of a block, once it is known which clusters they keep.
#pragma once

#include <cmath>

#include "load.hpp"
#include "memory.hpp"

namespace cprime::CPRIME_PATH {

constexpr int ROWS_AT_ONCE = 6;          // rows per step of `distances_to_all`
constexpr int BLOCK_VALUES = 48 * 1024;  // values of a block of rows that stay in cache

class Statistics : public Memory {
 public:
  using Memory::Memory;

 protected:
  void count_changes() {
    for (int r = 0; r < n_; ++r) {
      if (weight(r) == 0.0) continue;
      if (sweep_.before == nullptr || differs(before(r), after(r))) ++sums_.changed;
    }
  }

  // Whether two rows of clusters differ as sets.
  bool differs(const int32_t* one, const int32_t* other) {
    if (std::equal(one, one + C_prime_, other)) return false;
    auto& a = work_.sorted_before;
    auto& b = work_.sorted_after;
    a.assign(one, one + C_prime_);
    b.assign(other, other + C_prime_);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a != b;
  }

  template <class RowAt>
  void accumulate_hard(RowAt row_at) {
    for (int r = 0; r < n_; ++r) {
      const double w = weight(r);
      const int c = after(r)[0];
      const auto y = row_at(r);
      const double* mu = mean(c);
      double* shift = sums_.shifts.data() + size_t(c) * Dp_;
      Doubles squares{};
      if (w != 0.0) sums_.meet(c);
      for (int d = 0; d < Dp_; d += LANES) {
        const Doubles difference = y.at(d) - load<Doubles>(mu + d);
        squares += difference * difference;
        if (w != 0.0) store(shift + d, load<Doubles>(shift + d) + w * difference);
      }
      if (w == 0.0) continue;
      const double d = folded(squares);
      sums_.counts[c] += w;
      ++sums_.members[c];
      sums_.spread[c] += w * d;
      sums_.scatter += w * d;
      sums_.quantization_error += w * d;
      sums_.free_energy +=
          w * (sweep_.highest_bias - sweep_.sharpness * (d + clusters_.penalty[c]));
      sums_.weight += w;
    }
  }

  // Takes rows that changed their cluster from the sums of one to those of another.
  template <class RowAt>
  void accumulate_changes(RowAt row_at) {
    for (int r = 0; r < n_; ++r) {
      if (after(r)[0] == before(r)[0]) continue;
      const double w = weight(r);
      if (w == 0.0) continue;
      ++sums_.changed;
      move(before(r)[0], -w, row_at(r));
      move(after(r)[0], w, row_at(r));
    }
  }

  template <class Row>
  void move(int c, double w, const Row& y) {
    const double* anchor = sweep_.anchors + size_t(c) * Dp_;
    double* shift = sums_.shifts.data() + size_t(c) * Dp_;
    Doubles squares{};
    sums_.meet(c);
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = y.at(d) - load<Doubles>(anchor + d);
      squares += difference * difference;
      store(shift + d, load<Doubles>(shift + d) + w * difference);
    }
    sums_.counts[c] += w;
    sums_.members[c] += w > 0.0 ? 1 : -1;
    const double change = w * folded(squares);
    sums_.spread[c] += change;
    sums_.moved[c] += std::abs(change);
    sums_.scatter += change;
  }

  void accumulate_soft() {
    const int n = n_ * C_prime_;
    auto& relative = work_.relative;
    relative.resize(size_t(n + LANES));
    for (int r = 0; r < n_; ++r) {
      const double best = lowest_score(r);
      for (int j = 0; j < C_prime_; ++j)
        relative[size_t(r) * C_prime_ + j] = sweep_.sharpness * (best - score(r, j));
    }
    std::fill_n(relative.begin() + n, LANES, 0.0);
    exponentials(relative.data(), n);
    for (int r = 0; r < n_; ++r) {
      const double w = weight(r);
      if (w == 0.0) continue;
      const double* e = relative.data() + size_t(r) * C_prime_;
      const double best = lowest_score(r);
      double total = 0.0, surprise = 0.0, scatter = 0.0;
      for (int j = 0; j < C_prime_; ++j) total += e[j];
      const double log_total = std::log(total);
      for (int j = 0; j < C_prime_; ++j) {
        const double q = e[j] / total;
        if (q == 0.0) continue;
        surprise += q * (sweep_.sharpness * (best - score(r, j)));
        const double share = w * q;
        add_shift(after(r)[j], share, row(r));
        scatter += share * kept(r)[j];
      }
      sums_.scatter += scatter;
      sums_.quantization_error += w * kept(r)[0];
      sums_.entropy += w * (log_total - surprise);
      sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * best + log_total);
      sums_.weight += w;
    }
  }

  double score(int r, int j) { return kept(r)[j] + clusters_.penalty[after(r)[j]]; }

  double lowest_score(int r) {
    double best = score(r, 0);
    for (int j = 1; j < C_prime_; ++j) best = std::min(best, score(r, j));
    return best;
  }

  void add_shift(int c, double share, const double* y) {
    sums_.meet(c);
    sums_.counts[c] += share;
    const double* mu = mean(c);
    double* shift = sums_.shifts.data() + size_t(c) * Dp_;
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = load<Doubles>(y + d) - load<Doubles>(mu + d);
      store(shift + d, load<Doubles>(shift + d) + share * difference);
    }
  }

  // ---- C' = C: every row keeps all clusters -------------------------------------------------

  void keep_all() {
    const int C = clusters_.C, stride = padded(C);
    const int at_once = std::max(ROWS_AT_ONCE, BLOCK_VALUES / stride / ROWS_AT_ONCE * ROWS_AT_ONCE);
    for (int begin = 0; begin < n_ && !stopping(); begin += at_once) {
      const int n = std::min(at_once, n_ - begin);
      auto& shares = work_.everything;
      shares.resize(size_t(n + ROWS_AT_ONCE) * stride);
      for (int r = 0; r < n; r += ROWS_AT_ONCE)
        distances_to_all<ROWS_AT_ONCE>(row(begin + r), clusters_, shares.data() + size_t(r) * stride,
                                       stride);
      for (int r = 0; r < n; ++r) normalise(begin + r, shares.data() + size_t(r) * stride, stride);
      for (int c = 0; c < C; ++c) add_shifts(c, begin, n, shares.data() + c, stride);
    }
    for (int r = 0; r < n_; ++r)
      if (weight(r) > 0.0 && !sweep_.continued) ++sums_.changed;
    sums_.evaluations += int64_t(n_) * C;
  }

  // Turns a row's distances into its shares w q, in place.
  void normalise(int r, double* values, int stride) {
    const double w = weight(r);
    if (w == 0.0) {
      std::fill_n(values, stride, 0.0);
      return;
    }
    const auto score = [&](int c) {
      return load<Doubles>(values + c) + load<Doubles>(clusters_.penalty.data() + c);
    };
    Doubles low = score(0);
    for (int c = LANES; c < stride; c += LANES) low = lower(score(c), low);
    const double best = lowest(low);
    double nearest = best;
    if (clusters_.handicapped)
      for (int c = clusters_.C - 1; c >= 0; --c)
        if (values[c] + clusters_.penalty[c] == best) nearest = values[c];
    Doubles total{}, surprise{}, scatter{};
    work_.relative.resize(stride);
    double* e = work_.relative.data();
    for (int c = 0; c < stride; c += LANES) {
      Doubles relative = sweep_.sharpness * (best - score(c));
      // What has no probability has no surprise either; keep the product finite.
      const Doubles hopeless = all<Doubles>(-1000.0);
      relative = relative > hopeless ? relative : hopeless;
      const Doubles weight_of = exponential(relative);
      total += weight_of;
      surprise += weight_of * relative;
      scatter += weight_of * load<Doubles>(values + c);
      store(e + c, weight_of);
    }
    const double sum = folded(total), log_total = std::log(sum), share = w / sum;
    for (int c = 0; c < stride; c += LANES) store(values + c, load<Doubles>(e + c) * share);
    sums_.scatter += share * folded(scatter);
    sums_.quantization_error += w * nearest;
    sums_.entropy += w * (log_total - folded(surprise) / sum);
    sums_.free_energy += w * (sweep_.highest_bias - sweep_.sharpness * best + log_total);
    sums_.weight += w;
  }

  // Adds the shares of one cluster in a block of rows.
  void add_shifts(int c, int begin, int n, const double* shares, int stride) {
    constexpr int CHUNK = 8;  // vectors of features held in registers
    sums_.meet(c);
    double count = sums_.counts[c];
    for (int r = 0; r < n; ++r) count += shares[size_t(r) * stride];
    sums_.counts[c] = count;
    for (int d = 0; d < Dp_; d += CHUNK * LANES) {
      const int vectors = std::min(CHUNK, (Dp_ - d) / LANES);
      switch (vectors) {
        case 8: add_chunk<8>(c, begin, n, shares, stride, d); break;
        case 7: add_chunk<7>(c, begin, n, shares, stride, d); break;
        case 6: add_chunk<6>(c, begin, n, shares, stride, d); break;
        case 5: add_chunk<5>(c, begin, n, shares, stride, d); break;
        case 4: add_chunk<4>(c, begin, n, shares, stride, d); break;
        case 3: add_chunk<3>(c, begin, n, shares, stride, d); break;
        case 2: add_chunk<2>(c, begin, n, shares, stride, d); break;
        default: add_chunk<1>(c, begin, n, shares, stride, d);
      }
    }
  }

  template <int N>
  void add_chunk(int c, int begin, int n, const double* shares, int stride, int d) {
    double* shift = sums_.shifts.data() + size_t(c) * Dp_ + d;
    Doubles sum[N], mu[N];
    for (int v = 0; v < N; ++v) {
      sum[v] = load<Doubles>(shift + v * LANES);
      mu[v] = load<Doubles>(mean(c) + d + v * LANES);
    }
    for (int r = 0; r < n; ++r) {
      const double share = shares[size_t(r) * stride];
      if (share == 0.0) continue;
      const double* y = row(begin + r) + d;
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) sum[v] += share * (load<Doubles>(y + v * LANES) - mu[v]);
    }
    for (int v = 0; v < N; ++v) store(shift + v * LANES, sum[v]);
  }
};

}  // namespace cprime::CPRIME_PATH
