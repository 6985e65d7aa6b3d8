#include "core/base/crew.hh"

namespace dragoman {

Crew::Crew(int n_wanted, StartThread start)
    : threads_(start_threads(n_wanted, [this](int worker) { serve(worker); }, start)) {}

Crew::~Crew() {
  job_ = nullptr;
  next_phase();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(const std::function<void(int)>& job) {
  job_ = &job;
  n_busy_.store(size() - 1, std::memory_order_relaxed);
  next_phase();
  work(0);
  for (int busy = n_busy_.load(std::memory_order_acquire); busy > 0; busy = n_busy_.load(std::memory_order_acquire))
    n_busy_.wait(busy, std::memory_order_acquire);
  failure_.rethrow();
}

void Crew::next_phase() {
  phase_.fetch_add(1, std::memory_order_release);
  phase_.notify_all();
}

void Crew::serve(int worker) {
  for (uint32_t phase = 0;; ++phase) {
    phase_.wait(phase, std::memory_order_acquire);
    if (job_ == nullptr) return;
    work(worker);
    if (n_busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) n_busy_.notify_one();
  }
}

void Crew::work(int worker) {
  try {
    (*job_)(worker);
  } catch (...) {
    failure_.keep(worker);
  }
}

}  // namespace dragoman
