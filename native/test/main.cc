#include <cstdio>
#include <exception>

#include "test/test.hh"

int main() {
  int n_failed = 0;
  for (const auto& [name, body] : dragoman::test::registry()) {
    try {
      body();
    } catch (const std::exception& error) {
      ++n_failed;
      std::printf("FAILED %s: %s\n", name.c_str(), error.what());
    }
  }
  const int n_passed = static_cast<int>(dragoman::test::registry().size()) - n_failed;
  std::printf("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed != 0;
}
