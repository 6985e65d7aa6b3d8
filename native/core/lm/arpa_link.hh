// Finds, for n-grams given as words, the indices of their (n - 1)-gram prefixes and suffixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/control.hh"
#include "core/lm/assemble.hh"

namespace dragoman::lm {

// N-grams of one order (n >= 2) as read from the file.
struct NgramList {
  size_t n = 0;
  std::vector<uint32_t> words;  // n per n-gram
  std::vector<float> logprob;
  std::vector<float> backoff;  // NaN if missing; empty for the highest order

  size_t size() const { return logprob.size(); }
  const uint32_t* at(size_t i) const { return words.data() + i * n; }
};

// Fills levels[1..] from lists[1..]; levels[0] holds the unigrams (a missing backoff is NaN there too). Adds missing
// prefixes and suffixes. Throws InputError, with the line `line_of(n, i)` of the i-th n-gram read, for a duplicate
// n-gram or a prefix of another n-gram without a backoff weight.
void link(std::vector<NgramList>& lists, std::vector<Level>& levels,
          const std::function<int64_t(size_t, size_t)>& line_of, const names::WordTable& words, Control& control);

}  // namespace dragoman::lm
