// A grammar of rules as a decoder sees it: all data or all but one fold, scored, cut and limited. Nothing is computed
// before a source side is looked up; a view is immutable and threads share it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/grammar/lexical_weights.hh"
#include "core/grammar/source_cache.hh"
#include "core/grammar/tables.hh"

namespace dragoman::grammar {

struct RuleViewOptions {
  int excluded_fold = -1;  // -1: none
  int max_targets = 20;    // of a source side, the best by p(e|f); 0: all
  int64_t min_count = 1;   // of the rules that the grammar's cut is about
  int rank_column = 0;     // of given scores, the one that decides which are best; -1: all are shown
  // Whether added rules are shown as well. That changes nothing of the others: of a source side, as many of the best
  // added rules come to them, scored by marginals that count both. Rules with given scores are shown in any case.
  bool added = false;
};

// p(e|f), p(f|e), lex(e|f), lex(f|e), log(1 + count), 1 if the count is 1: what extracted rules have.
constexpr int kNumRuleScores = 6;

struct Rule {
  int64_t rule = -1;  // the same in every view
  int64_t count = 0;  // in the view
  uint64_t mass = 0;  // in the view; 0 for given scores
  int32_t lhs = 0;    // a label
  RuleKind kind = RuleKind::kComposed;
  std::span<const Symbol> target;
  std::span<const PhraseLink> alignment;  // the most frequent one
};

// Rules and, rule by rule, their scores. Spans point into the grammar's tables.
struct RuleList {
  std::vector<Rule> rules;
  std::vector<float> scores;

  void clear() {
    rules.clear();
    scores.clear();
  }
};

class RuleView {
 public:
  // The tables must be of rules and outlive the view.
  RuleView(const GrammarTables& tables, const RuleViewOptions& options);

  // Appends the rules of one source side, by falling p(e|f).
  void lookup(int64_t source, RuleList& out) const;
  // Appends one rule, whatever the limit on targets; nothing where it does not occur in the view.
  void rule(int64_t rule, RuleList& out) const;
  // Whether the view shows a rule, and as an added one.
  bool is_added(int64_t rule) const;
  // Whether the training data of this view has the word.
  bool knows_source(int32_t word) const;
  bool knows_target(int32_t word) const;
  int n_scores() const { return tables_.is_given() ? tables_.n_given_scores : kNumRuleScores; }
  const GrammarTables& tables() const { return tables_; }

 private:
  struct Source {
    std::span<const Symbol> symbols;
    double mass, mass_with_added;
    bool has_gaps;
  };
  struct Candidate {
    int64_t rule;
    GrammarTables::Shown shown;
    double p, rest;
    size_t index;
  };

  Source read_source(int64_t source) const;
  void compute(int64_t source, RuleList& out) const;
  // Whether the view has the rule; its probability then.
  bool find(const Source& source, int64_t rule, Candidate& candidate) const;
  // Leaves the best and what ties with the last of them.
  void keep_best(std::vector<Candidate>& candidates) const;
  double p_target(const Source& source, const Candidate& candidate) const;
  double score(const Source& source, const Candidate& candidate, Rule& rule, float* scores) const;

  const GrammarTables& tables_;
  RuleViewOptions options_;
  RuleCut cut_;
  FoldFilter folds_;
  LexicalWeights lexical_;
  static constexpr int64_t kCachedRules = 24;  // source sides with more are kept once computed
  SourceCache<RuleList> cache_{1 << 14};
};

}  // namespace dragoman::grammar
