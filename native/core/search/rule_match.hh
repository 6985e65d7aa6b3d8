// Which source sides of a grammar of rules match somewhere in a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/align/links.hh"
#include "core/base/at.hh"
#include "core/grammar/tables.hh"
#include "core/search/link_counts.hh"

namespace dragoman::search {

struct MatchLimits {
  int max_span = 20;  // words a rule covers
  int max_gap = 20;   // words a nonterminal covers
};

// Spans of a sentence that can be nodes; those that cannot need not be matched.
class SpanFilter {
 public:
  // Those whose words have links, all of them to words that have none outside.
  void assign(int32_t n_source, int32_t n_target, std::span<const align::Link> links, int32_t max_span);
  bool allows(int32_t begin, int32_t end) const {
    return end - begin <= max_span_ && allowed_[at(begin) * at(max_span_) + at(end - begin - 1)] != 0;
  }
  // Whether some span ends there that begins at `begin` or before.
  bool ends(int32_t begin, int32_t end) const { return first_begin_[at(end)] <= begin; }

 private:
  int32_t max_span_ = 0;
  LinkCounts links_;
  std::vector<uint8_t> allowed_;
  std::vector<int32_t> first_begin_;  // of the spans that end at each place
};

// Reusable, for one thread at a time.
class RuleMatcher {
 public:
  RuleMatcher(const grammar::GrammarTables& tables, const MatchLimits& limits) : tables_(tables), limits_(limits) {}

  // Appends the source sides, in lexicographic order. A nonterminal matches any words, whatever its label. With a
  // filter those are left out that match with no nonterminal over spans that it allows, or nowhere where such a span
  // ends; single words stay.
  void match(std::span<const grammar::Symbol> sentence, std::vector<int64_t>& sources,
             const SpanFilter* filter = nullptr);

 private:
  // For every place of the sentence the last one before it that a match of a trie node's symbols which ends here can
  // have begun at, or -1. An earlier begin can do nothing that a later one cannot.
  using Begins = std::vector<int32_t>;

  void visit(int64_t node, size_t depth, std::vector<int64_t>& sources);
  bool pass_gap(const Begins& from, Begins& to) const;
  bool pass_word(size_t word, const Begins& from, Begins& to) const;
  bool is_allowed(size_t depth) const;

  const grammar::GrammarTables& tables_;
  MatchLimits limits_;
  const SpanFilter* filter_ = nullptr;
  int32_t length_ = 0;
  std::vector<std::pair<grammar::Symbol, std::vector<int32_t>>> words_;  // distinct, ascending, with their places
  std::vector<Begins> levels_;
};

}  // namespace dragoman::search
