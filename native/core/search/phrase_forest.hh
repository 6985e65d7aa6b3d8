// What search found, as a forest: its hypotheses are the nodes, the ways into them the edges.
#pragma once

#include <cstdint>
#include <span>

#include "core/forest/forest.hh"
#include "core/search/phrase_transition.hh"

namespace dragoman::search {

struct PhraseSearchSpace {
  const PhraseBatch& batch;
  int64_t sentence;
  const PhraseFeatures& features;
  const Prepared& prepared;
  const Coverages& coverages;
  const Hypotheses& hypotheses;
  std::span<const float> end_lm;  // the language model's increment for the end, of each hypothesis of the last stack
};

// The source words from the first to the last covered one.
forest::Forest::Span covered_span(const Coverages& coverages, uint32_t coverage, int32_t n_words);

forest::Forest phrase_forest(const PhraseSearchSpace& space, Transitions& transitions);

}  // namespace dragoman::search
