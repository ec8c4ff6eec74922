// The door to Python: arrays in, arrays out, the GIL released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "bindings.hpp"
#include "isa.hpp"
#include "hint_store.hpp"
#include "leaves.hpp"
#include "many_fits.hpp"
#include "seeds.hpp"
#include "surveys.hpp"

namespace nb = nanobind;
using namespace cprime;
using namespace nb::literals;

namespace {

// What threads that work alone look at, to know when they are to stop.
struct Stop {
  std::atomic<bool> wanted{false};
};

// Whether neither sweeps nor seedings of this size are worth threads.
bool is_brief(int64_t n, int C, int D) {
  constexpr int MOST_TRIALS = 16;
  return std::max(double(n) * D * C, work_of_trials(n, D, MOST_TRIALS)) < BRIEF;
}

// Whether it is worth a look at which clusters are near which, before rows look at few.
bool neighbours_pay(const Sweep& sweep) {
  constexpr int FEWEST = 512, MOST = 4096, LEAST_WORK = 6000, ROWS_PER_CLUSTER = 16, MOST_KEPT = 6;
  const Clusters& clusters = *sweep.clusters;
  const int C = clusters.C;
  return sweep.before != nullptr && sweep.C_prime <= MOST_KEPT && (sweep.C_prime == 1 || sweep.reluctance == 1.0) &&
         !clusters.is_whitened() && !clusters.handicapped && C >= FEWEST && C <= MOST &&
         C * clusters.D >= LEAST_WORK && sweep.rows.n >= int64_t(ROWS_PER_CLUSTER) * C;
}

// Anchors are rows of the clusters' padded length.
void find_neighbours(const Clusters& clusters, const double* anchors, int n, Neighbours& neighbours) {
  constexpr int PART = 64;
  isa().pack_neighbours(clusters, n, neighbours);
  run((n + PART - 1) / PART, double(n) * clusters.C * clusters.D, [&](int64_t part, void* scratch) {
    const int first = int(part) * PART;
    isa().score_neighbours(clusters, anchors, first, std::min(PART, n - first), neighbours, scratch);
  });
}

// How many clusters of a list have lists among which those near one are looked for; as the reference.
constexpr int SPREAD = 8;

// Rows by their best clusters, in the order they have.
void order_by_best(const Sweep& sweep, Partial& partial) {
  std::vector<int64_t> places(size_t(sweep.clusters->C) + 1, 0);
  const auto best = [&](int64_t n) { return sweep.before[n * sweep.n_before]; };
  for (int64_t n = 0; n < sweep.rows.n; ++n) ++places[size_t(best(n)) + 1];
  for (size_t c = 1; c < places.size(); ++c) places[c] += places[c - 1];
  partial.order.resize(size_t(sweep.rows.n));
  for (int64_t n = 0; n < sweep.rows.n; ++n) partial.order[size_t(places[size_t(best(n))]++)] = n;
}

// Finds what rows keep; returns how many distances that took.
int64_t search_partly(Sweep& sweep, Partial& partial) {
  constexpr int64_t PART = 2048;
  const Clusters& clusters = *sweep.clusters;
  const int64_t n = sweep.rows.n;
  if (!clusters.is_whitened()) isa().pack_mean_rows(clusters, partial.means);
  std::atomic<int64_t> evaluations{0};
  without_gil([&] { order_by_best(sweep, partial); });
  run((n + PART - 1) / PART, double(n) * partial.n_listed * clusters.D, [&](int64_t part, void* scratch) {
    evaluations += isa().search_partly(sweep, partial, part * PART, std::min(n, (part + 1) * PART), scratch);
  });
  return evaluations;
}

// Rows look at clusters near the best they have, as of Python's Near.
struct PyNear {
  Clusters2 lists;
  int n_explore;
  uint64_t key;
  int64_t first;
};

// Lists of clusters near each, out of those on `lists`; returns how many distances were computed.
int64_t near_clusters(const PyCoefficients& coefficients, const Clusters2& lists, Out<int32_t> out) {
  constexpr int PART = 16;
  const Clusters clusters = make_clusters(coefficients, false);
  const int C = clusters.C, n_listed = int(lists.shape(1)), wanted = int(out.shape(1));
  if (int(lists.shape(0)) != C || int(out.shape(0)) != C || wanted > n_listed)
    throw std::invalid_argument("lists and clusters differ in number");
  std::atomic<int64_t> evaluations{0};
  run((C + PART - 1) / PART, double(C) * n_listed * SPREAD * clusters.D, [&](int64_t part, void* scratch) {
    const int first = int(part) * PART;
    evaluations += isa().list_clusters(clusters, lists.data(), n_listed, std::min(SPREAD, n_listed), wanted, first,
                                       std::min(PART, C - first), out.data(), scratch);
  });
  return evaluations;
}

nb::tuple as_tuple(const Tree::Node& node, const Clusters& clusters) {
  const size_t C = size_t(clusters.C), D = size_t(clusters.D);
  double* counts = new double[C];
  double* shifts = new double[C * D];
  std::copy_n(node.sums->counts.data(), C, counts);
  for (size_t c = 0; c < C; ++c)
    std::copy_n(node.sums->shifts.data() + c * size_t(clusters.Dp), D, shifts + c * D);
  const auto owned = [](double* array) {
    return nb::capsule(array, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  };
  nb::object scatter = nb::cast(node.sums->scatter);
  if (clusters.whitened == Clusters::Whitening::TRIANGLES) {
    double* scatters = new double[C * D * D];
    for (size_t c = 0; c < C; ++c)
      for (size_t i = 0; i < D; ++i)
        for (size_t j = 0; j <= i; ++j)
          scatters[(c * D + i) * D + j] = scatters[(c * D + j) * D + i] =
              node.sums->scatters[c * size_t(clusters.scatter_size()) + size_t(triangle_place(int(i), int(j)))];
    scatter = nb::cast(nb::ndarray<nb::numpy, double>(scatters, {C, D, D}, owned(scatters)));
  } else if (clusters.is_whitened()) {
    const bool of_features = clusters.whitened == Clusters::Whitening::OF_FEATURES;
    const size_t kept = of_features ? D : 1, size = size_t(clusters.scatter_size());
    double* scatters = new double[C * kept];
    for (size_t c = 0; c < C; ++c)
      std::copy_n(node.sums->scatters.data() + c * size, kept, scatters + c * kept);
    scatter = of_features
                  ? nb::cast(nb::ndarray<nb::numpy, double>(scatters, {C, D}, owned(scatters)))
                  : nb::cast(nb::ndarray<nb::numpy, double>(scatters, {C}, owned(scatters)));
  }
  return nb::make_tuple(
      node.start, node.level, nb::ndarray<nb::numpy, double>(counts, {C}, owned(counts)),
      nb::ndarray<nb::numpy, double>(shifts, {C, D}, owned(shifts)), scatter,
      node.sums->quantization_error, node.sums->entropy, node.sums->free_energy, node.sums->weight,
      node.sums->evaluations, node.sums->changed);
}

// Arrays `before` and `after` have a row's C' clusters, or nothing if it keeps all.
nb::tuple sweep(const PyRows& from, const Doubles1& weights, const PyCoefficients& coefficients,
                double reluctance, int C_prime, int leaf_rows, std::optional<Clusters2> before,
                Out<int32_t> after, HintStore* store, bool use_hints, const std::optional<PyNear>& near) {
  const bool all = C_prime == int(coefficients.means.shape(0));
  const Clusters clusters = make_clusters(coefficients, all);
  check_features(from.rows, clusters);
  check_kept(C_prime, clusters);
  Sweep sweep;
  sweep.rows = from.rows;
  sweep.weights = weights.data();
  sweep.weight_stride = weights.stride(0);
  sweep.before = before && !all ? before->data() : nullptr;
  sweep.n_before = sweep.before != nullptr ? int(before->shape(1)) : C_prime;
  sweep.continued = before.has_value();
  sweep.after = after.data();
  sweep.clusters = &clusters;
  sweep.C_prime = C_prime;
  sweep.reluctance = reluctance;
  sweep.sharpness = coefficients.sharpness;
  sweep.highest_bias = coefficients.highest_bias;

  Hints hints;
  if (store != nullptr) {
    store->open();
    {
      // It takes a while if there are many clusters, and other blocks are swept meanwhile.
      nb::gil_scoped_release unlocked;
      store->lend(clusters, use_hints, hints);
    }
    sweep.hints = &hints;
    sweep.use_hints = use_hints;
  }
  int64_t looked_at = 0;
  Neighbours neighbours;
  if (near && sweep.before != nullptr) {
    Partial partial;
    partial.lists = near->lists.data();
    partial.n_listed = int(near->lists.shape(1));
    partial.n_explore = near->n_explore;
    partial.key = near->key;
    partial.first = near->first;
    looked_at = search_partly(sweep, partial);
    sweep.is_decided = true;
  } else if (neighbours_pay(sweep)) {
    find_neighbours(clusters, clusters.means.data(), clusters.C, neighbours);
    sweep.neighbours = &neighbours;
  }
  const auto nodes = sweep_leaves(sweep, leaf_rows);
  nodes[0].sums->evaluations += looked_at;
  if (store != nullptr) store->close(clusters);
  nb::list found;
  for (const auto& node : nodes) found.append(as_tuple(node, clusters));
  return nb::tuple(found);
}

// Rows per task where no leaf matters.
constexpr int CHUNK = 1024;

template <class Task>
void in_chunks(const Rows& rows, double work, Task task) {
  run((rows.n + CHUNK - 1) / CHUNK, work, [&](int64_t chunk, void* scratch) {
    const int64_t first = chunk * CHUNK;
    task(first, int(std::min<int64_t>(CHUNK, rows.n - first)), scratch);
  });
}

void closest(const PyRows& from, const PyCoefficients& coefficients, int C_prime, Out<int32_t> K,
             std::optional<Out<double>> distances) {
  const Clusters clusters = make_clusters(coefficients, false);
  check_features(from.rows, clusters);
  check_kept(C_prime, clusters);
  double* to = distances ? distances->data() : nullptr;
  in_chunks(from.rows, work_of(from.rows, clusters), [&](int64_t first, int count, void* scratch) {
    isa().closest(from.rows, clusters, C_prime, first, count, K.data(), to, scratch);
  });
}

// `owner` has the place of each row's nearest mean among `known`, if there are any.
void nearer(const PyRows& from, const Doubles2& means, const Doubles2& known, Out<double> nearest,
            Out<int32_t> owner) {
  constexpr int FEWEST = 256, ROWS_PER_ANCHOR = 4;
  const int64_t MOST = 1 << 25;
  const Clusters clusters = make_clusters({means, std::nullopt, std::nullopt}, false);
  check_features(from.rows, clusters);
  const int n_known = int(known.shape(0));
  Neighbours neighbours;
  const bool near = clusters.C >= FEWEST && n_known > 0 && from.rows.n >= int64_t(ROWS_PER_ANCHOR) * n_known &&
                    int64_t(n_known) * clusters.C <= MOST;
  if (near) {
    const Clusters anchors = make_clusters({known, std::nullopt, std::nullopt}, false);
    find_neighbours(clusters, anchors.means.data(), n_known, neighbours);
  }
  in_chunks(from.rows, work_of(from.rows, clusters), [&](int64_t first, int count, void* scratch) {
    isa().nearer(from.rows, clusters, near ? &neighbours : nullptr, n_known, first, count, nearest.data(),
                 owner.data(), scratch);
  });
}

void gaps(const PyRows& from, const PyCoefficients& coefficients, const Clusters2& K, Out<double> out) {
  const Clusters clusters = make_clusters(coefficients, true);
  check_features(from.rows, clusters);
  Centred centred;
  if (!clusters.is_whitened()) isa().pack_centred(clusters, centred);
  in_chunks(from.rows, work_of(from.rows, clusters), [&](int64_t first, int count, void* scratch) {
    isa().gaps(from.rows, clusters, centred, K.data(), int(K.shape(1)), coefficients.sharpness, first, count,
                out.data(), scratch);
  });
}

void distances(const PyRows& from, const Doubles2& means, Out<double> out) {
  const Clusters clusters = make_clusters({means, std::nullopt, std::nullopt}, true);
  check_features(from.rows, clusters);
  in_chunks(from.rows, work_of(from.rows, clusters), [&](int64_t first, int count, void* scratch) {
    isa().distances(from.rows, clusters, first, count, out.data(), scratch);
  });
}

using Positions = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns how many distances were computed.
int64_t draw_seeds(const PyRows& from, const Positions& line, const Doubles1& weights, int64_t first,
                   const Doubles2& points, Out<int64_t> chosen) {
  const int64_t n = from.rows.n;
  const int n_trials = int(points.shape(1));
  if (n_trials > MOST_SEED_TRIALS) throw std::invalid_argument("too many trials");
  Scratch of_threads;
  const auto for_rows = [&](double work, const RowsTask& task) {
    run_unlocked((n + SEED_ROWS - 1) / SEED_ROWS, work, of_threads, [&](int64_t part, void* scratch) {
      task(part * SEED_ROWS, int(std::min<int64_t>(SEED_ROWS, n - part * SEED_ROWS)), scratch);
    });
  };
  int64_t evaluations = 0;
  without_gil([&] {
    const int64_t n_seeds = int64_t(chosen.size());
    SeedDraw seeds(from.rows, line.data(), weights.data(), weights.stride(0), n_seeds, for_rows);
    seeds.begin(first);
    // Brief steps do not look for interrupts themselves.
    auto looked = std::chrono::steady_clock::now();
    for (size_t i = 0; i < points.shape(0); ++i) {
      seeds.add(points.data() + i * size_t(n_trials), n_trials);
      if (std::chrono::steady_clock::now() - looked < PATIENCE) continue;
      if (is_interrupted()) throw Interrupted();
      looked = std::chrono::steady_clock::now();
    }
    std::copy(seeds.chosen().begin(), seeds.chosen().end(), chosen.data());
    evaluations = seeds.evaluations();
  });
  return evaluations;
}

void log_sums(const Doubles2& table, Out<double> out) {
  constexpr int64_t PART = 1 << 12;
  const int64_t n = int64_t(table.shape(0));
  const int n_columns = int(table.shape(1));
  run((n + PART - 1) / PART, 16.0 * double(table.size()), [&](int64_t i, void*) {
    isa().log_sums(table.data(), n_columns, i * PART, int(std::min(PART, n - i * PART)), out.data());
  });
}

// Values of a contiguous array, whatever its shape.
double magnitude(const Any& array) {
  constexpr int64_t PART = 1 << 18;
  const int64_t n = int64_t(array.size());
  const bool wide = is_double(array);
  std::vector<double> parts(size_t((n + PART - 1) / PART), 0.0);
  run(int64_t(parts.size()), double(n), [&](int64_t i, void*) {
    parts[size_t(i)] = isa().magnitude(array.data(), wide, i * PART, std::min(PART, n - i * PART));
  });
  double largest = 0.0;
  for (double part : parts) {
    if (std::isnan(part)) return part;
    largest = std::max(largest, part);
  }
  return largest;
}

double fma_peak(int n_threads) {
  nb::gil_scoped_release unlocked;
  constexpr int64_t ROUNDS = 500000;
  double best = 0.0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::atomic<double> flops{0.0};
    const auto start = std::chrono::steady_clock::now();
    in_parallel(n_threads, n_threads, false, [] { return false; },
                [&](int64_t, int) { flops = isa().multiply_adds(ROUNDS); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, n_threads * flops / seconds.count() / 1e9);
  }
  return best;
}

}  // namespace

NB_MODULE(_native, m) {
  nb::class_<PyRows>(m, "Rows");
  m.def("dense", [](Any X, double scale) { return PyRows{dense_rows(X, scale), {X}}; });
  m.def("sparse", [](Any data, Any indices, Any indptr, int D, double scale) {
    return PyRows{sparse_rows(data, indices, indptr, D, scale), {data, indices, indptr}};
  });
  nb::class_<HintStore>(m, "HintStore")
      .def(nb::init<int64_t, int>())
      .def_prop_ro("serial", &HintStore::serial)
      .def_prop_ro("nbytes", &HintStore::nbytes);
  nb::class_<PyCoefficients>(m, "Coefficients")
      .def("__init__",
           [](PyCoefficients* self, Doubles2 means, std::optional<Doubles1> penalty,
              std::optional<DoublesN> whitening, double sharpness, double highest_bias) {
             new (self) PyCoefficients{means, penalty, whitening, sharpness, highest_bias};
           },
           nb::kw_only(), "means"_a, "penalty"_a.none(), "whitening"_a.none(), "sharpness"_a,
           "highest_bias"_a);
  nb::class_<PyNear>(m, "Near")
      .def("__init__",
           [](PyNear* self, Clusters2 lists, int n_explore, uint64_t key, int64_t first) {
             new (self) PyNear{lists, n_explore, key, first};
           },
           nb::kw_only(), "lists"_a, "n_explore"_a, "key"_a, "first"_a);
  m.def("near_clusters", &near_clusters);
  m.def("sweep", &sweep, nb::kw_only(), "rows"_a, "weights"_a, "coefficients"_a, "reluctance"_a,
        "C_prime"_a, "leaf_rows"_a, "before"_a.none(), "after"_a, "hints"_a.none(), "use_hints"_a,
        "near"_a.none());
  m.def("closest", &closest, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("nearer", &nearer);
  m.def("gaps", &gaps);
  m.def("distances", &distances);
  m.def("draw_seeds", &draw_seeds);
  m.def("log_sums", &log_sums);
  m.def("magnitude", &magnitude);
  bind_many_fits(m);
  bind_surveys(m);
  m.def("is_brief", &is_brief);
  m.def("get_num_threads", &get_num_threads);
  m.def("set_num_threads", &set_num_threads);
  nb::class_<Stop>(m, "Stop")
      .def(nb::init<>())
      .def("heed_alone", [](const Stop& stop) { work_alone(stop.wanted); })
      .def("want", [](Stop& stop) { stop.wanted = true; });
  m.def("isa_names", &isa_names);
  m.def("isa_name", [] { return std::string(isa().name); });
  m.def("use_isa", &use_isa);
  m.def("fma_peak", &fma_peak);
#if defined(__SANITIZE_ADDRESS__)
  m.attr("is_sanitized") = true;
#else
  m.attr("is_sanitized") = false;
#endif
}

// For threadpoolctl, which finds libraries by these.
extern "C" {
#define CPRIME_EXPORT __attribute__((visibility("default")))
CPRIME_EXPORT int cprime_get_num_threads() { return get_num_threads(); }
CPRIME_EXPORT void cprime_set_num_threads(int n) { set_num_threads(n); }
}
