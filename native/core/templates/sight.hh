// What templates see of a rule of a grammar given by its id, in the view of some folds: no scores are computed.
#pragma once

#include <cstdint>

#include "core/templates/rule_template.hh"

namespace dragoman::templates {

// Equal to what a view's options show. Spans point into the tables. Throws InputError for a rule that is not there.
RuleSight sight_of(const grammar::GrammarTables& tables, const grammar::FoldFilter& folds, int64_t rule);

}  // namespace dragoman::templates
