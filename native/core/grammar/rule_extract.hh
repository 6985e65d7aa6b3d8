// All hierarchical rules of a word-aligned bitext, with their mass, into the tables of a grammar.
#pragma once

#include "core/base/control.hh"
#include "core/grammar/extract_text.hh"
#include "core/grammar/rule_enumerate.hh"

namespace dragoman::grammar {

// options.build.min_count above 1 leaves out rules with gaps that occur less often: then the text is read three times,
// and rules that occur once never reach the scratch files. Of options, max_length is not used.
ExtractStats extract_rules(const ParallelText& text, const align::Links& links, const RuleLimits& limits,
                           ExtractOptions options, Control& control);

}  // namespace dragoman::grammar
