// Threads that live as long as one call: nothing to lose in a fork.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace cprime {

constexpr auto PATIENCE = std::chrono::milliseconds(100);  // between two looks for interrupts

// How many threads a call may use, and how a person sets it.
int get_num_threads();
void set_num_threads(int n);

// From now on calls from this thread use no other, and stop early once `stop` is true.
void work_alone(const std::atomic<bool>& stop);

// Calls task(i, worker) once for every i below n, on at most `n_threads` threads.
//
// Work that takes long is done on threads of the call's own while the caller waits, so that
// it can ask `interrupted` ten times a second, however long a task takes; if the answer is
// yes, tasks are asked to stop. Brief work is done by the caller, at once. Returns whether
// all tasks were completed. Exceptions of tasks are passed on.
bool in_parallel(int64_t n, int n_threads, bool brief, const std::function<bool()>& interrupted,
                 const std::function<void(int64_t, int)>& task);

}  // namespace cprime
