// Several fits of k-means in one call: their seeds, and the fits themselves.
#include "many_fits.hpp"

#include <nanobind/ndarray.h>

#include <chrono>
#include <stdexcept>

#include "bindings.hpp"
#include "calls.hpp"
#include "lloyd.hpp"
#include "seeds.hpp"

namespace cprime {
namespace {

using namespace nb::literals;
using Doubles3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Iterations of a restart, as a guess, and what a row costs besides its distances: both in
// multiply-adds, to tell whether a call is worth threads.
constexpr double TYPICAL_ITERATIONS = 8.0, OF_A_ROW = 64.0;

// Throws if a person has interrupted; asked often, it looks rarely.
class Patience {
 public:
  void check() {
    if (stopping()) throw Interrupted();
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < PATIENCE) return;
    looked_ = now;
    if (is_interrupted()) throw Interrupted();
  }

 private:
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

// Draws the seeds of several restarts; returns how many distances each computed.
void draw_many_seeds(const PyRows& from, const Positions& line, const Doubles1& weights,
                     const Positions& firsts, const Doubles3& points, Out<int64_t> chosen,
                     Out<int64_t> evaluations) {
  const int64_t n = from.rows.n, n_fits = int64_t(points.shape(0));
  const size_t n_further = points.shape(1), n_trials = points.shape(2);
  const double work = double(n_fits) * double(n_further) * work_of_trials(n, from.rows.D, int(n_trials));
  without_gil([&] {
    Scratch of_threads;
    run_unlocked(n_fits, work, of_threads, [&](int64_t fit, void* scratch) {
      const auto in_parts = [&](double, const RowsTask& task) {
        for (int64_t first = 0; first < n; first += SEED_ROWS)
          task(first, int(std::min<int64_t>(SEED_ROWS, n - first)), scratch);
      };
      Patience patience;
      SeedDraw seeds(from.rows, line.data(), weights.data(), weights.stride(0), int64_t(n_further) + 1, in_parts);
      seeds.begin(firsts.data()[fit]);
      for (size_t i = 0; i < n_further; ++i) {
        patience.check();
        seeds.add(points.data() + (size_t(fit) * n_further + i) * n_trials, int(n_trials));
      }
      std::copy(seeds.chosen().begin(), seeds.chosen().end(), chosen.data() + size_t(fit) * (n_further + 1));
      evaluations.data()[fit] = seeds.evaluations();
    });
  });
}

nb::object trace_of(const std::vector<LloydStep>& steps) {
  constexpr size_t WIDTH = sizeof(LloydStep) / sizeof(double);
  double* lines = new double[steps.size() * WIDTH];
  for (size_t i = 0; i < steps.size(); ++i) {
    const LloydStep& step = steps[i];
    const double line[WIDTH] = {step.free_energy, step.expected, step.variance,
                                step.evaluations, step.changed,  step.seconds};
    std::copy_n(line, WIDTH, lines + i * WIDTH);
  }
  nb::capsule owner(lines, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double>(lines, {steps.size(), WIDTH}, owner));
}

nb::tuple as_tuple(const LloydRun& run) {
  return nb::make_tuple(int(run.end), run.least, trace_of(run.steps), run.variance, run.free_energy,
                        run.scatter, run.expected_sum, run.weight, run.evaluations, run.changed);
}

// Fits from several seeds. What became of each is appended to `found`, also if an interrupt
// is raised.
void lloyd(const PyRows& from, const Doubles1& weights, const Doubles3& seeds, const Doubles1& largest,
           nb::dict rules, Out<double> means, Out<double> centers, Out<double> counts,
           Out<double> shifts, Out<int32_t> labels, nb::list found) {
  const size_t n_fits = seeds.shape(0), C = seeds.shape(1), D = seeds.shape(2), n = size_t(from.rows.n);
  if (from.rows.D != int(D) || largest.shape(0) != D)
    throw std::invalid_argument("rows and means differ in features");
  LloydRules by;
  by.max_iter = nb::cast<int>(rules["max_iter"]);
  by.leaf_rows = nb::cast<int>(rules["leaf_rows"]);
  by.by_gain = nb::cast<bool>(rules["by_gain"]);
  by.within = nb::cast<double>(rules["within"]);
  by.floor = nb::cast<double>(rules["floor"]);
  by.variance = nb::cast<double>(rules["variance"]);
  by.variance_init = nb::cast<double>(rules["variance_init"]);
  by.reluctance = nb::cast<double>(rules["reluctance"]);
  by.as_float = nb::cast<bool>(rules["as_float"]);
  Sweep sweep;
  sweep.rows = from.rows;
  sweep.weights = weights.data();
  sweep.weight_stride = weights.stride(0);
  std::vector<LloydRun> runs(n_fits);
  for (size_t i = 0; i < n_fits; ++i) {
    runs[i].seeds = seeds.data() + i * C * D;
    runs[i].means = means.data() + i * C * D;
    runs[i].centers = centers.data() + i * C * D;
    runs[i].counts = counts.data() + i * C;
    runs[i].shifts = shifts.data() + i * C * D;
    runs[i].labels = labels.data() + i * n;
  }
  const auto hand_over = [&] {
    for (const auto& run : runs) found.append(as_tuple(run));
  };
  const double work = double(n_fits) * TYPICAL_ITERATIONS * double(n) * (double(C * D) + OF_A_ROW);
  try {
    without_gil([&] {
      Scratch of_threads;
      run_unlocked(int64_t(n_fits), n_fits == 1 ? 0.0 : work, of_threads, [&](int64_t i, void* scratch) {
        Patience patience;
        Lloyd(sweep, by, int(C), largest.data(), scratch).run(runs[size_t(i)], [&] { patience.check(); });
      });
    });
  } catch (nb::python_error& error) {
    hand_over();
    throw;
  }
  hand_over();
}

}  // namespace

void bind_many_fits(nb::module_& m) {
  m.def("draw_many_seeds", &draw_many_seeds, nb::kw_only(), "rows"_a, "line"_a, "weights"_a, "firsts"_a,
        "points"_a, "chosen"_a, "evaluations"_a);
  m.def("lloyd", &lloyd, nb::kw_only(), "rows"_a, "weights"_a, "seeds"_a, "largest"_a, "rules"_a,
        "means"_a, "centers"_a, "counts"_a, "shifts"_a, "labels"_a, "found"_a);
}

}  // namespace cprime
