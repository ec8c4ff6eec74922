#include "followers.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "isa.hpp"

namespace cprime {
namespace {

constexpr int64_t MOST_FOLLOWERS = 256;  // of a row, on average

}  // namespace

bool Followers::find(const Rows& rows, std::vector<int32_t> among, const double* nearest, const ForRows& for_rows) {
  const int64_t n = int64_t(among.size());
  // A row that is nearer to its seed than another is no farther from it than that one may be: so each pair is
  // looked at once, by the row that is farther from its seed.
  std::stable_sort(among.begin(), among.end(), [&](int32_t a, int32_t b) { return nearest[a] > nearest[b]; });
  Clusters all;
  all.C = int(n);
  all.D = rows.D;
  all.Dp = padded(rows.D);
  all.means.resize(size_t(n) * size_t(all.Dp));
  all.penalty.assign(size_t(padded(all.C)), 0.0);
  Buffer<double> limits(size_t(n), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    isa().load(rows, among[size_t(i)], all.means.data() + size_t(i) * size_t(all.Dp));
    limits[size_t(i)] = nearest[among[size_t(i)]];
  }
  isa().pack(all);
  std::vector<std::vector<Follower>> parts(size_t((n + SEED_ROWS - 1) / SEED_ROWS));
  std::atomic<int64_t> count{0};
  for_rows(0.5 * double(n) * double(n) * rows.D, [&](int64_t first, int size, void* scratch) {
    if (first >= n || count > MOST_FOLLOWERS * n) return;
    auto& part = parts[size_t(first / SEED_ROWS)];
    isa().list_followers(all, limits.data(), first, int(std::min<int64_t>(size, n - first)), part, scratch);
    count += int64_t(part.size());
  });
  evaluations_ += n * (n + 1) / 2;
  if (count > MOST_FOLLOWERS * n) return false;
  for (auto& part : parts)
    for (Follower& found : part) {
      found.row = among[size_t(found.row)];
      found.of = among[size_t(found.of)];
    }
  list(parts, rows.n);
  return true;
}

void Followers::list(const std::vector<std::vector<Follower>>& parts, int64_t n_rows) {
  starts_.assign(size_t(n_rows) + 1, 0);
  for (const auto& part : parts)
    for (const Follower& found : part) ++starts_[size_t(found.of) + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  rows_.resize(size_t(starts_.back()));
  distances_.resize(size_t(starts_.back()));
  std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
  for (const auto& part : parts)
    for (const Follower& found : part) {
      const size_t place = size_t(next[size_t(found.of)]++);
      rows_[place] = found.row;
      distances_[place] = found.distance;
    }
}

}  // namespace cprime
