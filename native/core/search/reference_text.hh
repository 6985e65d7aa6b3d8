// A given translation, as forests around references look at it: what a replacement of some of its words changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/lm/model.hh"
#include "core/metric/ngram_trie.hh"

namespace dragoman::search {

struct TargetRange {
  int32_t begin = 0, end = 0;
  friend bool operator==(const TargetRange&, const TargetRange&) = default;
};

// Nonterminals of what replaces words stand for ranges of the reference, by their slots.
class ReferenceText {
 public:
  // The model may be null.
  ReferenceText(const lm::Model* lm, std::span<const uint32_t> lm_words) : lm_(lm), lm_words_(lm_words) {}
  // `words` must outlive the sentence.
  void start(std::span<const int32_t> words);
  // The language model's score of the whole.
  double lm_total() const { return sums_.empty() ? 0 : sums_.back(); }
  // What that changes by when `target` is replaced by words of the language model.
  double lm_change(std::span<const int32_t> symbols, std::span<const TargetRange> inner, TargetRange target) const;
  // BLEU+1 of the whole when `target` is replaced.
  double gain(std::span<const int32_t> symbols, std::span<const TargetRange> inner, TargetRange target);

 private:
  uint32_t lm_word(int32_t target_word) const;

  const lm::Model* lm_;
  std::span<const uint32_t> lm_words_;
  std::span<const int32_t> words_;
  std::vector<lm::State> states_;  // before each word
  std::vector<double> sums_;       // the scores of the words before each
  bool has_ngrams_ = false;
  metric::NgramTrie ngrams_;
  std::vector<int32_t> string_;
};

}  // namespace dragoman::search
