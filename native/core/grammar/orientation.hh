// The link structure of one sentence pair: which blocks are consistent, and how a phrase lies to its neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/align/links.hh"
#include "core/grammar/key.hh"

namespace dragoman::grammar {

// Spans are inclusive: [begin, end].
struct PhraseSpan {
  int source_begin, source_end, target_begin, target_end;
};

// A block is a pair of spans with at least one link inside and none that leaves it (unaligned words may lie at its
// borders). Reusable: `assign` replaces the content.
class SentenceBlocks {
 public:
  // Links must lie inside the sentence pair (checked by the caller) and be distinct. Phrases have at most max_length
  // words a side; the phrase-based model looks at blocks of that size, the hierarchical one at blocks of any size.
  void assign(int n_source, int n_target, std::span<const align::Link> links, int max_length);

  // All phrases, by target end, target begin, source begin, source end.
  template <typename Body>
  void each_phrase(Body&& body) const {
    for (const PhraseSpan& tight : tight_phrases_) {
      int begin = tight.source_begin;
      do {
        int end = tight.source_end;
        do {
          if (end - begin >= max_length_) break;
          body(PhraseSpan{begin, end, tight.target_begin, tight.target_end});
          ++end;
        } while (end < n_source_ && source_degree(end) == 0);
        --begin;
      } while (begin >= 0 && source_degree(begin) == 0);
    }
  }

  OrientationCode orientation(const PhraseSpan& phrase) const;

  int source_degree(int i) const { return source_sums_[i + 1] - source_sums_[i]; }
  int target_degree(int j) const { return target_sums_[j + 1] - target_sums_[j]; }
  // Target positions linked to source word i, ascending.
  std::span<const int32_t> targets_of(int i) const {
    return std::span(targets_).subspan(source_sums_[i], source_degree(i));
  }

 private:
  // Bits over (target position, source position).
  class Corners {
   public:
    void assign(int n_source, int n_target);
    void set(int target, int source) { words_[index(target, source)] |= uint64_t{1} << (source & 63); }
    bool has(int target, int source) const {
      if (target < 0 || target >= n_target_ || source < 0 || source >= n_source_) return false;
      return words_[index(target, source)] >> (source & 63) & 1;
    }

   private:
    size_t index(int target, int source) const { return static_cast<size_t>(target) * row_ + (source >> 6); }
    std::vector<uint64_t> words_;
    int n_source_ = 0, n_target_ = 0;
    size_t row_ = 0;
  };
  // Where blocks of one kind end or begin. `after_*`: at (last target word, first or last source word) of a block, for
  // the phrase after it; `before_*`: at (first target word, ...), for the phrase before it.
  struct CornerSet {
    Corners after_last, after_first, before_first, before_last;
    void assign(int n_source, int n_target);
  };

  void add_block(const PhraseSpan& tight);
  bool linked(int source, int target) const;
  Orientation side(const PhraseSpan& phrase, Direction direction) const;
  Orientation by_word(const PhraseSpan& phrase, Direction direction) const;
  Orientation by_block(const PhraseSpan& phrase, Direction direction, const CornerSet& corners) const;
  bool global(const PhraseSpan& phrase, Direction direction) const;

  int n_source_ = 0, n_target_ = 0, max_length_ = 0;
  std::vector<int> source_sums_, target_sums_;      // links before a position
  std::vector<int> min_source_, max_source_;        // of a target word's links
  std::vector<int32_t> targets_;                    // by source word
  std::vector<int> previous_linked_, next_linked_;  // nearest target word with links before / after, or -1 / n_target
  std::vector<int> prefix_max_, suffix_min_;        // over the links of target words before / from a position
  std::vector<PhraseSpan> tight_phrases_;
  CornerSet phrase_corners_, block_corners_;
};

}  // namespace dragoman::grammar
