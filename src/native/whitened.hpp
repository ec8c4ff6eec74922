// Clusters with whitenings of their own: distances to all of them, in float64.
#pragma once

#include "ranking.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

// Rows first .. first + count of one leaf, which keep some of the clusters.
void sweep_whitened(const Sweep&, int64_t first, int count, Sums&, Workspace&);

// The C' closest clusters, best first; `distances` may be null.
void closest_whitened(const Rows&, const Clusters&, int C_prime, int64_t first, int count, int32_t* K,
                      double* distances, Workspace&);

// Numbers between which rows lie in `everything`: the distances of each to all clusters.
inline int distance_stride(const Clusters& clusters) { return padded(clusters.C); }

}  // namespace cprime::CPRIME_ISA
