// Choosing rows as seeds, far from one another: greedy k-means++.
#pragma once

#include "followers.hpp"
#include "masses.hpp"

namespace cprime {

constexpr int MOST_SEED_TRIALS = 256;  // scored at once

// Multiply-adds of looking at so many trials, most rows being out of reach.
inline double work_of_trials(int64_t n, int D, int n_trials) {
  return double(n) * (D + 16) * padded(n_trials) / 4;
}

// Draws seeds one after another; each is the best of some trials.
class SeedDraw {
 public:
  // `line` has all rows, in the order in which their masses are cumulated; `n_seeds` are to be drawn.
  SeedDraw(const Rows& rows, const int64_t* line, const double* weights, int64_t weight_stride,
           int64_t n_seeds, ForRows for_rows);

  // Makes the row at this position the first seed.
  void begin(int64_t position);
  // Tries rows at these points, in [0, 1), of the cumulated weight * distance^2, and takes the
  // one that leaves the lowest loss.
  void add(const double* points, int n_trials);

  const std::vector<int64_t>& chosen() const { return chosen_; }
  int64_t evaluations() const { return evaluations_ + followers_.evaluations(); }

 private:
  void set_masses();
  int best_trial();
  int best_by_followers();
  int first_of_lowest(const std::vector<double>& losses) const;
  void set_trials();
  void accept(int trial);
  void accept_followed(int trial);
  bool followers_pay(int n_trials) const;
  void find_followers();

  const int64_t n_, n_seeds_;
  const int64_t* line_;
  ForRows for_rows_;
  Trials job_;
  Masses masses_;                    // weight * distance^2 along the line
  std::vector<double> nearest_, parts_;
  std::vector<int32_t> owner_;
  std::vector<uint16_t> near_;
  Buffer<double> seeds_;  // rows chosen so far, padded
  std::vector<int64_t> chosen_, tried_;
  Followers followers_;
  int64_t seeds_before_followers_;   // when they are to be found, or tried to be found again
  std::vector<int64_t> position_;    // of rows on the line; if followers are known
  int64_t evaluations_ = 0;
};

}  // namespace cprime
