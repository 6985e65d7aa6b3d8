// Counts of all n-grams of a text up to some order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"

namespace dragoman::lm {

// The n-grams of one order in suffix order: by last word, then by the word before, and so on. `context` and `suffix`
// are places in the order below (word ids where that is order 1); both are empty for order 1, whose place is the word
// id.
struct Counts {
  std::vector<uint32_t> context;
  std::vector<uint32_t> suffix;
  // Adjusted: how many different words stand before the n-gram, but its occurrences for the highest order and for
  // n-grams that begin with <s>.
  std::vector<uint32_t> adjusted;
  // 1 where the n-gram occurs at most as often as its order's threshold; empty where the threshold is 0.
  std::vector<uint8_t> pruned;
};

// `tokens` are sentences from <s> to </s>; thresholds.size() is the highest order. Advances `control` by
// tokens.size() for each order.
std::vector<Counts> count_ngrams(std::span<const uint32_t> tokens, uint32_t n_words,
                                 std::span<const int64_t> thresholds, Control& control);

}  // namespace dragoman::lm
