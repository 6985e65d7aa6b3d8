// All consistent phrase pairs of a word-aligned bitext, with their orientations, into the tables of a grammar.
#pragma once

#include <cstdint>

#include "core/control.hh"
#include "core/grammar_build.hh"
#include "core/links.hh"

namespace dragoman {

struct ExtractOptions {
  int max_length = 7;           // words a side
  int max_sentence_length = 0;  // pairs with a longer side are left out
  int32_t n_source_words = 0, n_target_words = 0;
  BuildOptions build;
};

struct ExtractStats {
  BuildStats build;
  int64_t n_sentences = 0;  // that were used
  int64_t n_too_long = 0, n_empty = 0;
};

constexpr int kMaxPhraseLength = 255, kMaxSentenceLength = 4096;

// Throws InputError with the sentence's line (from 1) for a link outside its sentence pair.
ExtractStats extract_phrases(const ParallelText& text, const Links& links, const ExtractOptions& options,
                             Control& control);

}  // namespace dragoman
