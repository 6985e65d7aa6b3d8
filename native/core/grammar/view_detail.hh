// Parts of PhraseView that its two source files share.
#pragma once

#include "core/grammar/phrase_view.hh"

namespace dragoman::grammar {

struct PhraseView::Source {
  std::span<const Symbol> symbols;
  int64_t count;  // c(f) in the view
  int64_t first_pair, end_pair;
  Counts counts;
};

struct PhraseView::Candidate {
  int64_t pair, count;
  double p_target, rest = 0;
  size_t index = 0;
};

}  // namespace dragoman::grammar
