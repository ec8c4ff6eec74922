// Which rows would follow this one, if it became a seed: are nearer to it than to their nearest seed?
#pragma once

#include <functional>

#include "trials.hpp"

namespace cprime {

// Runs task(first, count, memory of a thread) over all rows, in parts that do not depend on the
// number of threads; throws if a person interrupts.
using RowsTask = std::function<void(int64_t, int, void*)>;
using ForRows = std::function<void(double work, const RowsTask&)>;
constexpr int SEED_ROWS = 1024;  // of one part

// Lists of them for every row. As seeds are added, rows leave the lists, and none comes to join them: found once,
// they tell what a trial gains without a look at any other row.
class Followers {
 public:
  // Finds them among these rows, unless all lists together are too long: returns whether it has.
  bool find(const Rows& rows, std::vector<int32_t> among, const double* nearest, const ForRows& for_rows);

  bool are_known() const { return !starts_.empty(); }
  int64_t evaluations() const { return evaluations_; }

  // Calls use(row, squared distance) for those of this row.
  template <class Use>
  void visit(int64_t of, Use use) const {
    for (int64_t i = starts_[size_t(of)]; i < starts_[size_t(of) + 1]; ++i) use(rows_[size_t(i)], distances_[size_t(i)]);
  }

 private:
  void list(const std::vector<std::vector<Follower>>& parts, int64_t n_rows);

  std::vector<int64_t> starts_;  // where the list of each row begins, and the last ends
  std::vector<int32_t> rows_;
  std::vector<double> distances_;
  int64_t evaluations_ = 0;
};

}  // namespace cprime
