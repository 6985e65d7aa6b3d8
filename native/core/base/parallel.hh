// Parallel loops over independent items. Each item writes only its own output, so the result is the same for any number
// of threads; reductions are left to the caller, in fixed blocks and in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/control.hh"

namespace dragoman {

// Calls body(begin, end, worker) for consecutive chunks of [0, n), `chunk` items each. `worker` in [0, n_threads)
// selects scratch space. The first exception is rethrown after all threads have joined.
template <typename Body>
void parallel_chunks(int64_t n, int64_t chunk, int n_threads, Control& control, Body&& body) {
  chunk = std::max<int64_t>(1, chunk);
  const int64_t n_chunks = (n + chunk - 1) / chunk;
  const int n_workers = static_cast<int>(std::clamp<int64_t>(n_chunks, 1, std::max(1, n_threads)));
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto work = [&](int worker) {
    try {
      for (;;) {
        const int64_t c = next.fetch_add(1, std::memory_order_relaxed);
        if (c >= n_chunks) return;
        control.check();
        const int64_t begin = c * chunk, end = std::min(n, begin + chunk);
        body(begin, end, worker);
        control.advance(end - begin);
      }
    } catch (...) {
      next.store(n_chunks, std::memory_order_relaxed);
      std::scoped_lock lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int worker = 1; worker < n_workers; ++worker) threads.emplace_back(work, worker);
  work(0);
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dragoman
