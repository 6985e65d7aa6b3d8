#include "core/base/parallel.hh"

#include <atomic>
#include <functional>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/crew.hh"
#include "core/base/errors.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

std::thread no_thread(std::function<void()>) {
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

// Every other thread can be started.
std::thread some_threads(std::function<void()> body) {
  static std::atomic<int> n_started{0};
  return n_started++ % 2 ? no_thread({}) : start_thread(std::move(body));
}

}  // namespace

TEST(of_items_that_fail_the_first_is_reported_whichever_fails_first) {
  // The second failure comes at once, the first one only after a while.
  for (int round = 0; round < 200; ++round) {
    for (const int n_threads : {1, 2, 8}) {
      Control control;
      std::string what;
      try {
        parallel_chunks(64, 1, n_threads, control, [](int64_t item, int64_t, int) {
          if (item == 3) {
            for (int i = 0; i < 100; ++i) std::this_thread::yield();
            throw InputError("item 3");
          }
          if (item == 4 || item == 40) throw InputError("a later item");
        });
      } catch (const InputError& error) {
        what = error.what();
      }
      CHECK(what == "item 3");
    }
  }
}

TEST(loops_go_on_with_the_threads_that_can_be_started) {
  for (const StartThread start : {no_thread, some_threads, start_thread}) {
    Control control;
    std::vector<int64_t> seen(1000);
    parallel_chunks(
        1000, 7, 8, control,
        [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)] += i;
        },
        start);
    for (size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<int64_t>(i));
    CHECK(control.done() == 1000);
  }
}

TEST(a_crew_does_job_after_job_with_the_threads_that_can_be_started) {
  for (const StartThread start : {no_thread, some_threads, start_thread}) {
    Crew crew(8, start);
    CHECK(crew.size() == (start == no_thread ? 1 : start == some_threads ? 2 : 8));
    std::vector<int> sums(static_cast<size_t>(crew.size()));
    for (int job = 1; job <= 500; ++job) {
      // Everybody adds what another one has written in the job before.
      const std::vector<int> before = sums;
      crew.run([&](int worker) { sums[static_cast<size_t>(worker)] = before.back() / 2 + job; });
      CHECK(sums.front() == sums.back());
    }
  }
}

TEST(a_crew_survives_workers_that_fail) {
  for (int round = 0; round < 300; ++round) {
    Crew crew(4);
    std::string what;
    for (int job = 0; job < 20; ++job) {
      try {
        crew.run([&](int worker) {
          if (worker > 0 && job % 3 == 1) throw InputError("worker " + std::to_string(worker));
        });
        CHECK(job % 3 != 1);
      } catch (const InputError& error) {
        what = error.what();
        CHECK(what == "worker 1");
      }
    }
  }
}
