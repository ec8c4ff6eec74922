#pragma once

#include "ranking.hpp"
#include "values.hpp"

namespace cprime::CPRIME_ISA {

// Rows first .. first + count of one leaf, each with a share in every cluster.
void sweep_all_clusters(const Sweep&, int64_t first, int count, Sums&, Workspace&);

}  // namespace cprime::CPRIME_ISA
