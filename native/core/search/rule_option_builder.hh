// All rules that match in a batch of sentences, from a view of a grammar into the flat arrays that a chart reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/align/links.hh"
#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/grammar/rule_view.hh"
#include "core/names/feature_index.hh"
#include "core/search/batch.hh"
#include "core/search/rule_batch.hh"
#include "core/search/rule_match.hh"
#include "core/templates/application_template.hh"
#include "core/templates/context_rows.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::search {

class RuleOptionBuilder {
 public:
  // The view and the words that `templates` names by must outlive it.
  // Rules get the scores of these columns of the view.
  RuleOptionBuilder(const grammar::RuleView& view, const MatchLimits& limits, templates::TemplateSet templates,
                    std::vector<size_t> score_columns, std::vector<std::string> labels);

  // A batch on its way: everything is there but the ids of its sparse features, whose names wait in `rows`.
  struct Draft {
    RuleBatch rules;                           // pass_through is kMustPass where no rule covers just that word, else 0
    std::vector<int64_t> row_of_pattern;       // the first row of each pattern's rules, which follow each other
    std::vector<templates::FeatureRows> rows;  // of rules in the order of their source sides, in chunks
    std::vector<templates::ContextRows> context_rows;
    templates::FeatureRows gap_rows;
  };
  // With `pairs`, not those that no derivation of the translations can have, nor, unless `wide`, those that nothing
  // would compete with. Throws InputError for a link outside its pair.
  struct AlignedPairs {
    const Sentences& targets;
    const align::Links& links;
    bool wide;
  };
  Draft draft(const Sentences& sentences, int n_threads, Control& control, const AlignedPairs* pairs = nullptr) const;
  // Not of what matches, but of source sides of the pairs' minimal trees: of those rules that the view shows as added
  // ones, or that cover more words than rules may here. These themselves are there whatever the limit on targets.
  // Throws InputError for a link outside its pair.
  Draft draft_minimal(const Sentences& sentences, const Sentences& targets, const align::Links& links, int n_threads,
                      Control& control) const;
  // Gives words that pass through and sparse features their ids; features that the index lacks are new ones of the
  // batch, or left out without `keep_new`; blocks (null: none) take the place of what they cover. Throws InputError
  // when what the tables say does not fit together.
  static RuleBatch finish(Draft&& draft, const PassedWords& passed, const names::FeatureIndex& index, bool keep_new,
                          const templates::Blocks* blocks = nullptr);

 private:
  struct Wanted;
  struct Found;
  Draft draft_of(const Sentences& sentences, const Wanted& wanted, int n_threads, Control& control) const;
  void add_contexts(const Sentences& sentences, const Found& found, Draft& draft, int n_threads,
                    Control& control) const;
  void add_gaps(const Found& found, Draft& draft, int n_threads, Control& control) const;

  const grammar::RuleView& view_;
  MatchLimits limits_;
  templates::TemplateSet templates_;
  std::vector<size_t> score_columns_;
  std::vector<std::string> labels_;
};

}  // namespace dragoman::search
