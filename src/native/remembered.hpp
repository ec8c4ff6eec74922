// What a fit remembers from one sweep to the next: bounds of its rows, and sums that follow
// the rows which move.
#pragma once

#include <vector>

#include "path.hpp"
#include "tree.hpp"

namespace cprime {

class Remembered {
 public:
  Remembered(int64_t n, int C);

  // Counts sweeps; a K of another sweep has other bounds. Negative while one is under way:
  // until it is complete the bounds belong to no K at all.
  int64_t serial() const { return serial_; }
  void open() { serial_ = -std::abs(serial_) - 1; }
  void close(const Clusters& clusters);

  // Lets a sweep read the bounds and change them; if they are `known`, says how far clusters
  // moved since.
  void lend(const Clusters& clusters, bool known, Hints& hints);

  // Whether sums of the sweep before can be brought up to date, with one cluster per row.
  bool can_follow(const Clusters& clusters);
  // The means those sums are about.
  const double* anchors() const { return anchors_.data(); }
  // Takes in what changed; false if rounding errors would show.
  bool follow(const std::vector<Tree::Node>& changes, const Clusters& clusters);
  // The sums over all rows, about the means of this sweep. `last` is its last node.
  Tree::Node about_means(const Sweep& sweep, const Tree::Node& last) const;
  // Takes the sums of a sweep that added up all rows.
  void start_over(const std::vector<Tree::Node>& nodes, const Sweep& sweep);

 private:
  void measure_steps(const Clusters& clusters, Hints& hints);
  double gained(const Clusters& clusters) const;
  double drift(const Clusters& clusters) const;
  bool is_coarse(const Clusters& clusters) const;

  const bool wide_;
  std::vector<uint16_t> narrow_lists_;
  std::vector<int32_t> wide_lists_;
  std::vector<float> nearer_, rest_, reach_, step_;
  double unit_ = 1.0;
  Buffer<double> means_;  // those the bounds hold for, C x Dp
  int64_t serial_ = 0;

  Buffer<double> anchors_;
  Sums sums_;
  int age_ = 0;           // sweeps since every row was added up
  bool is_even_ = false;  // whether weights are so alike that none hides another's
};

}  // namespace cprime
