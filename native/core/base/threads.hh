// Threads beside the calling one, as many as the system grants, and which of their failures is reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace dragoman {

// How a thread is started; tests have one that refuses.
using StartThread = std::thread (*)(std::function<void()>);

inline std::thread start_thread(std::function<void()> body) { return std::thread(std::move(body)); }

// Threads of work(1), work(2), …, work(n - 1); work(0) is the calling thread's. Where the system starts no more, under
// limits of processes or of memory, there are fewer: nothing may depend on their number.
template <typename Work>
std::vector<std::thread> start_threads(int n, const Work& work, StartThread start) {
  std::vector<std::thread> threads;
  threads.reserve(n > 1 ? static_cast<size_t>(n - 1) : 0);
  try {
    for (int worker = 1; worker < n; ++worker) threads.push_back(start([work, worker] { work(worker); }));
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return threads;
}

// Of several failures the one that comes first in the order of the work, not in time, so that the same error is
// reported for any number of threads.
class FirstFailure {
 public:
  // In a catch clause.
  void keep(int64_t place) {
    std::scoped_lock lock(mutex_);
    if (failure_ && place_ <= place) return;
    failure_ = std::current_exception();
    place_ = place;
  }
  // If there was one, once nobody keeps any more.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  int64_t place_ = 0;
};

}  // namespace dragoman
