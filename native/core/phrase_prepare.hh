// One sentence's options with everything that does not depend on hypotheses: weighted scores, words for the language
// model, what later phrases must know of each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/phrase_coverage.hh"
#include "core/phrase_search.hh"

namespace dragoman {

// An option as search sees it. Sorted by span, then by estimate.
struct Option {
  SourceSpan span;
  uint32_t first_word, n_words;  // in Prepared::lm_words
  uint32_t carry;                // class of what the next phrase must know of this one
  int32_t first_target;          // first target word, -1 for an empty phrase
  int64_t source;                // place in the batch's options; -1 - position for a word passed through
  double local;                  // weighted local features
  double estimate;               // with the language model's opinion of the phrase by itself
};

class Prepared {
 public:
  int32_t n_words = 0, max_length = 1;
  std::vector<Option> options;
  std::vector<uint32_t> span_first;       // options of a span: span_first[begin * max_length + length - 1] to the next
  std::vector<uint32_t> lm_words;         // of all options, flat
  std::vector<double> lm_sums;            // of each word's prefix in its phrase, without context; parallel to lm_words
  std::vector<uint32_t> lm_states;        // after each word, without context
  std::vector<double> backward, forward;  // weighted, by option (backward) and by carry class (forward)
  std::vector<float> carry_scores;        // raw, by carry class
  std::vector<int64_t> carry_states;      // of the templates, by carry class
  size_t n_backward = 0, n_forward = 0;   // columns of all models
  FutureCosts costs;

  // In this order; the caller sets each option's estimate between the two.
  void collect(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
               std::span<const double> weights);
  void finish(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
              std::span<const double> weights, std::span<const std::shared_ptr<const TransitionTemplate>> templates,
              const PhraseSettings& settings);

  std::span<const Option> of_span(int32_t begin, int32_t length) const {
    const size_t place = static_cast<size_t>(begin) * static_cast<size_t>(max_length) + static_cast<size_t>(length - 1);
    return {options.data() + span_first[place], options.data() + span_first[place + 1]};
  }
};

std::span<const int32_t> target_of(const PhraseBatch& batch, int64_t sentence, const Option& option);
PhraseView view_of(const PhraseBatch& batch, int64_t sentence, const Option& option);

// Feature values of an option as they stand on its instance.
void append_local_features(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                           const Option& option, std::vector<Feature>& out);

inline double weight_of(std::span<const double> weights, int32_t feature) {
  return feature >= 0 && static_cast<size_t>(feature) < weights.size() ? weights[static_cast<size_t>(feature)] : 0;
}

}  // namespace dragoman
