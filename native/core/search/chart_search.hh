// Hierarchical search: a bottom-up chart over synchronous rules, cube pruning for every span and label (Chiang 2007),
// and a glue grammar that puts what the rules built side by side. The result is a forest whose nodes carry label and
// span.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"
#include "core/forest/kbest.hh"
#include "core/grammar/key.hh"
#include "core/lm/model.hh"
#include "core/search/forced.hh"
#include "core/search/reference_settings.hh"
#include "core/search/rule_batch.hh"

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

  // The batch is one that was checked. Feature f weighs weights[f], or 0 beyond. A sentence without a derivation has an
  // empty forest.
  std::vector<forest::Forest> decode(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                                     int n_threads, Control& control) const;
  // The k best candidates at once, without keeping the forests; derivations in pre-order.
  forest::KBestLists decode_kbest(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                                  int64_t k, bool distinct, int n_threads, Control& control,
                                  bool derivations = false) const;
  // Forests around given translations, one for each sentence. All rules of a source side are looked at. `minimal` has
  // rules of the pairs' minimal trees (RuleOptionBuilder::draft_minimal), if any.
  forest::ReferenceForests references(const RuleBatch& batch, const RuleBatch* minimal, const ChartLabels& labels,
                                      std::span<const double> weights, const ReferencePairs& pairs,
                                      const ReferenceSettings& settings, int n_threads, Control& control) const;
  // The best derivations of given translations. All rules of a source side are looked at.
  ForcedTranslations force(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                           const ForcedPairs& pairs, const ForcedSettings& settings, int n_threads,
                           Control& control) const;

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
