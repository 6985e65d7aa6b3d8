// The mapped tables of a grammar: phrase pairs or rules, unpruned, with counts per fold. Phrases and rules share them:
// a side is a sequence of symbols, words from 0, nonterminals negative. Content comes from files and is checked where
// it is used; what does not fit is an InputError, never a crash.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/errors.hh"
#include "core/base/ragged.hh"
#include "core/grammar/key.hh"

namespace dragoman::grammar {

[[noreturn]] inline void throw_damaged_grammar() {
  throw InputError("the grammar is damaged: its tables do not fit together; make it again");
}

// Rows of values behind offsets that nobody has checked yet.
template <typename T>
struct CheckedRows {
  std::span<const int64_t> offsets;
  std::span<const T> values;

  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::pair<int64_t, int64_t> bounds(int64_t row) const {
    if (row < 0 || row >= size()) throw_damaged_grammar();
    const int64_t begin = offsets[static_cast<size_t>(row)], end = offsets[static_cast<size_t>(row) + 1];
    if (begin < 0 || end < begin || static_cast<size_t>(end) > values.size()) throw_damaged_grammar();
    return {begin, end};
  }
  std::span<const T> operator[](int64_t row) const {
    const auto [begin, end] = bounds(row);
    return values.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
};

// Which occurrences of rules count.
enum class Origin : uint8_t { kAny, kExtracted, kAdded };

// What to look at: all folds or all but one, and of grammars whose rules are extracted or added, one kind or both.
class FoldFilter {
 public:
  explicit FoldFilter(int excluded = -1, Origin origin = Origin::kAny) : excluded_(excluded), origin_(origin) {}
  // The same folds.
  FoldFilter of(Origin origin) const { return FoldFilter(excluded_, origin); }
  bool has(FoldCount count) const { return has(count.fold(), count.added()); }
  bool has(Event event) const { return has(event.fold(), origin_ != Origin::kAny && event.kind() == RuleKind::kAdded); }
  int64_t sum(std::span<const FoldCount> counts) const {
    int64_t total = 0;
    for (const FoldCount c : counts)
      if (has(c)) total += c.count();
    return total;
  }
  int64_t sum(std::span<const Event> events) const {
    int64_t total = 0;
    for (const Event e : events)
      if (has(e)) total += e.count();
    return total;
  }

 private:
  bool has(uint8_t fold, bool added) const {
    return fold != excluded_ && (origin_ == Origin::kAny || added == (origin_ == Origin::kAdded));
  }

  int excluded_;
  Origin origin_;
};

// Which extracted rules are left out: those that occur less often, either with nonterminals or, of those with and
// without, the composed ones.
struct RuleCut {
  int64_t min_count = 1;
  bool composed = false;
};

struct GrammarTables {
  // Sides in lexicographic order; the pairs of source s are [pairs(s)], ordered by target.
  CheckedRows<Symbol> sources, targets;
  CheckedRows<int32_t> pair_targets;  // rows: sources
  CheckedRows<Event> pair_events;     // rows: pairs; ordered by alignment, fold, orientation
  CheckedRows<FoldCount> source_counts, target_counts;
  CheckedRows<PhraseLink> alignments;
  std::span<const Symbol> trie_symbols;
  std::span<const int64_t> trie_children;
  std::span<const int32_t> trie_source;
  // Rows of words w + 1, the empty word first.
  CheckedRows<uint64_t> word_pairs;  // keys, by source word
  CheckedRows<FoldCount> word_pair_counts, source_words, target_words;
  // Grammars read from elsewhere: scores and reordering scores a pair, as many as these say; none otherwise, and
  // n_given_scores is -1. Scores of phrase pairs are four natural logs.
  std::span<const float> given_scores, given_reordering;
  int n_given_reordering = 0, n_given_scores = -1;
  // Of rules. Their target sides have the left-hand label in front and the i-th nonterminal of the source side as
  // -1 - i; their source sides have nonterminals of label L as -1 - L. Extracted ones have a mass by event, in units of
  // kMassUnit, and marginals are of mass.
  bool is_rules = false;
  std::span<const uint64_t> event_mass;
  // Of extracted rules: what was left out, and whether there are added ones. Source sides that only these have are not
  // in the trie, which is the decoder's.
  RuleCut cut;
  bool has_added = false;

  int64_t n_sources() const { return sources.size(); }
  int64_t n_pairs() const { return pair_events.size(); }
  bool is_given() const { return n_given_scores >= 0; }
  // The mass of a pair in some folds.
  uint64_t mass(int64_t pair, const FoldFilter& folds) const;
  // What of a rule a view of some folds shows: how often it was extracted or, where that is not often enough, added.
  // Rules with given scores are always shown. A count of 0: nothing.
  struct Shown {
    int64_t count = 0;
    RuleKind kind = RuleKind::kComposed;
    Origin origin = Origin::kAny;  // of the occurrences
  };
  Shown shown(int64_t rule, const FoldFilter& folds, const RuleCut& cut, bool has_gaps) const;

  // Sizes that must agree; cheap. Throws InputError.
  void check() const;
  // Ids of exact matches, or -1.
  int64_t find_source(std::span<const Symbol> symbols) const;
  int64_t find_target(std::span<const Symbol> symbols) const;
  int64_t find_pair(int64_t source, int64_t target) const;
  int64_t find_pair(std::span<const Symbol> source, std::span<const Symbol> target) const;
  int64_t source_of_pair(int64_t pair) const;
  int64_t target_of_pair(int64_t pair) const;
  // The children [begin, end) of a trie node, ordered by symbol.
  std::pair<int64_t, int64_t> children(int64_t node) const;
  // How often each word occurs, in all folds; empty for a grammar with given scores, which has no counts.
  std::vector<int64_t> word_counts(const CheckedRows<FoldCount>& words) const;
  // How often each source and each target word is unaligned, in all folds; as above for given scores.
  std::vector<int64_t> unaligned_source_words() const;
  std::vector<int64_t> unaligned_target_words() const;
  // The child of a trie node by a symbol, or -1.
  int64_t child(int64_t node, Symbol symbol) const;
};

}  // namespace dragoman::grammar
