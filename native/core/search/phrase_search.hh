// Phrase-based search: stacks by covered words, recombination on every state that matters, by cube pruning (Huang and
// Chiang 2007) or by plain expansion. The result is a forest whose edges have at most one tail.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"
#include "core/forest/kbest.hh"
#include "core/lm/model.hh"
#include "core/search/forced.hh"
#include "core/search/phrase_batch.hh"
#include "core/search/reference_settings.hh"
#include "core/search/reordering.hh"

namespace dragoman::search {

// A reordering model's features by orientation; an empty direction is not scored. An option has the columns of
// `backward`, then those of `forward`.
struct ReorderingFeatures {
  bool hierarchical = false;
  int n_orientations = 3;
  std::vector<int32_t> backward, forward;
};

// Feature ids; -1 where a feature is not used.
struct PhraseFeatures {
  int32_t lm = -1, words = -1, phrases = -1, unknown = -1, distortion = -1;
  std::vector<int32_t> scores;  // of the options' score columns
  std::vector<ReorderingFeatures> reordering;

  size_t n_orientations() const;  // columns of all reordering models
};

struct PhraseSettings {
  int32_t stack_size = 600;
  int32_t pop_limit = 600;                                // candidates taken a stack; 0: plain stack search
  double beam = std::numeric_limits<double>::infinity();  // hypotheses worse than a stack's best by more are dropped
  int32_t option_limit = 20;                              // options kept of a span, the best by estimate; 0: all
  int32_t distortion_limit = 6;                           // negative: none
};

class PhraseDecoder {
 public:
  // `lm` may be null: then no language model is used. lm_words[id] is the model's word of a target id; ids beyond are
  // unknown to it.
  PhraseDecoder(PhraseSettings settings, PhraseFeatures features, std::shared_ptr<const lm::Model> lm,
                std::vector<uint32_t> lm_words);

  const PhraseFeatures& features() const { return features_; }
  // The batch is one that was checked. Feature f weighs weights[f], or 0 beyond.
  std::vector<forest::Forest> decode(const PhraseBatch& batch, std::span<const double> weights, int n_threads,
                                     Control& control) const;
  // The k best candidates at once, without keeping the forests; derivations in target order.
  forest::KBestLists decode_kbest(const PhraseBatch& batch, std::span<const double> weights, int64_t k, bool distinct,
                                  int n_threads, Control& control, bool derivations = false) const;
  // Forests around given translations, one for each sentence. All options of a span are looked at, and jumps of any
  // length. Throws std::invalid_argument for templates that look at words of the block before a phrase: a replacement
  // would change features of later phrases.
  forest::ReferenceForests references(const PhraseBatch& batch, std::span<const double> weights,
                                      const ReferencePairs& pairs, const ReferenceSettings& settings, int n_threads,
                                      Control& control) const;
  // The best derivations of given translations. All options of a span are looked at.
  ForcedTranslations force(const PhraseBatch& batch, std::span<const double> weights, const ForcedPairs& pairs,
                           const ForcedSettings& settings, int n_threads, Control& control) const;

 private:
  void check(const PhraseBatch& batch) const;
  template <typename Take>
  void run(const PhraseBatch& batch, std::span<const double> weights, int n_threads, Control& control,
           Take&& take) const;

  PhraseSettings settings_;
  PhraseFeatures features_;
  std::shared_ptr<const lm::Model> lm_;
  std::vector<uint32_t> lm_words_;
};

}  // namespace dragoman::search
