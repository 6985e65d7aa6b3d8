// The rules of a batch of sentences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ragged.hh"
#include "core/names/new_features.hh"

namespace dragoman::search {

// Source sides are words (>= 0) and labelled nonterminals (-1 - label); target sides words and -1 - i for the i-th
// nonterminal of the source side.

// Features that rules have because of the sentence's words beside theirs. A place of a pattern is where words of it
// that stand side by side may stand in the sentence; a match has one for each such run of words.
struct RuleContexts {
  std::vector<int64_t> first_place;         // places of pattern p: first_place[p] to first_place[p + 1]
  std::vector<int32_t> symbols, positions;  // the run's first symbol in the pattern, and where it stands
  std::vector<int64_t> first_row;           // rows of place k, one for each rule of the pattern: from first_row[k]
  RaggedVector<int32_t> feature_ids;
  std::vector<float> feature_values;
};

// Features that rules have because of how many words their nonterminals cover.
struct RuleGaps {
  std::vector<int64_t> first_class;  // classes of pattern p, rule by rule, those of its nonterminals
  std::vector<int32_t> classes;
  int32_t max_length = 1;             // longer ones are as long
  RaggedVector<int32_t> feature_ids;  // row: class * max_length + length - 1
  std::vector<float> feature_values;
};

struct RuleBatch {
  RaggedVector<int32_t> words;         // a word unknown to the grammar has any id that no pattern uses
  std::vector<int32_t> pass_through;   // for every word the target id that it is passed through as
  std::vector<int64_t> first_pattern;  // patterns of sentence s: first_pattern[s] to first_pattern[s + 1]
  RaggedVector<int32_t> patterns;      // source sides; those of a sentence are distinct and ascend
  std::vector<int64_t> first_rule;     // rules of pattern p: first_rule[p] to first_rule[p + 1]
  std::vector<int32_t> lhs;
  RaggedVector<int32_t> targets;
  std::vector<int64_t> rules;
  std::vector<float> scores;  // row-major
  RaggedVector<int32_t> feature_ids;
  std::vector<float> feature_values;
  int64_t n_scores = 0;  // columns
  std::vector<std::string> labels;
  std::optional<RuleContexts> contexts = std::nullopt;
  std::optional<RuleGaps> gaps = std::nullopt;
  std::vector<std::string> own_words{};  // of target ids beyond the vocabulary
  // Names of feature ids from NewFeatures::kFirst on, and the size of the index that lacks them; null: there are none.
  std::shared_ptr<const names::NewFeatures> new_features{};
  int32_t index_size = 0;

  int64_t size() const { return words.size(); }
  int32_t n_labels() const { return static_cast<int32_t>(labels.size()); }
  // Throws std::invalid_argument unless everything fits together; decoders rely on it.
  void check() const;

  // Calls visit(name, vector) for every array that is there, and visit(name, vector, number of columns) for a matrix.
  template <typename Batch, typename Visit>
  static void each_array(Batch& b, Visit&& visit) {
    visit("sentence_offsets", b.words.offsets);
    visit("words", b.words.values);
    visit("pass_through", b.pass_through);
    visit("first_pattern", b.first_pattern);
    visit("symbol_offsets", b.patterns.offsets);
    visit("symbols", b.patterns.values);
    visit("first_rule", b.first_rule);
    visit("lhs", b.lhs);
    visit("target_offsets", b.targets.offsets);
    visit("targets", b.targets.values);
    visit("rules", b.rules);
    visit("scores", b.scores, b.n_scores);
    visit("feature_offsets", b.feature_ids.offsets);
    visit("feature_ids", b.feature_ids.values);
    visit("feature_values", b.feature_values);
    if (b.contexts) {
      visit("context_first_place", b.contexts->first_place);
      visit("context_symbols", b.contexts->symbols);
      visit("context_positions", b.contexts->positions);
      visit("context_first_row", b.contexts->first_row);
      visit("context_feature_offsets", b.contexts->feature_ids.offsets);
      visit("context_feature_ids", b.contexts->feature_ids.values);
      visit("context_feature_values", b.contexts->feature_values);
    }
    if (b.gaps) {
      visit("gap_first_class", b.gaps->first_class);
      visit("gap_classes", b.gaps->classes);
      visit("gap_feature_offsets", b.gaps->feature_ids.offsets);
      visit("gap_feature_ids", b.gaps->feature_ids.values);
      visit("gap_feature_values", b.gaps->feature_values);
    }
  }
  template <typename Visit>
  static void each_feature_ids(RuleBatch& b, Visit&& visit) {
    visit(b.feature_ids.values);
    if (b.contexts) visit(b.contexts->feature_ids.values);
    if (b.gaps) visit(b.gaps->feature_ids.values);
  }

 private:
  void check_contexts() const;
  void check_gaps() const;
};

}  // namespace dragoman::search
