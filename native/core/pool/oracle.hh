// The corpus-level oracle of n-best lists (one candidate per sentence), by hill climbing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/metric/scorer.hh"

namespace dragoman::pool {

struct OracleShard {
  std::span<const int64_t> sentences;
  std::span<const double> stats;  // row-major
  std::span<const double> gains;  // sentence-level score of each candidate, for the start
};

// One candidate per sentence and shard (numbered within the shard; -1 for a sentence without any). Starts with the
// sentence-level best candidates, then replaces candidates, sentence by sentence, while the corpus score improves.
std::vector<std::vector<int64_t>> oracle(std::span<const OracleShard> shards, const metric::Scorer& scorer,
                                         Control& control);

}  // namespace dragoman::pool
