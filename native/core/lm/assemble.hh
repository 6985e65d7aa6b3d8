// From lists of n-grams to a Model: numbers the contexts, links suffixes, fills the table.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/control.hh"
#include "core/lm/model.hh"

namespace dragoman::lm {

// The n-grams of one order. `context` and `suffix` are the indices of the (n - 1)-gram prefix and suffix in the next
// lower order; both must exist. For unigrams the index is the word id and both are empty. Natural logs.
struct Level {
  std::vector<uint32_t> context;
  std::vector<uint32_t> suffix;
  std::vector<float> logprob;
  std::vector<float> backoff;  // empty for the highest order
};

// `words` holds the stored forms, <unk>, <s>, </s> first; levels[0] has one entry for each. Throws InputError for a
// duplicate n-gram. Advances `control` by `step` for each order.
std::unique_ptr<Model> assemble(const names::WordTable& words, std::vector<Level>&& levels, Control& control,
                                int64_t step = 0);

}  // namespace dragoman::lm
