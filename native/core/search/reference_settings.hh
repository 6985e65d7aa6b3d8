// What forests around references are made of.
#pragma once

#include <cstdint>
#include <limits>

#include "core/align/links.hh"
#include "core/base/ragged.hh"
#include "core/forest/reference_forests.hh"

namespace dragoman::search {

struct ReferenceSettings {
  bool tight = false;         // spans neither begin nor end with unaligned words
  bool holes = true;          // minimal rules that the grammar lacks are supplied where there is no derivation without
  bool wide = false;          // what replaces a rule may have another source side
  int32_t max_wrong = 20;     // replacements of a rule (wide: of a node's rules) at most, the best by estimate; 0: all
  int32_t prior_column = -1;  // the batch's score log(1 + occurrences); -1: there is none
  double prior_weight = 1;    // of the log of the number of occurrences, where derivations are compared
  double hole_prior = -10;
  double beam = std::numeric_limits<double>::infinity();  // derivations of the reference worse than the best by more
  double wrong_beam = std::numeric_limits<double>::infinity();  // those with a replacement, by more, are left out
};

// Word-aligned translations, one for each sentence of a batch.
struct ReferencePairs {
  Ragged<int32_t> targets;  // target ids
  align::Links links;

  // Throws std::invalid_argument unless there is a pair for each sentence, and links lie inside.
  void check(const Sentences& sentences) const;
};

}  // namespace dragoman::search
