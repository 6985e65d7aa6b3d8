// The rules of a sentence pair's minimal tree: a node's words, with nonterminals for its children.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/align/minimal_tree.hh"
#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/grammar/rule_enumerate.hh"
#include "core/grammar/tables.hh"

namespace dragoman::grammar {

// Spans are valid until the next rule is read.
struct MinimalRule {
  std::span<const Symbol> source, target;  // as in a grammar's tables: the target begins with the left-hand side
  std::span<const PhraseLink> links;       // places of symbols, sorted; none where a side has too many of them
  std::span<const int32_t> children;       // nodes from left to right in the source
  int32_t n_source_words;
  // Whether a side has more symbols than a rule of a grammar can have.
  bool is_too_long;
};

// Reusable, for one thread at a time: assign() replaces the sentence pair.
class MinimalRules {
 public:
  static constexpr size_t kMaxSymbols = 255;  // a side

  // Links lie inside the sentence pair and are distinct and sorted (checked by the caller).
  void assign(std::span<const Symbol> source, std::span<const Symbol> target, std::span<const align::Link> links);

  std::span<const align::TreeNode> nodes() const { return nodes_; }
  // The rule of a node.
  MinimalRule rule(size_t node);
  // Whether rules are extracted at the place of the rule of a node as it is.
  bool is_within(size_t node, const MinimalRule& rule, const RuleLimits& limits) const;

 private:
  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  std::span<const Symbol> source_, target_;
  std::span<const align::Link> links_;
  align::TreeBuilder builder_;
  std::vector<align::TreeNode> nodes_;
  std::vector<int32_t> first_child_, children_;  // by node
  std::vector<int32_t> first_link_;              // by source word
  std::vector<uint8_t> target_linked_;
  std::vector<int32_t> places_;  // by target word, the symbol that it is in the rule that is read
  std::vector<int32_t> order_;   // scratch
  std::vector<Symbol> source_side_, target_side_;
  std::vector<PhraseLink> inner_;
};

// The ids of the rules of all nodes of the minimal trees of sentence pairs, one pair after the other; -1: not in the
// grammar. Throws InputError for a link outside its pair.
std::vector<int64_t> find_minimal_rules(const GrammarTables& tables, const Sentences& source, const Sentences& target,
                                        const align::Links& links, int n_threads, Control& control);

}  // namespace dragoman::grammar
