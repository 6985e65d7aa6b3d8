// A registry of native tests, run by `make test`, and under sanitizers by `make asan` and `make tsan`.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::test {

inline std::vector<std::pair<std::string, std::function<void()>>>& registry() {
  static std::vector<std::pair<std::string, std::function<void()>>> tests;
  return tests;
}

struct Register {
  Register(const char* name, std::function<void()> body) { registry().emplace_back(name, std::move(body)); }
};

template <typename Error, typename Body>
bool throws(Body&& body) {
  try {
    body();
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace dragoman::test

#define TEST(name)                                                           \
  static void test_##name();                                                 \
  static const dragoman::test::Register register_##name(#name, test_##name); \
  static void test_##name()

#define CHECK(condition)                                                                                  \
  do {                                                                                                    \
    if (!(condition))                                                                                     \
      throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " #condition); \
  } while (false)
