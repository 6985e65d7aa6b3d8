// All hierarchical rules of a word-aligned bitext, with their mass, into the tables of a grammar.
#pragma once

#include "core/base/control.hh"
#include "core/grammar/extract_text.hh"
#include "core/grammar/rule_enumerate.hh"

namespace dragoman::grammar {

// What becomes of rules of minimal trees that the limits do not allow.
struct AddedRules {
  bool are_kept = false;  // as added rules, except for those that are too long
  // Sentence pairs with a greater share of source words in such rules are left out.
  double max_share = 1;
};

struct RuleExtractStats : ExtractStats {
  int64_t n_left_out = 0;        // sentence pairs, because of max_share
  int64_t n_added_too_long = 0;  // rules with too many symbols
};

// A cut of options.build.cut.min_count above 1 makes the text be read three times, and rules that occur once never
// reach the scratch files. Of options, max_length is not used.
RuleExtractStats extract_rules(const ParallelText& text, const align::Links& links, const RuleLimits& limits,
                               const AddedRules& added, ExtractOptions options, Control& control);

}  // namespace dragoman::grammar
