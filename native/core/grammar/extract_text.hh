// What the extraction of phrases and that of rules have in common: settings, checks of the text, counts of words.
#pragma once

#include <cstdint>
#include <span>

#include "core/align/links.hh"
#include "core/grammar/build.hh"
#include "core/grammar/word_counts.hh"

namespace dragoman::grammar {

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

// Throws std::invalid_argument where the arguments do not fit each other.
void check_text(const ParallelText& text, const align::Links& links, const ExtractOptions& options);
// Throws InputError with the sentence's line (from 1) where a link does not lie in its sentence pair.
void check_links(std::span<const align::Link> links, size_t n_source, size_t n_target, int64_t sentence);

// Counts the linked words of a sentence pair; `degrees` knows how many links a word has.
template <typename Degrees>
void count_words(std::span<const Symbol> source, std::span<const Symbol> target, std::span<const align::Link> links,
                 uint8_t fold, const Degrees& degrees, WordCounter::Writer& words) {
  for (const align::Link& link : links)
    words.add(source[static_cast<size_t>(link.source)], target[static_cast<size_t>(link.target)], fold);
  for (size_t i = 0; i < source.size(); ++i)
    if (!degrees.source_degree(static_cast<int>(i))) words.add(source[i], kNullWord, fold);
  for (size_t j = 0; j < target.size(); ++j)
    if (!degrees.target_degree(static_cast<int>(j))) words.add(kNullWord, target[j], fold);
}

}  // namespace dragoman::grammar
