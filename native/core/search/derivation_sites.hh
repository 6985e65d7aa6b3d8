// Where the rules of derivations are applied: everything that a feature of an application can depend on. Candidates of
// a sentence share most of their sites.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/grammar/tables.hh"
#include "core/search/derivation_batch.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::search {

// The rules of a batch as templates see them, each once per fold.
struct DerivationRules {
  static constexpr uint32_t kPassed = UINT32_MAX;
  std::vector<uint32_t> row_of_application;  // kPassed for a word passed through
  std::vector<templates::RuleSight> sights;  // by row, in the order of first use

  DerivationRules(const grammar::GrammarTables& tables, const DerivationBatch& batch, int n_threads, Control& control);
};

struct SourceGap {
  int32_t begin, end;
  friend bool operator==(const SourceGap&, const SourceGap&) = default;
};

// The sites of one sentence: an application, and the source words that its nonterminals cover.
struct DerivationSites {
  std::vector<uint32_t> application;   // by site, its number within the sentence
  std::vector<uint32_t> first_gap{0};  // gaps of site i: first_gap[i] to first_gap[i + 1], in the order of the source
  std::vector<SourceGap> gaps;
  std::vector<uint32_t> steps;  // by application of every candidate, its site

  size_t size() const { return application.size(); }
  std::span<const SourceGap> gaps_of(size_t site) const {
    return std::span(gaps).subspan(first_gap[site], first_gap[site + 1] - first_gap[site]);
  }
};

// Throws InputError where a rule does not match the words, or rules do not make up trees over the whole sentence.
DerivationSites find_sites(const DerivationBatch& batch, const DerivationRules& rules, int64_t sentence, bool is_rules);

}  // namespace dragoman::search
