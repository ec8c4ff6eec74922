// One implementation of everything hot, compiled for one instruction set (ISA) of vector units.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "partial.hpp"
#include "trials.hpp"
#include "values.hpp"

namespace cprime {

struct Isa {
  const char* name;
  // Memory of one thread, for any of the following.
  std::shared_ptr<void> (*make_scratch)();
  // One row as float64, padded with zeros.
  void (*load)(const Rows&, int64_t row, double* out);
  void (*pack)(Clusters&);
  void (*pack_some)(const Clusters&, const int32_t* which, int n, Panels&);
  void (*pack_columns)(Clusters&);
  void (*pack_centred)(const Clusters&, Centred&);
  // All of Neighbours but what is known of anchors, which follows for those from `first` on.
  void (*pack_neighbours)(const Clusters&, int n_anchors, Neighbours&);
  void (*score_neighbours)(const Clusters&, const double* anchors, int first, int count, Neighbours&,
                           void* scratch);
  // For clusters that are whitened feature by feature.
  void (*pack_screen)(Clusters&);
  // From one cluster to the nearest of n others, itself left out.
  double (*nearest_of)(const Clusters&, int c, const int32_t* others, int n);
  // Rows first .. first + count of one leaf.
  void (*sweep_leaf)(const Sweep&, int64_t first, int count, Sums&, void* scratch);
  // Means as a partial search reads them.
  void (*pack_mean_rows)(const Clusters&, MeanRows&);
  // Finds what rows order[begin] .. order[end] keep; returns how many distances that took.
  int64_t (*search_partly)(const Sweep&, const Partial&, int64_t begin, int64_t end, void* scratch);
  // Lists the `wanted` clusters near each from `first` on, out of its list and those of the first
  // `n_spread` on that.
  int64_t (*list_clusters)(const Clusters&, const int32_t* lists, int n_listed, int n_spread, int wanted,
                           int first, int count, int32_t* out, void* scratch);
  // The C' closest clusters, best first; `distances` may be null.
  void (*closest)(const Rows&, const Clusters&, int C_prime, int64_t first, int count,
                  int32_t* K, double* distances, void* scratch);
  // Clusters, of which `number` is the first, that are nearer than the nearest so far; neighbours of
  // those so far, or null.
  void (*nearer)(const Rows&, const Clusters&, const Neighbours*, int32_t number, int64_t first, int count, double* nearest,
                 int32_t* owner, void* scratch);
  void (*gaps)(const Rows&, const Clusters&, const Centred&, const int32_t* K, int C_prime,
               double sharpness, int64_t first, int count, double* gaps, void* scratch);
  void (*distances)(const Rows&, const Clusters&, int64_t first, int count, double* out,
                    void* scratch);
  void (*set_trials)(Trials&, const int64_t* rows, int n_trials, const double* seeds, int n_seeds);
  int64_t (*try_trials)(const Trials&, int64_t first, int count, double* losses, void* scratch);
  void (*accept_trial)(const Trials&, int trial, int seed, int64_t first, int count, void* scratch);
  // Rows that follow one another, of which one is among those from `first` on.
  void (*list_followers)(const Clusters& rows, const double* nearest, int64_t first, int count,
                         std::vector<Follower>& found, void* scratch);
  // log sum exp of rows first .. first + count of a table, whose values are at most 0.
  void (*log_sums)(const double* table, int n_columns, int64_t first, int count, double* out);
  // The largest absolute value of so many; NaN if one of them is.
  double (*magnitude)(const void* values, bool is_double, int64_t first, int64_t count);
  double (*multiply_adds)(int64_t rounds);
};

// The instruction sets this machine has, best first, and the one in use: the best, unless a user
// asked for another.
std::vector<std::string> isa_names();
void use_isa(const std::string& name);
const Isa& isa();

// Set when a person interrupts: long work looks at it and returns early.
extern thread_local const std::atomic<bool>* stop_requested;

inline bool stopping() {
  return stop_requested != nullptr && stop_requested->load(std::memory_order_relaxed);
}

}  // namespace cprime
