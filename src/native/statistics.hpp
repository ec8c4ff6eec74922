// Sums over the rows of a block, once it is known which clusters they keep.
#pragma once

#include <cmath>

#include "load.hpp"
#include "hint_access.hpp"

namespace cprime::CPRIME_ISA {

// Rows between asking for one and adding it: memory is slower than additions are.
constexpr int ASKED_AHEAD = 16;

class Statistics : public HintAccess {
 public:
  using HintAccess::HintAccess;

 protected:
  void count_changes() {
    for (int r = 0; r < n_; ++r) {
      const bool changed = sweep_.before == nullptr || sweep_.n_before != C_prime_ ||
                           (C_prime_ == 1 ? before(r)[0] != after(r)[0] : differs(before(r), after(r)));
      sums_.changed += changed && weight(r) != 0.0;
    }
  }

  // Whether two rows of clusters differ as sets.
  bool differs(const int32_t* one, const int32_t* other) {
    if (std::equal(one, one + C_prime_, other)) return false;
    // As often here as there: a row that was moved to an empty cluster has it in all places.
    auto& balance = work_.balance;
    if (balance.size() < size_t(clusters_.C)) balance.resize(size_t(clusters_.C));
    for (int j = 0; j < C_prime_; ++j) {
      ++balance[one[j]];
      --balance[other[j]];
    }
    bool differ = false;
    for (int j = 0; j < C_prime_; ++j) differ |= balance[one[j]] != 0;
    for (int j = 0; j < C_prime_; ++j) balance[one[j]] = balance[other[j]] = 0;
    return differ;
  }

  template <class RowAt>
  void accumulate_hard(RowAt row_at) {
    double scatter = 0.0, free_energy = 0.0, total = 0.0;
    for (int r = 0; r < n_; ++r) {
      if (r + ASKED_AHEAD < n_) prefetch(row_at(r + ASKED_AHEAD));
      const double w = weight(r);
      if (w == 0.0) continue;
      const int c = after(r)[0];
      const double d = add_row(c, w, row_at(r));
      scatter += w * d;
      free_energy += w * (sweep_.highest_bias - sweep_.sharpness * (d + clusters_.penalty[c]));
      total += w;
    }
    sums_.scatter += scatter;
    sums_.quantization_error += scatter;
    sums_.free_energy += free_energy;
    sums_.weight += total;
  }

  void accumulate_soft() {
    find_shares();
    for (int r = 0; r < n_; ++r)
      for (int j = 0; j < C_prime_; ++j) {
        const double share = shares(r)[j];
        if (share == 0.0) continue;
        const int c = after(r)[j];
        add_row(c, share, LoadedRow{row(r)});
        if (clusters_.whitened == Clusters::Whitening::OF_CLUSTERS) sums_.scatters[c] += share * kept(r)[j];
      }
  }

  // The shares w q of the clusters that a row keeps.
  double* shares(int r) { return work_.relative.data() + size_t(r) * C_prime_; }

  // Finds the shares of all rows, and adds up what rows have one of; a row in each lane.
  void find_shares() {
    work_.relative.resize(size_t(n_) * C_prime_);
    work_.columns.resize(size_t(3) * C_prime_ * LANES);
    double *distances = work_.columns.data(), *relatives = distances + size_t(C_prime_) * LANES,
           *likely = relatives + size_t(C_prime_) * LANES, *scores = clusters_.handicapped ? relatives : distances;
    Doubles scatter{}, entropy{}, free_energy{}, weights{};
    double quantization_error = 0.0;
    for (int begin = 0; begin < n_; begin += LANES) {
      const int n = std::min(LANES, n_ - begin);
      Doubles w{}, best = all<Doubles>(INFINITY), total{};
      for (int lane = 0; lane < LANES; ++lane) {
        // Lanes behind the last row repeat it, and weigh nothing.
        const int r = std::min(begin + lane, n_ - 1);
        if (lane < n) w[lane] = weight(r);
        const double* of_row = kept(r);
        for (int j = 0; j < C_prime_; ++j) distances[j * LANES + lane] = of_row[j];
        if (clusters_.handicapped)
          for (int j = 0; j < C_prime_; ++j) scores[j * LANES + lane] = score(r, j);
      }
      for (int j = 0; j < C_prime_; ++j) best = lower(load<Doubles>(scores + j * LANES), best);
      for (int j = 0; j < C_prime_; ++j) {
        const Doubles relative = sweep_.sharpness * (best - load<Doubles>(scores + j * LANES));
        const Doubles weight_of = exponential(relative);
        total += weight_of;
        store(relatives + j * LANES, relative);
        store(likely + j * LANES, weight_of);
      }
      const Doubles log_total = logarithm(total);
      Doubles surprise{}, of_rows{};
      for (int j = 0; j < C_prime_; ++j) {
        const Doubles q = load<Doubles>(likely + j * LANES) / total, share = w * q;
        const Doubles surprising = q * load<Doubles>(relatives + j * LANES);
        const Doubles scattered = share * load<Doubles>(distances + j * LANES);
        // What has no probability has no surprise either, however far it is.
        surprise += q == 0.0 ? Doubles{} : surprising;
        of_rows += share == 0.0 ? Doubles{} : scattered;
        store(likely + j * LANES, share);
      }
      for (int lane = 0; lane < n; ++lane)
        for (int j = 0; j < C_prime_; ++j)
          shares(begin + lane)[j] = w[lane] == 0.0 ? 0.0 : likely[j * LANES + lane];
      const auto weighted = [&](const Doubles& of) { return w == 0.0 ? Doubles{} : w * of; };
      scatter += w == 0.0 ? Doubles{} : of_rows;
      // J in the order of rows, as rows of one cluster add it up: it is the same number.
      for (int lane = 0; lane < n; ++lane)
        if (w[lane] != 0.0) quantization_error += w[lane] * distances[lane];
      entropy += weighted(log_total - surprise);
      free_energy += weighted(sweep_.highest_bias - sweep_.sharpness * best + log_total);
      weights += w;
    }
    sums_.scatter += folded(scatter);
    sums_.quantization_error += quantization_error;
    sums_.entropy += folded(entropy);
    sums_.free_energy += folded(free_energy);
    sums_.weight += folded(weights);
  }

  double score(int r, int j) { return kept(r)[j] + clusters_.penalty[after(r)[j]]; }

  // Adds w and w (y - mu) to what a cluster has; returns ||y - mu||^2.
  template <class Row>
  [[gnu::always_inline]] double add_row(int c, double w, const Row& y) {
    const double* mu = mean(c);
    double* shift = sums_.shifts.data() + size_t(c) * Dp_;
    Doubles squares{};
    sums_.meet(c);
    sums_.counts[c] += w;
    for (int d = 0; d < Dp_; d += LANES) {
      const Doubles difference = y.at(d) - load<Doubles>(mu + d);
      squares += difference * difference;
      store(shift + d, load<Doubles>(shift + d) + w * difference);
    }
    return folded(squares);
  }
};

}  // namespace cprime::CPRIME_ISA
