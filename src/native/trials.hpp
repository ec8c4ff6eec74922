// Rows, their nearest seeds, and rows that may become seeds.
#pragma once

#include "values.hpp"

namespace cprime {

struct Trials {
  Rows rows;
  const double* weights = nullptr;
  int64_t weight_stride = 1;
  double* nearest = nullptr;  // squared distance of each row to its nearest seed
  int32_t* owner = nullptr;   // which one that is
  Clusters trials;            // means and panels
  // For every row a bit for each trial, in sixteens, that may be nearer than its nearest seed.
  uint16_t* near = nullptr;
  // A quarter of the squared distance of each seed to the nearest trial; rounded down.
  std::vector<double> reach;

  int words() const { return trials.panels.width / 16; }
  double weight(int64_t n) const { return weights[n * weight_stride]; }
};

// A row that is nearer to another one than to its nearest seed.
struct Follower {
  int32_t row, of;
  double distance;  // squared
};

}  // namespace cprime

#ifdef CPRIME_ISA
namespace cprime::CPRIME_ISA {

// Makes rows the trials, and notes how far they are from n seeds.
void set_trials(Trials&, const int64_t* rows, int n_trials, const double* seeds, int n_seeds);

// Notes which trials may be nearer to rows than their nearest seed. `losses`, unless null, become
// the sum over rows of weight * min(nearest, distance to the trial), for every trial. Returns how
// many distances were computed.
int64_t try_trials(const Trials&, int64_t first, int count, double* losses, void* scratch);

// Makes a trial seed number `seed`: updates which seed is nearest, and how near.
void accept_trial(const Trials&, int trial, int seed, int64_t first, int count, void* scratch);

// Appends all that follow one another, of which one is among rows first .. first + count and the other is it or a
// later one. Rows are in order of `nearest`, the squared distances to their seeds: the farthest come first.
void list_followers(const Clusters& rows, const double* nearest, int64_t first, int count,
                    std::vector<Follower>& found, void* scratch);

}  // namespace cprime::CPRIME_ISA
#endif
