#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "isa.hpp"

namespace cprime {

thread_local const std::atomic<bool>* stop_requested = nullptr;

namespace {

std::atomic<int> limit{1};
thread_local bool alone = false;

// One call of in_parallel, seen by all its threads.
struct Call {
  int64_t n;
  const std::function<void(int64_t, int)>& task;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable idle;
  int running = 0;
  std::exception_ptr failure;

  void work(int worker) {
    const auto* before = stop_requested;
    stop_requested = &stop;
    try {
      for (int64_t i; !stop.load() && (i = next.fetch_add(1)) < n;) task(i, worker);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
    stop_requested = before;
  }
};

}  // namespace

int get_num_threads() { return alone ? 1 : limit.load(); }
void set_num_threads(int n) { limit.store(std::max(1, n)); }

void work_alone(const std::atomic<bool>& stop) {
  alone = true;
  stop_requested = &stop;
}

bool in_parallel(int64_t n, int n_threads, bool brief, const std::function<bool()>& interrupted,
                 const std::function<void(int64_t, int)>& task) {
  if (alone) {
    for (int64_t i = 0; i < n && !stop_requested->load(); ++i) task(i, 0);
    return !stop_requested->load();
  }
  Call call{n, task};
  std::vector<std::thread> threads;
  const int wanted = brief ? 0 : int(std::max<int64_t>(1, std::min<int64_t>(n_threads, n)));
  try {
    for (int worker = 0; worker < wanted; ++worker) {
      {
        std::lock_guard<std::mutex> lock(call.mutex);
        ++call.running;
      }
      threads.emplace_back([&call, worker] {
        call.work(worker);
        std::lock_guard<std::mutex> lock(call.mutex);
        --call.running;
        call.idle.notify_all();
      });
    }
  } catch (const std::system_error&) {
    // The system has no thread to give: those there are, or the caller, do the work.
    std::lock_guard<std::mutex> lock(call.mutex);
    --call.running;
  }
  if (threads.empty()) call.work(0);
  {
    std::unique_lock<std::mutex> lock(call.mutex);
    while (!call.idle.wait_for(lock, PATIENCE, [&] { return call.running == 0; })) {
      lock.unlock();
      if (interrupted()) call.stop = true;
      lock.lock();
    }
  }
  for (auto& thread : threads) thread.join();
  if (call.failure) std::rethrow_exception(call.failure);
  return !call.stop.load();
}

}  // namespace cprime
