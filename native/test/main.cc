// Runs the native tests: all, or those with an argument in their name.
#include <cstdio>
#include <exception>
#include <string_view>

#include "test/test.hh"

int main(int n_arguments, char** arguments) {
  const std::string_view wanted = n_arguments > 1 ? arguments[1] : "";
  int n_run = 0, n_failed = 0;
  for (const auto& [name, body] : dragoman::test::registry()) {
    if (name.find(wanted) == std::string::npos) continue;
    ++n_run;
    try {
      body();
    } catch (const std::exception& error) {
      ++n_failed;
      std::printf("FAILED %s: %s\n", name.c_str(), error.what());
    }
  }
  std::printf("%d passed, %d failed\n", n_run - n_failed, n_failed);
  return n_failed != 0;
}
