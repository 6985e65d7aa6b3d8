// The best derivation of a forest as a function of t along a line w + t.d (Kumar, Macherey, Dyer and Och 2009). A
// derivation's score is a line in t; a node has the upper envelope of its derivations' lines: the maximum over edges of
// the edge's line plus the sum of its tails' envelopes. It covers all derivations, not only the k best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

// Flat envelopes of many sentences: the lines of sentence s are [first[s], first[s + 1]), in increasing t.
struct EnvelopeLines {
  std::vector<int64_t> first{0};
  std::vector<double> from;  // a line is best from here to the next line's; -inf for a sentence's first
  std::vector<double> slopes, scores;
  std::vector<int32_t> forests;  // the derivation's forest, among those of the sentence
  std::vector<int64_t> token_offsets{0};
  std::vector<int32_t> tokens;
  std::vector<int64_t> edge_offsets{0};
  std::vector<int32_t> edges;  // pre-order
};

// The envelope over all derivations of each sentence's forests (such as those of several decoding rounds). A sentence
// without derivations has no lines.
EnvelopeLines forest_envelopes(const std::vector<std::vector<const Forest*>>& sentences,
                               std::span<const double> weights, std::span<const double> direction, int n_threads,
                               Control& control);

}  // namespace dragoman::forest
