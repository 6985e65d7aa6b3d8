// Sparse features of candidates computed from their derivations, for any templates: equal, bit by bit, to those that a
// decoder with these templates puts on the same candidates. Rules are looked up by their ids; no options are built.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/grammar/tables.hh"
#include "core/names/feature_index.hh"
#include "core/search/derivation_batch.hh"
#include "core/search/derivation_sites.hh"
#include "core/search/oriented_sites.hh"
#include "core/templates/application_template.hh"
#include "core/templates/context_rows.hh"
#include "core/templates/feature_columns.hh"
#include "core/templates/orientation_template.hh"

namespace dragoman::search {

// Features of candidates that are known: column i of the row-major values is feature ids[i].
struct DenseFeatures {
  std::span<const int32_t> ids;
  std::span<const float> values;
};

// Row c has the ids and values [offsets[c], offsets[c + 1]): ids ascend, and no value is zero.
struct CandidateFeatures {
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> ids;
  std::vector<float> values;
};

class DerivationFeatures {
 public:
  // The tables and the words that `templates` names by must outlive it.
  DerivationFeatures(const grammar::GrammarTables& tables, templates::TemplateSet templates)
      : tables_(tables), templates_(std::move(templates)), gaps_(templates_) {}

  const grammar::GrammarTables& tables() const { return tables_; }

  // Features by name, each once, and where they stand.
  struct Draft {
    std::vector<uint32_t> row_of_application;      // DerivationRules::kPassed, or a row of `rows`
    std::vector<templates::FeatureRows> rows;      // of rules in the order of first use, in chunks
    std::vector<DerivationSites> sites;            // by sentence
    std::vector<templates::ContextRows> contexts;  // a row for each run of words of each site, in chunks of kSentences
    std::vector<std::vector<uint8_t>> n_contexts;  // by sentence, rows of each site
    templates::FeatureRows gap_rows;               // as GapClasses has them
    std::vector<std::vector<int32_t>> rows_of_gaps;  // by sentence, for the gaps of its sites
    // Of phrases, with orientation templates: rows of rules, then of applications that pass a word through.
    std::optional<templates::OrientationParts> parts;
    std::vector<uint32_t> parts_of_application;  // rows
    std::vector<uint8_t> met;  // which parts candidates have with which orientations, as features of parts are numbered
    std::vector<OrientedSites> oriented;  // by sentence
  };
  Draft draft(const DerivationBatch& batch, int n_threads, Control& control) const;

  // The same with ids.
  struct Interned {
    Draft draft;
    templates::FeatureColumns rules, gaps;
    std::vector<templates::FeatureColumns> contexts;
    templates::FeatureColumns parts;  // as OrientationParts numbers them
  };
  // New features get ids in the order of rules, of gaps and of sentences; without `grow` those that the index lacks
  // are left out. `blocks` (null: none) stand for what they cover. Not thread-safe: it changes the index.
  static Interned intern(Draft&& draft, names::FeatureIndex& index, bool grow, const templates::Blocks* blocks);

  // The sums over each derivation, together with the dense features.
  CandidateFeatures sum(const DerivationBatch& batch, const Interned& interned, const DenseFeatures& dense,
                        int n_threads, Control& control) const;
  // Features of every application of a rule, without sums: a row for each step of each derivation, as on the instances
  // of a forest. Those of orientations are not among them.
  CandidateFeatures steps(const DerivationBatch& batch, const Interned& interned) const;

 private:
  static constexpr int64_t kChunk = 256;     // rules that are named together
  static constexpr int64_t kSentences = 16;  // sentences whose contexts are named together

  // Returns the number of rows of each site.
  std::vector<uint8_t> add_contexts(const DerivationBatch& batch, const DerivationRules& rules, int64_t sentence,
                                    const DerivationSites& sites, templates::ContextRows& out) const;
  std::vector<int32_t> gap_rows(const DerivationRules& rules, size_t first_application,
                                const DerivationSites& sites) const;
  // Gives the parts of the block before the first phrase.
  std::vector<int32_t> add_parts(const DerivationBatch& batch, const DerivationRules& rules, Draft& draft) const;

  const grammar::GrammarTables& tables_;
  templates::TemplateSet templates_;
  templates::GapClasses gaps_;
};

}  // namespace dragoman::search
