// The rules of one word-aligned sentence pair (Chiang 2007): initial phrase pairs, some of whose sub-phrases become
// gaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/align/links.hh"
#include "core/grammar/alignment_keys.hh"
#include "core/grammar/build.hh"

namespace dragoman::grammar {

struct RuleLimits {
  int max_length = 10;     // words a side of an initial phrase
  bool tight = true;       // no unaligned words at the ends of initial phrases
  int max_gaps = 2;        // at most kMaxGaps
  int max_symbols = 5;     // words and gaps of a source side
  bool adjacent = false;   // whether gaps may be neighbours in the source
  bool aligned = true;     // whether a rule must have two words that are linked
  int min_source_gap = 1;  // words of a gap
  int min_target_gap = 1;
  bool fractional = true;  // whether the rules of an initial phrase share a mass of 1; else each has 1
};

// Reusable: assign() replaces the sentence pair.
class RuleEnumerator {
 public:
  explicit RuleEnumerator(const RuleLimits& limits) : limits_(limits) {}

  // Links lie inside the sentence pair and are distinct and sorted (checked by the caller).
  void assign(uint32_t sentence, std::span<const Symbol> source, std::span<const Symbol> target,
              std::span<const align::Link> links);

  int64_t size() const { return static_cast<int64_t>(found_.size()); }
  // A rule without its alignment and kind.
  Occurrence operator[](int64_t i) const;
  // Adds them.
  void complete(int64_t i, Occurrence& rule, AlignmentKeys& alignments);
  // Whether other rules within the limits make it up.
  bool is_composed(int64_t i) const { return composed(found_[static_cast<size_t>(i)]); }
  // How many rules an initial phrase pair has; 0 where it is none. Ends are not included.
  int64_t n_rules(int source_begin, int source_end, int target_begin, int target_end) const;

  int source_degree(size_t i) const { return first_link_[i + 1] - first_link_[i]; }
  int target_degree(size_t j) const { return target_degree_[j]; }

 private:
  struct Phrase {  // ends are not included
    int source_begin, source_end, target_begin, target_end;
  };
  struct Found {
    uint64_t source_hash;
    uint32_t phrase;
    Gaps source_gaps, target_gaps;
  };
  struct Walk {  // a source side that is being made from left to right
    int begin, at, n_symbols, n_gaps;
    bool after_gap, aligned;
    uint64_t hash;
    uint32_t gaps[kMaxGaps];  // phrases
  };

  void find_phrases();
  void add_phrase(const Phrase& phrase);
  void sort_phrases();
  void extend(const Walk& walk);
  void keep(const Walk& walk);
  bool composed(const Found& found) const;
  std::span<const Phrase> phrases_of(int source_begin, int source_end) const;
  size_t cell(int source_begin, int length) const {
    return static_cast<size_t>(source_begin) * static_cast<size_t>(limits_.max_length) +
           static_cast<size_t>(length - 1);
  }

  RuleLimits limits_;
  uint32_t sentence_ = 0;
  std::span<const Symbol> source_, target_;
  std::span<const align::Link> links_;
  std::vector<int> first_link_, target_degree_;  // by source word; links of a target word
  std::vector<int> target_sums_, low_, high_;    // links before a target word; its first and last partner
  std::vector<Phrase> phrases_, unsorted_;       // by source begin and end
  std::vector<uint32_t> first_phrase_;           // by cell
  std::vector<uint32_t> n_rules_;                // by phrase
  std::vector<Found> found_;
  std::vector<PhraseLink> inner_;
};

}  // namespace dragoman::grammar
