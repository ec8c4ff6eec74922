// Some rows of one leaf, and where everything of theirs lies.
#pragma once

#include "ranking.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

class Block {
 public:
  Block(const Sweep& sweep, int64_t first, int n, Sums& sums, Workspace& work)
      : sweep_(sweep),
        clusters_(*sweep.clusters),
        first_(first),
        n_(n),
        Dp_(clusters_.Dp),
        C_prime_(sweep.C_prime),
        sums_(sums),
        work_(work) {}

 protected:
  double* row(int r) { return work_.rows.data() + size_t(r) * Dp_; }
  double* kept(int r) { return work_.kept.data() + size_t(r) * C_prime_; }
  int32_t* after(int r) { return sweep_.after + (first_ + r) * C_prime_; }
  const int32_t* before(int r) const {
    return sweep_.before == nullptr ? nullptr : sweep_.before + (first_ + r) * sweep_.n_before;
  }
  double weight(int r) const { return sweep_.weights[(first_ + r) * sweep_.weight_stride]; }
  const double* mean(int c) const { return clusters_.mean(c); }

  const Sweep& sweep_;
  const Clusters& clusters_;
  const int64_t first_;
  const int n_, Dp_, C_prime_;
  Sums& sums_;
  Workspace& work_;
};

}  // namespace cprime::CPRIME_ISA
