// One sentence's options with everything that does not depend on hypotheses: weighted scores, words for the language
// model, what later phrases must know of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
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

  // In this order: collect, estimate, finish.
  void collect(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
               std::span<const double> weights);
  // Has set(option) set the estimates. With a limit (0: none), options that cannot be among so many best of their span
  // are dropped instead: an estimate is taken to be at most the option's local score.
  template <typename Set>
  void estimate(int32_t limit, Set&& set);
  void finish(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
              std::span<const double> weights, std::span<const std::shared_ptr<const TransitionTemplate>> templates,
              const PhraseSettings& settings);

  size_t place_of(SourceSpan span) const {
    return static_cast<size_t>(span.begin) * static_cast<size_t>(max_length) +
           static_cast<size_t>(span.end - span.begin - 1);
  }
  std::span<const Option> of_span(int32_t begin, int32_t length) const {
    const size_t place = place_of({begin, begin + length});
    return {options.data() + span_first[place], options.data() + span_first[place + 1]};
  }

 private:
  void group();
};

template <typename Set>
void Prepared::estimate(int32_t limit, Set&& set) {
  lm_words.clear();
  lm_sums.clear();
  lm_states.clear();
  const auto most = static_cast<size_t>(limit);
  const auto lower_local = [](const Option& a, const Option& b) { return a.local < b.local; };
  std::vector<Option> kept;
  std::vector<double> best;  // estimates of the best so far, the worst in front
  for (size_t place = 0; place + 1 < span_first.size(); ++place) {
    const auto first = options.begin() + span_first[place], last = options.begin() + span_first[place + 1];
    const bool is_limited = limit > 0 && last - first > limit;
    if (is_limited) std::make_heap(first, last, lower_local);
    best.clear();
    for (auto end = last; end != first; --end) {
      if (is_limited) {
        if (best.size() == most && first->local < best.front()) break;
        std::pop_heap(first, end, lower_local);
      }
      Option& option = end[-1];
      set(option);
      kept.push_back(option);
      if (!is_limited) continue;
      best.push_back(option.estimate);
      std::push_heap(best.begin(), best.end(), std::greater<>());
      if (best.size() <= most) continue;
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      best.pop_back();
    }
  }
  options.swap(kept);
}

std::span<const int32_t> target_of(const PhraseBatch& batch, int64_t sentence, const Option& option);
PhraseView view_of(const PhraseBatch& batch, int64_t sentence, const Option& option);

// Feature values of an option as they stand on its instance.
void append_local_features(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                           const Option& option, std::vector<Feature>& out);

inline double weight_of(std::span<const double> weights, int32_t feature) {
  return feature >= 0 && static_cast<size_t>(feature) < weights.size() ? weights[static_cast<size_t>(feature)] : 0;
}

}  // namespace dragoman
