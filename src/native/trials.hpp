// Rows in the order of a line, their nearest seeds, and rows that may become seeds.
#pragma once

#include "values.hpp"

namespace cprime {

struct Trials {
  Rows rows;
  const int64_t* line = nullptr;    // which row is at each position of the line
  const double* weights = nullptr;  // from here on in the order of the line
  double* nearest = nullptr;        // squared distance to the nearest seed
  int32_t* owner = nullptr;         // which one that is
  Clusters trials;                  // means and columns only
  // A quarter of the squared distance of each seed to each trial, trials padded to eight;
  // rounded down.
  Buffer<double> quarter_apart;
};

}  // namespace cprime

#ifdef CPRIME_ISA
namespace cprime::CPRIME_ISA {

// Makes rows the trials, and notes how far they are from n seeds.
void set_trials(Trials&, const int64_t* rows, int n_trials, const double* seeds, int n_seeds);

// sum over positions of weight * min(nearest, distance to the trial), for every trial. Both
// return how many distances they computed.
int64_t trial_losses(const Trials&, int64_t first, int count, double* losses);

// Makes a trial seed number `seed`: updates which seed is nearest, and how near.
int64_t accept_trial(const Trials&, int trial, int seed, int64_t first, int count);

}  // namespace cprime::CPRIME_ISA
#endif
