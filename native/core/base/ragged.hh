// Ragged data as offsets + values: row i is values[offsets[i] .. offsets[i + 1]).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/at.hh"

namespace dragoman {

template <typename T>
struct Ragged {
  std::span<const int64_t> offsets;
  std::span<const T> values;

  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::span<const T> operator[](int64_t row) const {
    return values.subspan(at(offsets[at(row)]), at(offsets[at(row) + 1] - offsets[at(row)]));
  }
  // Offsets may come from a file: call this before the first access.
  void check(const char* name) const {
    const auto fail = [&](const std::string& why) { throw std::invalid_argument(std::string(name) + ": " + why); };
    if (offsets.empty() || offsets.front() != 0) fail("offsets must start with 0");
    for (size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] < offsets[i - 1]) fail("offsets must not decrease (row " + std::to_string(i - 1) + ")");
    if (static_cast<size_t>(offsets.back()) != values.size()) fail("the last offset must equal the number of values");
  }
};

// The same, owned.
template <typename T>
struct RaggedVector {
  std::vector<int64_t> offsets{0};
  std::vector<T> values;

  operator Ragged<T>() const { return {offsets, values}; }
  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::span<const T> operator[](int64_t row) const { return Ragged<T>(*this)[row]; }
  void check(const char* name) const { Ragged<T>(*this).check(name); }
};

using Sentences = Ragged<int32_t>;

}  // namespace dragoman
