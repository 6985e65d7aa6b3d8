// The best corpus score that a choice of one candidate per sentence reaches, by hill climbing.
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
  std::span<const double> gains;  // of each candidate alone; where the climb starts
};

// One candidate per sentence and shard (counted within the shard; -1 for a sentence without any). Starts with the
// best candidate of each sentence alone, then exchanges candidates, sentence by sentence, for one that
// gives the whole corpus a better score, until none does.
std::vector<std::vector<int64_t>> oracle(std::span<const OracleShard> shards, const metric::Scorer& scorer,
                                         Control& control);

}  // namespace dragoman::pool
