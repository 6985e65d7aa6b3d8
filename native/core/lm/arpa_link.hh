// Finds, for n-grams given as words, the places of their first and last words one order down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/control.hh"
#include "core/lm/assemble.hh"

namespace dragoman::lm {

// N-grams of one order, two words or more, as they were read.
struct NgramList {
  size_t n = 0;
  std::vector<uint32_t> words;  // n for each
  std::vector<float> logprob;
  std::vector<float> backoff;  // NaN where it is missing; empty for the highest order

  size_t size() const { return logprob.size(); }
  const uint32_t* at(size_t i) const { return words.data() + i * n; }
};

// Fills levels[1..] from lists[1..]; levels[0] holds the single words (a missing backoff is NaN there too). Adds
// n-grams that are needed and missing. Throws InputError, with the line that `line_of(n, i)` gives for the i-th n-gram
// read, when one stands twice or when one that begins another has no backoff weight.
void link(std::vector<NgramList>& lists, std::vector<Level>& levels,
          const std::function<int64_t(size_t, size_t)>& line_of, const names::WordTable& words, Control& control);

}  // namespace dragoman::lm
