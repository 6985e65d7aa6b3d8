// Forced decoding by phrases: stacks of hypotheses by covered source words and translated target words together. A
// hypothesis' language-model state is its place in the translation. An edit is one more option: a deleted source word
// has an empty target and moves the last position as any phrase does; an inserted target word moves nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/search/forced.hh"
#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_hypotheses.hh"
#include "core/search/phrase_prepare.hh"
#include "core/search/phrase_search.hh"
#include "core/search/phrase_transition.hh"

namespace dragoman::search {

class ForcedPhraseSearcher {
 public:
  // All that it is given must outlive it; `part_sums` are those of weighted_parts, `lm` may be null.
  ForcedPhraseSearcher(const PhraseBatch& batch, const PhraseFeatures& features, const lm::Model* lm,
                       std::span<const uint32_t> lm_words, std::span<const double> weights,
                       std::span<const double> part_sums, int32_t distortion_limit, const ForcedSettings& settings,
                       const Control& control);
  ForcedPhraseSearcher(const ForcedPhraseSearcher&) = delete;
  ForcedPhraseSearcher& operator=(const ForcedPhraseSearcher&) = delete;

  ForcedTranslation run(int64_t sentence, std::span<const int32_t> target, std::span<const int32_t> copies);

 private:
  static constexpr int32_t kInsertion = -1;  // instead of an option

  void prepare(bool may_edit);
  void add_edits();
  // The best that can become of the target words from each position on, by edits alone.
  void estimate_rests(bool may_edit);
  bool search(bool may_edit);
  void expand(int32_t id, bool may_edit);
  void add(const Hypothesis& before, int32_t from, int32_t option, Hypothesis& h);
  std::span<const int32_t> words_of(const Option& option) const;
  ForcedTranslation result();

  const PhraseBatch& batch_;
  const PhraseFeatures& features_;
  const lm::Model* lm_;
  std::span<const uint32_t> lm_words_;
  std::span<const double> weights_, part_sums_;
  PhraseSettings settings_;
  ForcedSettings forced_;
  const Control& control_;

  int64_t sentence_ = 0;
  std::span<const int32_t> target_, copies_;
  TargetPlaces places_;
  Prepared prepared_;
  Coverages coverages_;
  Transitions transitions_;
  Hypotheses hypotheses_;
  std::vector<double> rests_;  // by target position
  bool is_complete_ = true;
};

}  // namespace dragoman::search
