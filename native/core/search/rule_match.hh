// Which source sides of a grammar of rules match somewhere in a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/grammar/tables.hh"

namespace dragoman::search {

struct MatchLimits {
  int max_span = 20;  // words a rule covers
  int max_gap = 20;   // words a nonterminal covers
};

// Reusable, for one thread at a time.
class RuleMatcher {
 public:
  RuleMatcher(const grammar::GrammarTables& tables, const MatchLimits& limits) : tables_(tables), limits_(limits) {}

  // Appends the source sides, in lexicographic order. A nonterminal matches any words, whatever its label.
  void match(std::span<const grammar::Symbol> sentence, std::vector<int64_t>& sources);

 private:
  // For every place of the sentence the last one before it that a match of a trie node's symbols which ends here can
  // have begun at, or -1. An earlier begin can do nothing that a later one cannot.
  using Begins = std::vector<int32_t>;

  void visit(int64_t node, size_t depth, std::vector<int64_t>& sources);
  bool pass_gap(const Begins& from, Begins& to) const;
  bool pass_word(size_t word, const Begins& from, Begins& to) const;

  const grammar::GrammarTables& tables_;
  MatchLimits limits_;
  int32_t length_ = 0;
  std::vector<std::pair<grammar::Symbol, std::vector<int32_t>>> words_;  // distinct, ascending, with their places
  std::vector<Begins> levels_;
};

}  // namespace dragoman::search
