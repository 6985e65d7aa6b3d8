// The oracle derivation of a forest: highest BLEU+1 (Lin and Och 2004) against the references, by beam search over
// partial translations. Partial translations of a node are recombined when no context can distinguish them: equal
// (clipped) reference n-gram counts, length, first and last words. Exact with an unlimited beam.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

struct ForestOracle {
  double gain = 0;             // BLEU+1
  std::vector<int32_t> edges;  // pre-order; empty if the forest has no derivation
};

// Each node keeps the `beam` best partial translations by BLEU+1, with the reference length scaled to the node's share
// of the source words; 0 keeps all. references[s] are those of forest s, at least one each.
std::vector<ForestOracle> forest_oracles(const std::vector<const Forest*>& forests,
                                         const std::vector<std::vector<std::span<const int32_t>>>& references,
                                         int order, int64_t beam, int n_threads, Control& control);

}  // namespace dragoman::forest
