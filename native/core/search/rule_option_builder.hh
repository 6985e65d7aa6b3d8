// All rules that match in a batch of sentences, from a view of a grammar into the flat arrays that a chart reads.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/grammar/rule_view.hh"
#include "core/names/feature_index.hh"
#include "core/search/rule_match.hh"
#include "core/templates/application_template.hh"
#include "core/templates/context_rows.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::search {

// Arrays as a chart decoder's batch has them.
struct BuiltContexts {
  std::vector<int64_t> first_place;
  std::vector<int32_t> symbols, positions;
  std::vector<int64_t> first_row;
  std::vector<int64_t> feature_offsets;
  std::vector<int32_t> feature_ids;
  std::vector<float> feature_values;
};
struct BuiltGaps {
  std::vector<int64_t> first_class;
  std::vector<int32_t> classes;
  int32_t max_length = 1;
  std::vector<int64_t> feature_offsets;
  std::vector<int32_t> feature_ids;
  std::vector<float> feature_values;
};
struct BuiltRules {
  std::vector<int32_t> pass_through;  // -1 where no rule covers just that word, so that it must pass; else 0
  std::vector<int64_t> first_pattern, symbol_offsets;
  std::vector<int32_t> symbols;
  std::vector<int64_t> first_rule;
  std::vector<int32_t> lhs;
  std::vector<int64_t> target_offsets;
  std::vector<int32_t> targets;
  std::vector<int64_t> rules;
  std::vector<float> scores;
  std::vector<int64_t> feature_offsets;
  std::vector<int32_t> feature_ids;
  std::vector<float> feature_values;
  std::optional<BuiltContexts> contexts;
  std::optional<BuiltGaps> gaps;
};

class RuleOptionBuilder {
 public:
  // The view and the words that `templates` names by must outlive it.
  RuleOptionBuilder(const grammar::RuleView& view, const MatchLimits& limits, templates::TemplateSet templates);

  // A batch on its way: everything is there but the ids of its sparse features, whose names wait in `rows`.
  struct Draft {
    BuiltRules rules;
    std::vector<int64_t> row_of_pattern;       // the first row of each pattern's rules, which follow each other
    std::vector<templates::FeatureRows> rows;  // of rules in the order of their source sides, in chunks
    std::vector<templates::ContextRows> context_rows;
    templates::FeatureRows gap_rows;
  };
  Draft draft(const Sentences& sentences, int n_threads, Control& control) const;
  // Gives the sparse features their ids, new ones in the order of source sides, then of sentences; without `grow`
  // features that the index lacks are left out. Not thread-safe: it changes the index.
  static BuiltRules finish(Draft&& draft, names::FeatureIndex& index, bool grow);

  int n_scores() const { return view_.n_scores(); }

 private:
  struct Found;
  void add_contexts(const Sentences& sentences, const Found& found, Draft& draft, int n_threads,
                    Control& control) const;
  void add_gaps(const Found& found, Draft& draft, int n_threads, Control& control) const;

  const grammar::RuleView& view_;
  MatchLimits limits_;
  templates::TemplateSet templates_;
};

}  // namespace dragoman::search
