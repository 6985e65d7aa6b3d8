// The distinct bigrams of a text with their counts, by first and by second word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"

namespace dragoman::corpus {

// A word that stands beside another, and how often it does.
struct Neighbour {
  int32_t word;
  int64_t count;
};

// Words are numbered by descending count, ties by id: the most frequent is 0. The boundary of sentences is one more
// word, with the number n_words(), before the first and after the last word of each; empty sentences do not count.
class WordBigrams {
 public:
  // Ids are below n_ids; throws std::invalid_argument otherwise.
  WordBigrams(Sentences text, int32_t n_ids, Control& control);

  int32_t n_words() const { return static_cast<int32_t>(ids_.size()); }
  int32_t boundary() const { return n_words(); }
  int32_t n_ids() const { return n_ids_; }
  // The id of a word, and the other way round (-1: the text lacks it).
  int32_t id(int32_t word) const { return ids_[at(word)]; }
  int32_t word_of(int32_t id) const { return word_of_[at(id)]; }
  // Occurrences; of the boundary: sentences.
  int64_t count(int32_t word) const { return counts_[at(word)]; }
  std::span<const Neighbour> before(int32_t word) const { return before_[word]; }
  std::span<const Neighbour> after(int32_t word) const { return after_[word]; }

 private:
  void count_words(Sentences text);
  void count_pairs(Sentences text, Control& control);

  int32_t n_ids_;
  std::vector<int32_t> ids_;
  std::vector<int32_t> word_of_;
  std::vector<int64_t> counts_;
  RaggedVector<Neighbour> before_;
  RaggedVector<Neighbour> after_;
};

}  // namespace dragoman::corpus
