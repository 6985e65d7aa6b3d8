// Candidates of some sentences, given by their derivations: the numbers of forest::Derivations, which may come from a
// file, with the words and folds of the sentences.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/ragged.hh"

namespace dragoman::search {

struct DerivationBatch {
  Sentences words;
  std::span<const int16_t> folds;              // by sentence: the fold that its grammar lacks, or -1
  std::span<const int64_t> first_candidate;    // candidates of sentence s: first_candidate[s] to the next
  std::span<const int64_t> first_application;  // applications of sentence s: first_application[s] to the next
  std::span<const int64_t> rules;              // -1: a word passed through
  std::span<const int32_t> begins, ends;
  Ragged<int32_t> derivations;  // rows: candidates; numbers of applications within the sentence

  int64_t size() const { return words.size(); }
  // Throws InputError unless everything fits together, except that rules fit their words.
  void check() const;
};

}  // namespace dragoman::search
