// Hierarchical search: a bottom-up chart over synchronous rules, cube pruning for every span and label (Chiang 2007),
// and a glue grammar that puts what the rules built side by side. The result is a forest whose nodes carry label and
// span.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/forest/forest.hh"
#include "core/forest/kbest.hh"
#include "core/grammar/key.hh"
#include "core/lm/model.hh"

namespace dragoman::search {

// Feature ids; -1 where a feature is not used.
struct ChartFeatures {
  int32_t lm = -1, lm_oov = -1, words = -1, rules = -1, glue = -1, unknown = -1;
  std::vector<int32_t> arities;  // of rules by their number of nonterminals; those with more have none
  std::vector<int32_t> scores;   // of the rules' score columns
};

struct ChartSettings {
  int32_t pop_limit = 200;                                // candidates taken for a span and label, by word covered
  double beam = std::numeric_limits<double>::infinity();  // those worse than the best there by more are dropped
  int32_t rule_limit = 20;  // rules kept of a source side and a left-hand side, the best by estimate; 0: all
  int32_t max_span = 20;    // rules cover at most this number of words; glue covers the rest
};

// Source sides are words (>= 0) and labelled nonterminals (-1 - label); target sides words and -1 - i for the i-th
// nonterminal of the source side.

// Features that rules have because of the sentence's words beside theirs. A place of a pattern is where words of it
// that stand side by side may stand in the sentence; a match has one for each such run of words.
struct RuleContexts {
  std::span<const int64_t> first_place;         // places of pattern p: first_place[p] to first_place[p + 1]
  std::span<const int32_t> symbols, positions;  // the run's first symbol in the pattern, and where it stands
  std::span<const int64_t> first_row;           // rows of place k, one for each rule of the pattern: from first_row[k]
  Ragged<int32_t> feature_ids;
  std::span<const float> feature_values;
};

// Features that rules have because of how many words their nonterminals cover.
struct RuleGaps {
  std::span<const int64_t> first_class;  // classes of pattern p, rule by rule, those of its nonterminals
  std::span<const int32_t> classes;
  int32_t max_length = 1;       // longer ones are as long
  Ragged<int32_t> feature_ids;  // row: class * max_length + length - 1
  std::span<const float> feature_values;
};

// The rules of a batch of sentences, in memory.
struct RuleBatch {
  Sentences words;
  std::span<const int32_t> pass_through;   // parallel to the words
  std::span<const int64_t> first_pattern;  // patterns of sentence s: first_pattern[s] to first_pattern[s + 1]
  Ragged<int32_t> patterns;                // those of a sentence are distinct and ascend
  std::span<const int64_t> first_rule;     // rules of pattern p: first_rule[p] to first_rule[p + 1]
  std::span<const int32_t> lhs;
  Ragged<int32_t> targets;
  std::span<const int64_t> rules;
  std::span<const float> scores;  // row-major
  Ragged<int32_t> feature_ids;
  std::span<const float> feature_values;
  int32_t n_labels = 1;
  std::optional<RuleContexts> contexts = std::nullopt;
  std::optional<RuleGaps> gaps = std::nullopt;

  int64_t size() const { return words.size(); }
  // Throws std::invalid_argument unless everything fits together.
  void check(const ChartFeatures& features) const;

 private:
  void check_contexts() const;
  void check_gaps() const;
};

// What labels mean to the decoder. The goal may be one of the batch's labels or the next number; a sentence is an
// item labelled so, or a row of items with glue labels, the first of which may also have the goal's label.
struct ChartLabels {
  int32_t goal = 1;
  std::vector<int32_t> glue{0};     // ascending
  std::vector<int32_t> unknown{0};  // of words passed through

  void check(int32_t n_labels) const;
};

class ChartDecoder {
 public:
  // `lm` may be null: then no language model is used. lm_words[id] is the model's word of a target id; ids beyond are
  // unknown to it.
  ChartDecoder(ChartSettings settings, ChartFeatures features, std::shared_ptr<const lm::Model> lm,
               std::vector<uint32_t> lm_words);

  // Feature f weighs weights[f], or 0 beyond. A sentence without a derivation has an empty forest.
  std::vector<forest::Forest> decode(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                                     int n_threads, Control& control) const;
  // The k best candidates at once, without keeping the forests.
  forest::KBestLists decode_kbest(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                                  int64_t k, bool distinct, int n_threads, Control& control) const;

 private:
  template <typename Take>
  void run(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights, int n_threads,
           Control& control, Take&& take) const;

  ChartSettings settings_;
  ChartFeatures features_;
  std::shared_ptr<const lm::Model> lm_;
  std::vector<uint32_t> lm_words_;
};

}  // namespace dragoman::search
