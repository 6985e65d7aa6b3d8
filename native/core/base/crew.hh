// Threads that are started once and do one job after another together, for work in many short phases.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "core/base/threads.hh"

namespace dragoman {

// The calling thread is worker 0. All phases go through the same two counters and are ended by the calling thread
// alone, so that a worker that fails keeps nobody waiting.
class Crew {
 public:
  // Of at most `n_wanted` workers, and at least one.
  explicit Crew(int n_wanted, StartThread start = start_thread);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  // Calls job(worker) for each worker in [0, size()) at once and waits for all; what they wrote is then seen by all.
  // Rethrows the failure of the first worker that failed.
  void run(const std::function<void(int)>& job);

 private:
  void serve(int worker);
  void work(int worker);
  void next_phase();

  const std::function<void(int)>* job_ = nullptr;  // null: go home
  std::atomic<uint32_t> phase_{0};
  std::atomic<int> n_busy_{0};
  FirstFailure failure_;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman
