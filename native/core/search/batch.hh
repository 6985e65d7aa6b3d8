// What batches of translation options and of rules have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/errors.hh"
#include "core/base/ragged.hh"

namespace dragoman::search {

// Source words that no option or rule covers alone, so that they pass through, and what they pass through as.
struct PassedWords {
  std::vector<int32_t> ids;            // target ids, for the places in order
  std::vector<std::string> own_words;  // those of the ids beyond the vocabulary
};

// A place that must pass through, in arrays that are not finished.
inline constexpr int32_t kMustPass = -1;

inline std::vector<int64_t> places_to_pass(std::span<const int32_t> pass_through) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < pass_through.size(); ++i)
    if (pass_through[i] == kMustPass) places.push_back(static_cast<int64_t>(i));
  return places;
}

inline void pass(const PassedWords& words, std::vector<int32_t>& pass_through) {
  size_t next = 0;
  for (int32_t& id : pass_through)
    if (id == kMustPass) {
      if (next == words.ids.size()) throw std::invalid_argument("a word that passes through has no target id");
      id = words.ids[next++];
    }
}

// Adds to a feature's value where the sum of 32 bits is exact: parts of a block's value stay apart.
inline bool add_exactly(float& to, float value) {
  const float sum = to + value;
  if (static_cast<double>(sum) != static_cast<double>(to) + static_cast<double>(value)) return false;
  to = sum;
  return true;
}

template <typename T>
bool all_finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

inline bool all_ids(const std::vector<int32_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int32_t id) { return id >= 0; });
}

// Arrays that were built from a grammar fit together unless its tables are damaged.
template <typename Batch>
Batch checked(Batch&& batch) {
  try {
    batch.check();
  } catch (const std::invalid_argument& error) {
    throw InputError(std::string(error.what()) + "; the system may be damaged: see `dragoman system verify`");
  }
  return std::move(batch);
}

}  // namespace dragoman::search
