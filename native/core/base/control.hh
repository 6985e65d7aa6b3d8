// How long-running native work is observed and cancelled: a progress counter and a stop flag, both lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace dragoman {

// Thrown inside the core after a stop request (Ctrl-C).
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

class Control {
 public:
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }
  // Call periodically inside long loops.
  void check() const {
    if (stop_requested()) throw Interrupted();
  }
  void advance(int64_t n_items = 1) noexcept { done_.fetch_add(n_items, std::memory_order_relaxed); }
  int64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0};
};

}  // namespace dragoman
