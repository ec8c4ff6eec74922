// k-means from its seeds to its end: the loop of em.py for C' = 1, nobody looking on.
#pragma once

#include <functional>
#include <vector>

#include "values.hpp"

namespace cprime {

struct LloydRules {
  int max_iter = 0, leaf_rows = 0;
  bool by_gain = false;        // whether a fit converges by what F gains, not by how far means move
  double within = 0.0;         // gain, or sum of squared moves, that counts as none
  double floor = 0.0;          // of the variance
  double variance = 0.0;       // held at this, unless 0
  double variance_init = 0.0;  // to start from, unless 0
  double reluctance = 1.0;
  bool as_float = false;  // whether the means that are returned are float32
};

// What a step of em.py tells.
struct LloydStep {
  double free_energy, expected, variance, seconds;
  double evaluations, changed;  // whole numbers
};

enum class LloydEnd {
  UNFINISHED = 0,   // interrupted
  MAX_ITER = 1,
  STRICT = 2,       // no row changed clusters
  WITHIN = 3,       // F gained, or means moved, less than was asked for
  HANDED_BACK = 4,  // something unusual, which is em.py's to deal with
};

// One restart. Arrays are the caller's.
struct LloydRun {
  const double* seeds = nullptr;            // C x D
  double* means = nullptr;                  // of the last step, C x D
  double* centers = nullptr;                // the same as they are returned
  double *counts = nullptr, *shifts = nullptr;  // of the last sweep, C and C x D
  int32_t* labels = nullptr;                // n

  LloydEnd end = LloydEnd::UNFINISHED;
  double least = 0.0;  // gain, or sum of squared moves, of the last iteration
  std::vector<LloydStep> steps;
  // Of the last sweep; F under the means that are returned.
  double scatter = 0.0, expected_sum = 0.0, weight = 0.0, variance = 0.0, free_energy = 0.0;
  int64_t evaluations = 0, changed = 0;
};

// Runs one restart on one thread. `check` is called between sweeps, and may throw.
class Lloyd {
 public:
  // `sweep` says which rows with which weights; `largest` is the largest absolute value of
  // every feature, of rows that have weight.
  Lloyd(const Sweep& sweep, const LloydRules& rules, int C, const double* largest, void* scratch);

  void run(LloydRun& run, const std::function<void()>& check);

 private:
  bool sweep(const double* means, double variance, const int32_t* before, double reluctance);
  Sums& slot(size_t i);
  double variance_of(double scatter) const;
  double log_bias(double variance) const;
  double free_energy(double scatter, double variance) const;
  bool has_empty() const;
  bool is_fixed(const double* means) const;
  void maximize(double* means);
  void finish(LloydRun& run);

  Sweep sweep_;
  const LloydRules rules_;
  const int C_, D_, Dp_;
  const double* largest_;
  void* scratch_;
  Clusters clusters_;
  std::vector<Sums> slots_;
  std::vector<int32_t> before_, after_;
  std::vector<double> next_;
  double taken_ = 0.0, moved_ = 0.0;  // what the M-step takes from the scatter; how far means moved
};

}  // namespace cprime
