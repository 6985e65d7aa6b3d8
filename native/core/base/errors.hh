// The exceptions of the core. `bind/` translates them once into the Python tree of dragoman.errors.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dragoman {

// The user's data are malformed. `line` counts from 1; 0 if no line applies.
struct InputError : std::runtime_error {
  explicit InputError(const std::string& what, int64_t line = 0) : std::runtime_error(what), line(line) {}
  int64_t line;
};

}  // namespace dragoman
