// Runs native work with the GIL released while this thread listens for Ctrl-C and reports progress.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/base/control.hh"
#include "core/base/threads.hh"

namespace dragoman::bind {

namespace nb = nanobind;

// Runs short work without the interpreter lock.
template <typename Work>
auto released(Work&& work) {
  const nb::gil_scoped_release unlocked;
  return work();
}

// `work(Control&)` runs in a thread of its own; `progress` is None or a callable that takes the number of items
// done so far. Returns what work returns; its exception, or KeyboardInterrupt, is rethrown here. Where the system
// starts no thread, the work is done in this one, which hears of Ctrl-C afterwards.
template <typename Work>
auto watch(Work&& work, nb::handle progress = nb::none()) {
  using Result = std::invoke_result_t<Work, Control&>;
  static_assert(!std::is_void_v<Result>, "return something, so that there is one code path");
  Control control;
  Result result{};
  std::exception_ptr failure;
  bool finished = false;
  bool interrupted = false;
  std::mutex mutex;
  std::condition_variable wake;
  const auto task = [&](int) {
    try {
      result = work(control);
    } catch (...) {
      failure = std::current_exception();
    }
    std::scoped_lock lock(mutex);
    finished = true;
    wake.notify_one();
  };
  std::vector<std::thread> threads = start_threads(2, task, start_thread);
  {
    nb::gil_scoped_release released;
    if (threads.empty()) task(0);
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, std::chrono::milliseconds(100), [&] { return finished; })) {
      if (interrupted) continue;
      lock.unlock();
      {
        nb::gil_scoped_acquire acquired;
        interrupted = PyErr_CheckSignals() != 0;
        if (!interrupted && !progress.is_none()) {
          PyObject* done = PyLong_FromLongLong(control.done());
          PyObject* answer = done ? PyObject_CallOneArg(progress.ptr(), done) : nullptr;
          Py_XDECREF(done);
          Py_XDECREF(answer);
          interrupted = answer == nullptr;
        }
        // The Python error indicator belongs to this thread state and survives until we throw below.
        if (interrupted) control.request_stop();
      }
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (interrupted) throw nb::python_error();
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace dragoman::bind
