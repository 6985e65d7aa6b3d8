// Counts of all n-grams of a text up to a given order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"

namespace dragoman::lm {

// The n-grams of one order in suffix order: by last word, then by the word before, and so on. `context` and `suffix`
// are indices into the next lower order (word ids for order 1); both are empty for order 1, whose index is the word id.
struct Counts {
  std::vector<uint32_t> context;
  std::vector<uint32_t> suffix;
  // Adjusted counts: the number of distinct words preceding the n-gram; plain counts for the highest order and for
  // n-grams that begin with <s>.
  std::vector<uint32_t> adjusted;
  // 1 if the n-gram's count is at most the threshold of its order; empty if the threshold is 0.
  std::vector<uint8_t> pruned;
};

// `tokens` are sentences from <s> to </s>; thresholds.size() is the highest order. Advances `control` by
// tokens.size() for each order.
std::vector<Counts> count_ngrams(std::span<const uint32_t> tokens, uint32_t n_words,
                                 std::span<const int64_t> thresholds, Control& control);

}  // namespace dragoman::lm
