// All translation options of a batch of sentences, from a view of a grammar into the flat arrays that search reads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/grammar/phrase_view.hh"
#include "core/names/feature_index.hh"
#include "core/search/batch.hh"
#include "core/search/phrase_batch.hh"
#include "core/templates/context_rows.hh"
#include "core/templates/orientation_template.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::search {

class OptionBuilder {
 public:
  // The view and the words that `templates` names by must outlive it.
  OptionBuilder(const grammar::PhraseView& view, templates::TemplateSet templates)
      : view_(view), templates_(std::move(templates)) {}

  // A batch on its way: everything is there but the ids of its sparse features, whose names wait in `rows`.
  struct Draft {
    PhraseBatch options;                   // pass_through is kMustPass where no option covers just that word, else 0
    std::vector<uint32_t> pair_of_option;  // row of each option's pair
    std::vector<templates::FeatureRows> rows;  // of pairs in the order of first use, in chunks of kChunk
    std::vector<templates::ContextRows>
        context_rows;  // of options, in chunks of sentences; none without such templates
    std::optional<templates::OrientationParts> parts;  // rows: pairs in the order of first use, then source words
  };
  Draft draft(const Sentences& sentences, int n_threads, Control& control) const;
  // Gives words that pass through and sparse features their ids; features that the index lacks are new ones of the
  // batch, or left out without `keep_new`; blocks (null: none) take the place of what they cover. Throws InputError
  // when what the tables say does not fit together.
  static PhraseBatch finish(Draft&& draft, const PassedWords& passed, const names::FeatureIndex& index, bool keep_new,
                            const templates::Blocks* blocks = nullptr);

 private:
  static constexpr size_t kChunk = 256;
  static constexpr int64_t kContextSentences = 16;

  const grammar::PhraseView& view_;
  templates::TemplateSet templates_;
};

}  // namespace dragoman::search
