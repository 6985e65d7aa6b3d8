// Lexical weights of the pairs of a grammar, over the folds that a view looks at.
#pragma once

#include <cstdint>
#include <span>

#include "core/grammar/tables.hh"

namespace dragoman::grammar {

// The most frequent alignment of a pair, of a rule that with the most mass. Ties go to the greater one, compared word
// by word as sets of partners; there the direction of the lexical weight decides whose words are compared (as Moses'
// tables have it).
struct BestAlignments {
  std::span<const PhraseLink> by_target, by_source;
};
BestAlignments best_alignments(const GrammarTables& tables, const FoldFilter& folds, int64_t pair);

class LexicalWeights {
 public:
  // The tables must outlive it.
  LexicalWeights(const GrammarTables& tables, const FoldFilter& folds) : tables_(tables), folds_(folds) {}
  // The natural log of a probability; nonterminals are skipped.
  double log_weight(std::span<const Symbol> source, std::span<const Symbol> target, std::span<const PhraseLink> links,
                    bool of_target) const;

 private:
  double word_prob(int32_t source, int32_t target, bool of_target) const;

  const GrammarTables& tables_;
  FoldFilter folds_;
};

}  // namespace dragoman::grammar
