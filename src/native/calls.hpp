// Calls from Python: the GIL released, threads, and interrupts.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "isa.hpp"
#include "threads.hpp"

namespace cprime {

constexpr double BRIEF = 8e6;  // multiply-adds that are not worth a thread

// A person interrupted, and Python knows it; or a thread that works alone was stopped.
struct Interrupted {};

inline bool is_interrupted() {
  nanobind::gil_scoped_acquire locked;
  return PyErr_CheckSignals() != 0;
}

// Memory of threads, made when they first need it.
using Scratch = std::vector<std::shared_ptr<void>>;

// The memory of this thread, kept from one brief call to the next: to make it takes as long as
// a small sweep.
inline std::shared_ptr<void> kept_scratch() {
  thread_local const Isa* of = nullptr;
  thread_local std::shared_ptr<void> kept;
  if (of != &isa()) {
    of = &isa();
    kept = of->make_scratch();
  }
  return kept;
}

// Runs task(i, memory of a thread) for i below n; the caller does not hold the GIL.
inline void run_unlocked(int64_t n, double work, Scratch& scratch,
                         const std::function<void(int64_t, void*)>& task) {
  const int n_threads = get_num_threads();
  scratch.resize(std::max(scratch.size(), static_cast<size_t>(n_threads)));
  if (work < BRIEF && !scratch[0]) scratch[0] = kept_scratch();
  const bool complete = in_parallel(n, n_threads, work < BRIEF, is_interrupted, [&](int64_t i, int worker) {
    auto& mine = scratch[static_cast<size_t>(worker)];
    if (!mine) mine = isa().make_scratch();
    task(i, mine.get());
  });
  if (!complete) throw Interrupted();
}

// Calls work() without the GIL, or raises what the person's interrupt raises.
template <class Work>
void without_gil(Work work) {
  bool complete = true;
  {
    nanobind::gil_scoped_release unlocked;
    try {
      work();
    } catch (const Interrupted&) {
      complete = false;
    }
  }
  if (complete) return;
  if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nanobind::python_error();
}

}  // namespace cprime
