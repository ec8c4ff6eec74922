// What a fit remembers from one sweep to the next: bounds of its rows.
#pragma once

#include <memory>
#include <vector>

#include "isa.hpp"

namespace cprime {

class HintStore {
 public:
  HintStore(int64_t n, int C);

  // Counts sweeps; a K of another sweep has other bounds. Negative while one is under way:
  // until it is complete the bounds belong to no K at all.
  int64_t serial() const { return serial_; }
  // Bytes of memory; those of the means, which blocks of one sweep share, are not counted.
  size_t nbytes() const;
  void open() { serial_ = -std::abs(serial_) - 1; }
  void close(const Clusters& clusters);

  // Lets a sweep read the bounds and change them; if they are `known`, says how far clusters
  // moved since.
  void lend(const Clusters& clusters, bool known, Hints& hints);

 private:
  void measure_steps(const Clusters& clusters, Hints& hints);

  const bool wide_;
  std::vector<uint16_t> narrow_lists_;
  std::vector<int32_t> wide_lists_;
  std::vector<float> nearer_, rest_, reach_, step_;
  double unit_ = 1.0;
  std::shared_ptr<const Buffer<double>> means_;  // those the bounds hold for, C x Dp
  int64_t serial_ = 0;
};

}  // namespace cprime
