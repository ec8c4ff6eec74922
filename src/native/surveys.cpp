// What a fit asks of all rows before it begins: their mean and variance, their order on a line.
#include "surveys.hpp"

#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bindings.hpp"
#include "leaves.hpp"

namespace cprime {
namespace {

using namespace nb::literals;

// Rows per task where no leaf matters.
constexpr int CHUNK = 1024;

// The sums of a sweep of rows that all belong to one cluster, added up as LeafSum does.
Sums sums_about(Sweep& sweep, Clusters& cluster, int leaf_rows) {
  isa().pack(cluster);
  sweep.clusters = &cluster;
  auto nodes = sweep_leaves(sweep, leaf_rows);
  for (size_t i = nodes.size() - 1; i > 0; --i)
    nodes[i - 1].sums->take(*nodes[i].sums, cluster.Dp, 0);
  return std::move(*nodes[0].sums);
}

// EM with one cluster, from this row: sets its mean, and returns the variance about it, averaged
// over features.
double one_cluster(const PyRows& from, const Doubles1& weights, int64_t start, int leaf_rows, Out<double> mean) {
  const int D = from.rows.D;
  if (int(mean.size()) != D || start < 0 || start >= from.rows.n)
    throw std::invalid_argument("a mean has as many features as rows, and starts at one of them");
  Clusters cluster;
  cluster.C = 1;
  cluster.D = D;
  cluster.Dp = padded(D);
  cluster.means.assign(size_t(cluster.Dp), 0.0);
  cluster.penalty.assign(size_t(padded(1)), INFINITY);
  cluster.penalty[0] = 0.0;
  isa().load(from.rows, start, cluster.means.data());
  Sweep sweep;
  sweep.rows = from.rows;
  sweep.weights = weights.data();
  sweep.weight_stride = weights.stride(0);
  const Sums first = sums_about(sweep, cluster, leaf_rows);
  for (int d = 0; d < D; ++d) cluster.means[size_t(d)] += first.shifts[size_t(d)] / first.weight;
  const Sums second = sums_about(sweep, cluster, leaf_rows);
  std::copy_n(cluster.means.data(), D, mean.data());
  return second.scatter / (D * second.weight);
}

struct Place {
  double at;
  int64_t row;
};

// Orders rows that share a place by their values. Returns for each whether it differs from the
// one before.
std::vector<uint8_t> order_by_value(const Rows& rows, Place* begin, Place* end) {
  const size_t n = size_t(end - begin), D = size_t(rows.D), Dp = size_t(padded(rows.D));
  Buffer<double> values(n * Dp);
  for (size_t i = 0; i < n; ++i) isa().load(rows, begin[i].row, values.data() + i * Dp);
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  const auto of = [&](size_t i) { return values.data() + i * Dp; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::lexicographical_compare(of(a), of(a) + D, of(b), of(b) + D);
  });
  const std::vector<Place> before(begin, end);
  std::vector<uint8_t> differs(n, 1);
  for (size_t i = 0; i < n; ++i) {
    begin[i] = before[order[i]];
    if (i > 0) differs[i] = !std::equal(of(order[i]), of(order[i]) + D, of(order[i - 1]));
  }
  return differs;
}

// Lines rows up along a direction, those in the same place by value: sets the `order` of rows, and
// for each of them, so ordered, a number that only its copies share.
void line_up(const PyRows& from, const Doubles1& direction, const Doubles1& middle, Out<int64_t> order,
             Out<int64_t> copies) {
  const Rows& rows = from.rows;
  const int D = rows.D;
  if (int(direction.shape(0)) != D || int(middle.shape(0)) != D)
    throw std::invalid_argument("rows and their direction differ in features");
  std::vector<Place> places(size_t(rows.n));
  run((rows.n + CHUNK - 1) / CHUNK, double(rows.n) * D, [&](int64_t chunk, void*) {
    Buffer<double> y(size_t(padded(D)));
    for (int64_t n = chunk * CHUNK; n < std::min(rows.n, (chunk + 1) * CHUNK); ++n) {
      isa().load(rows, n, y.data());
      double at = 0.0;
      for (int d = 0; d < D; ++d)
        at += (y[size_t(d)] - middle.data()[d * middle.stride(0)]) * direction.data()[d * direction.stride(0)];
      places[size_t(n)] = {at, n};
    }
  });
  without_gil([&] {
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.at < b.at || (a.at == b.at && a.row < b.row); });
    int64_t copy = 0;
    for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
      while (end < places.size() && places[end].at == places[begin].at) ++end;
      const auto differs = end - begin == 1 ? std::vector<uint8_t>{1}
                                            : order_by_value(rows, places.data() + begin, places.data() + end);
      for (size_t i = begin; i < end; ++i) {
        copy += differs[i - begin];
        order.data()[i] = places[i].row;
        copies.data()[i] = copy;
      }
    }
  });
}

}  // namespace

void bind_surveys(nb::module_& m) {
  m.def("one_cluster", &one_cluster, nb::kw_only(), "rows"_a, "weights"_a, "start"_a, "leaf_rows"_a, "mean"_a);
  m.def("line_up", &line_up, nb::kw_only(), "rows"_a, "direction"_a, "middle"_a, "order"_a, "copies"_a);
}

}  // namespace cprime
