// Parallel loops over independent items. Each item writes only its own output, so the result is the same for any number
// of threads; reductions are left to the caller, in fixed blocks and in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/base/control.hh"
#include "core/base/threads.hh"

namespace dragoman {

// Calls body(begin, end, worker) for consecutive chunks of [0, n), `chunk` items each. `worker` in [0, n_threads)
// selects scratch space. The failure of the first chunk that fails is rethrown after all threads have joined.
template <typename Body>
void parallel_chunks(int64_t n, int64_t chunk, int n_threads, Control& control, Body&& body,
                     StartThread start = start_thread) {
  chunk = std::max<int64_t>(1, chunk);
  const int64_t n_chunks = (n + chunk - 1) / chunk;
  const int n_workers = static_cast<int>(std::clamp<int64_t>(n_chunks, 1, std::max(1, n_threads)));
  std::atomic<int64_t> next{0};
  FirstFailure failure;
  const auto work = [&](int worker) {
    for (;;) {
      const int64_t c = next.fetch_add(1, std::memory_order_relaxed);
      if (c >= n_chunks) return;
      try {
        control.check();
        const int64_t begin = c * chunk, end = std::min(n, begin + chunk);
        body(begin, end, worker);
        control.advance(end - begin);
      } catch (...) {
        // Those before it were handed out before it, and whoever has them goes on.
        next.store(n_chunks, std::memory_order_relaxed);
        failure.keep(c);
        return;
      }
    }
  };
  std::vector<std::thread> threads = start_threads(n_workers, work, start);
  work(0);
  for (auto& thread : threads) thread.join();
  failure.rethrow();
}

}  // namespace dragoman
