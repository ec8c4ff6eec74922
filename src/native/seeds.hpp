// Choosing rows as seeds, far from one another: greedy k-means++.
#pragma once

#include <functional>

#include "trials.hpp"

namespace cprime {

// Runs task(first, count, memory of a thread) over all rows, in parts that do not depend on the
// number of threads; throws if a person interrupts.
using RowsTask = std::function<void(int64_t, int, void*)>;
using ForRows = std::function<void(double work, const RowsTask&)>;
constexpr int SEED_ROWS = 1024;  // of one part
constexpr int MOST_SEED_TRIALS = 256;  // scored at once

// Multiply-adds of looking at so many trials, most rows being out of reach.
inline double work_of_trials(int64_t n, int D, int n_trials) {
  return double(n) * (D + 16) * padded(n_trials) / 4;
}

// Draws seeds one after another; each is the best of some trials.
class SeedDraw {
 public:
  // `line` has all rows, in the order in which their masses are cumulated.
  SeedDraw(const Rows& rows, const int64_t* line, const double* weights, int64_t weight_stride,
           ForRows for_rows);

  // Makes the row at this position the first seed.
  void begin(int64_t position);
  // Tries rows at these points, in [0, 1), of the cumulated weight * distance^2, and takes the
  // one that leaves the lowest loss.
  void add(const double* points, int n_trials);

  const std::vector<int64_t>& chosen() const { return chosen_; }
  int64_t evaluations() const { return evaluations_; }

 private:
  void cumulate();
  int64_t drawn(double point) const;
  int best_trial();
  void set_trials();
  void accept(int trial);

  const int64_t n_;
  const int64_t* line_;
  ForRows for_rows_;
  Trials job_;
  std::vector<double> nearest_, masses_, cumulated_, parts_;
  std::vector<int32_t> owner_;
  std::vector<uint16_t> near_;
  Buffer<double> seeds_;  // rows chosen so far, padded
  std::vector<int64_t> chosen_, tried_;
  int64_t evaluations_ = 0;
};

}  // namespace cprime
