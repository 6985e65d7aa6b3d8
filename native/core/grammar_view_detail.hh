// Parts of GrammarView that its two source files share.
#pragma once

#include "core/grammar_view.hh"

namespace dragoman {

struct GrammarView::Source {
  std::span<const Symbol> symbols;
  int64_t count;  // c(f) in the view
  int64_t first_pair, end_pair;
  Counts counts;
};

struct GrammarView::Candidate {
  int64_t pair, count;
  double p_target, rest = 0;
  size_t index = 0;
};

// The most frequent alignment of a pair. Ties go to the greater one, compared word by word as sets of partners; there
// the direction of the lexical weight decides whose words are compared (as Moses' tables have it).
struct BestAlignments {
  std::span<const PhraseLink> by_target, by_source;
};
BestAlignments best_alignments(const GrammarTables& tables, const FoldFilter& folds, int64_t pair);

}  // namespace dragoman
