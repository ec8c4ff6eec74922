// A sweep over all leaves, shared out among threads.
#pragma once

#include "calls.hpp"
#include "tree.hpp"

namespace cprime {

inline void run(int64_t n, double work, const std::function<void(int64_t, void*)>& task) {
  without_gil([&] {
    Scratch scratch;
    run_unlocked(n, work, scratch, task);
  });
}

inline double work_of(const Rows& rows, const Clusters& clusters) {
  return double(rows.n) * clusters.D * clusters.C;
}

inline std::vector<Tree::Node> sweep_leaves(const Sweep& sweep, int leaf_rows) {
  const Clusters& clusters = *sweep.clusters;
  const int64_t n_leaves = (sweep.rows.n + leaf_rows - 1) / leaf_rows;
  Tree tree(clusters.C, clusters.Dp, clusters.scatter_size());
  run(n_leaves, work_of(sweep.rows, clusters), [&](int64_t leaf, void* scratch) {
    auto sums = tree.empty();
    const int64_t first = leaf * leaf_rows;
    const int count = int(std::min<int64_t>(leaf_rows, sweep.rows.n - first));
    isa().sweep_leaf(sweep, first, count, *sums, scratch);
    tree.add(leaf, std::move(sums));
  });
  return tree.take();
}

}  // namespace cprime
