#include "core/templates/sight.hh"

#include <algorithm>

#include "core/grammar/lexical_weights.hh"

namespace dragoman::templates {

RuleSight sight_of(const grammar::GrammarTables& tables, const grammar::FoldFilter& folds, int64_t rule) {
  RuleSight sight;
  sight.source = tables.sources[tables.source_of_pair(rule)];
  sight.target = tables.targets[tables.target_of_pair(rule)];
  const auto events = tables.pair_events[rule];
  sight.rule = rule;
  grammar::FoldFilter own = folds;
  if (tables.is_rules) {
    const bool has_gaps = std::ranges::any_of(sight.source, [](grammar::Symbol symbol) { return symbol < 0; });
    const auto shown = tables.shown(rule, folds, tables.cut, has_gaps);
    if (shown.count > 0) own = folds.of(shown.origin);
    if (sight.target.empty() || sight.target[0] >= 0) grammar::throw_damaged_grammar();
    sight.lhs = grammar::symbol_label(sight.target[0]);
    sight.target = sight.target.subspan(1);
  }
  sight.count = own.sum(events);
  if (!tables.is_given())
    sight.links = grammar::best_alignments(tables, own, rule).by_target;
  else if (!events.empty())
    sight.links = tables.alignments[events.front().alignment()];
  return sight;
}

}  // namespace dragoman::templates
