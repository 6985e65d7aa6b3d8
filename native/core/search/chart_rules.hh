// One sentence's rules as search sees them: a trie of the source sides, and for every source side that matches
// somewhere its rules with weighted local scores, best first. A source side's rules are looked at when it first
// matches. Where features depend on the place, its rules are weighed and ordered once for every combination of what
// they depend on: where its words stand, how long its nonterminals are.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/lm/pieces.hh"
#include "core/search/chart_search.hh"

namespace dragoman::search {

// What does not change between sentences.
struct ChartModel {
  const ChartSettings& settings;
  const ChartFeatures& features;
  const lm::Model* lm;
  std::span<const uint32_t> lm_words;
  const ChartLabels& labels;
  std::span<const double> weights;

  double weight(int32_t feature) const {
    return feature >= 0 && static_cast<size_t>(feature) < weights.size() ? weights[static_cast<size_t>(feature)] : 0;
  }
};

enum class ChartRuleKind : uint8_t {
  kGrammar,  // `place` is that in the batch
  kPass,     // a word passed through; `place` is its position
  kFirst,    // <s> and the first item of a row
  kGlue,     // a row and one more item
  kEnd,      // a row and </s>
};

struct ChartRule {
  double local;     // weighted local features
  double estimate;  // with the language model's opinion of the words, those after a nonterminal without their context
  int64_t place;
  uint32_t first_symbol, n_lead, n_symbols;  // in ChartRules::symbols; n_lead of them stand before a nonterminal
  ChartRuleKind kind;
  lm::Piece lead;  // the first n_lead symbols
};

class ChartRules {
 public:
  struct TrieNode {
    int32_t symbol;
    int32_t pattern;                                   // in the batch, -1 where none ends here
    uint32_t first_child, n_nonterminals, n_children;  // nonterminals come first; by symbol
  };
  // A rule to choose at some places.
  struct Choice {
    double extra;  // weighted features that depend on the place
    uint32_t rule, places;
  };
  // Consecutive choices of one source side with the same left-hand side, best first.
  struct Group {
    int32_t lhs;
    uint32_t first, size;
  };
  // Rules whose source side is one nonterminal.
  struct Unary {
    int32_t from;  // label
    int32_t pattern;
  };

  // `lm` is null where the model has none; it forgets what it knows when a sentence starts.
  ChartRules(const ChartModel& model, lm::Pieces* lm) : model_(model), lm_(lm) {}
  // With `wanted`, the grammar has only the rules, by their place in the batch, of which it is true; the trie has all.
  void start(const RuleBatch& batch, int64_t sentence, std::function<bool(int64_t)> wanted = {});

  uint32_t n_nodes() const { return static_cast<uint32_t>(trie_.size()); }
  const TrieNode& node(uint32_t i) const { return trie_[i]; }
  // The child by a word; 0 where there is none.
  uint32_t child(const TrieNode& node, int32_t word) const;
  // Of a source side that matches from `begin` on, its symbols up to `ends`.
  std::span<const Group> groups(int32_t pattern, int32_t begin, std::span<const int32_t> ends);
  // Whether no rule of the grammar covers just this word; a new rule that passes it through.
  bool needs_pass(int32_t position) const;
  uint32_t pass(int32_t position);
  uint32_t first_item() const { return 0; }
  uint32_t glue() const { return 1; }
  uint32_t end() const { return 2; }

  // Labels such that unary rules only lead to later ones, and those that lead to each label.
  std::span<const int32_t> label_order() const { return label_order_; }
  std::span<const Unary> unaries(int32_t lhs) const { return unaries_[static_cast<size_t>(lhs)]; }

  size_t n_choices() const { return choices_.size(); }
  const Choice& choice(uint32_t i) const { return choices_[i]; }
  const ChartRule& rule(const Choice& choice) const { return rules_[choice.rule]; }
  // Words of the language model, and nonterminals as in target sides.
  std::span<const int32_t> symbols(const ChartRule& rule) const {
    return {symbols_.data() + rule.first_symbol, rule.n_symbols};
  }
  // As they stand on an instance of the rule.
  void append_target(const ChartRule& rule, std::vector<int32_t>& out) const;
  void append_features(const Choice& choice, std::vector<forest::Feature>& out) const;
  int64_t grammar_id(const ChartRule& rule) const {
    return rule.kind == ChartRuleKind::kGrammar ? batch_->rules[static_cast<size_t>(rule.place)] : -1;
  }

 private:
  static constexpr uint32_t kNowhere = 0;  // places that nothing depends on
  // What features depend on: rows of the contexts of a pattern's runs of words, then lengths of its nonterminals.
  struct Places {
    int32_t pattern;
    uint32_t first_part, n_rows, n_lengths;  // in parts_
    uint32_t first_group, n_groups;
  };

  void build_trie();
  void order_labels();
  void add_special(ChartRuleKind kind, int64_t place);
  ChartRule made(ChartRuleKind kind, int64_t place);
  void append_local(const ChartRule& rule, std::vector<forest::Feature>& out) const;
  // The rules of a pattern, in rules_.
  std::pair<uint32_t, uint32_t> rules_of(int32_t pattern);
  // The places that a match stands for, found or new.
  uint32_t places_of(int32_t pattern, int32_t begin, std::span<const int32_t> ends);
  void make_groups(Places& places, uint32_t id);
  // Calls body(ids, values) for the features of a grammar's rule that depend on its places.
  template <typename Body>
  void each_placed(const Places& places, int64_t rule, Body&& body) const;
  int32_t n_unknown_words(std::span<const int32_t> target) const;

  const ChartModel& model_;
  lm::Pieces* lm_;
  const RuleBatch* batch_ = nullptr;
  int64_t sentence_ = 0;
  std::function<bool(int64_t)> wanted_;
  std::vector<TrieNode> trie_;
  std::vector<std::pair<int64_t, int64_t>> ranges_;  // patterns below each node of the trie
  std::vector<ChartRule> rules_;
  std::vector<int32_t> symbols_;
  std::vector<std::pair<uint32_t, uint32_t>> pattern_rules_;  // first and number in rules_, by pattern of the sentence
  std::vector<Choice> choices_, unsorted_;
  std::vector<Group> groups_;
  std::vector<Places> places_;
  std::vector<int64_t> parts_;
  std::vector<uint32_t> place_slots_;  // open addressing: in places_, or kNowhere
  std::vector<int32_t> label_order_;
  std::vector<std::vector<Unary>> unaries_;
  std::vector<int32_t> target_;
  std::vector<forest::Feature> features_;
};

}  // namespace dragoman::search
