// Rows, their nearest seeds, and rows that may become seeds.
#pragma once

#include "values.hpp"

namespace cprime {

struct Trials {
  Rows rows;
  const double* weights = nullptr;
  int64_t weight_stride = 1;
  const double* nearest = nullptr;  // squared distance of each row to its nearest seed
  const int32_t* owner = nullptr;   // which one that is
  const Clusters* trials = nullptr;
  // A quarter of the squared distance of each seed to each trial, trials padded to eight;
  // rounded down.
  const double* quarter_apart = nullptr;
};

}  // namespace cprime

#ifdef CPRIME_PATH
namespace cprime::CPRIME_PATH {

// sum over rows of weight * min(nearest, distance to the trial), for every trial. Both
// return how many distances they computed.
int64_t trial_losses(const Trials&, int64_t first, int count, double* losses);

// Makes the first trial seed number `seed`: updates which seed is nearest, and how near.
int64_t accept_trial(const Trials&, int seed, int64_t first, int count, double* nearest,
                     int32_t* owner);

}  // namespace cprime::CPRIME_PATH
#endif
