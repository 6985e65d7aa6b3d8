// The derivation of a forest that is closest to the references: highest BLEU+1 (Lin and Och 2004), by a beam over
// partial translations. Two partial translations of a node are one when nothing that comes around them can tell them
// apart: the same reference n-grams (counted up to what references have), length, first and last words. With an
// unlimited beam the result is exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

struct ForestOracle {
  double gain = 0;             // BLEU+1
  std::vector<int32_t> edges;  // pre-order; empty where the forest has no derivation
};

// `beam` partial translations are kept of a node, the best by BLEU+1 against a reference as long as the node's share of
// the source words; 0: all. references[s] are those of forest s, at least one each.
std::vector<ForestOracle> forest_oracles(const std::vector<const Forest*>& forests,
                                         const std::vector<std::vector<std::span<const int32_t>>>& references,
                                         int order, int64_t beam, int n_threads, Control& control);

}  // namespace dragoman::forest
