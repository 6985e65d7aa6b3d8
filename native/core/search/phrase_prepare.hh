// One sentence's options with everything that does not depend on hypotheses: weighted scores, words for the language
// model, what later phrases must know of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_search.hh"
#include "core/templates/orientation_template.hh"

namespace dragoman::search {

// What an option is besides the translation of its words that the tables offer; only forced decoding makes others.
enum class OptionKind : uint8_t {
  kPlain,
  kDeleted,  // a source word without translation
  kCopied,   // a source word as it is, though the tables translate it
};

// An option as search sees it. Sorted by span, then by estimate.
struct Option {
  SourceSpan span;
  uint32_t first_word, n_words;  // in Prepared::lm_words
  uint32_t carry;                // class of what the next phrase must know of this one
  TargetEdges target;            // what features of later phrases' orientations tell of its words
  int64_t source;                // place in the batch's options; -1 - position for a word passed through
  double local;                  // weighted local features
  double estimate;               // with the language model's opinion of the phrase by itself
  OptionKind kind = OptionKind::kPlain;
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
  size_t n_backward = 0, n_forward = 0;   // columns of all models
  // Weighted, of orientation templates, empty without them: by option and orientation, and of gap words, the sum of all
  // before each position, where a phrase is left or right of the block before.
  std::vector<double> oriented, gaps_left, gaps_right;
  FutureCosts costs;

  // In this order: collect, estimate, finish, orient (for a batch with orientation templates). With `wanted`, only
  // options of which it is true.
  void collect(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
               std::span<const double> weights, const std::function<bool(const Option&)>& wanted = {});
  // After collect: further options.
  void add(std::span<const Option> more);
  // Has set(options) set the estimates, some options at a time. With a limit (0: none), options that cannot be among so
  // many best of their span are dropped instead: an estimate is taken to be at most the option's local score.
  template <typename Set>
  void estimate(int32_t limit, Set&& set);
  void finish(const PhraseBatch& batch, const PhraseFeatures& features, std::span<const double> weights,
              const PhraseSettings& settings);
  void orient(const PhraseBatch& batch, int64_t sentence, std::span<const double> part_sums);

  size_t place_of(SourceSpan span) const {
    return static_cast<size_t>(span.begin) * static_cast<size_t>(max_length) +
           static_cast<size_t>(span.end - span.begin - 1);
  }
  std::span<const Option> of_span(int32_t begin, int32_t length) const {
    const size_t place = place_of({begin, begin + length});
    return {options.data() + span_first[place], options.data() + span_first[place + 1]};
  }

 private:
  static constexpr size_t kBatch = 32;
  void group();
};

template <typename Set>
void Prepared::estimate(int32_t limit, Set&& set) {
  lm_words.clear();
  lm_sums.clear();
  lm_states.clear();
  const auto most = static_cast<size_t>(limit);
  std::vector<Option> kept;
  std::vector<std::pair<double, uint32_t>> order;  // local scores and places, the best in front
  std::vector<double> best;                        // estimates of the best so far, the worst in front
  for (size_t place = 0; place + 1 < span_first.size(); ++place) {
    const uint32_t first = span_first[place], last = span_first[place + 1];
    if (limit == 0 || last - first <= most) {
      kept.insert(kept.end(), options.begin() + first, options.begin() + last);
      set(std::span(kept).last(last - first));
      continue;
    }
    const size_t begin = kept.size();
    order.clear();
    best.clear();
    for (uint32_t i = first; i < last; ++i) order.emplace_back(options[i].local, i);
    std::make_heap(order.begin(), order.end());
    while (!order.empty() && (best.size() < most || order.front().first >= best.front())) {
      const size_t n = std::min(order.size(), kBatch);
      for (size_t i = 0; i < n; ++i) {
        kept.push_back(options[order.front().second]);
        std::pop_heap(order.begin(), order.end());
        order.pop_back();
      }
      const auto batch = std::span(kept).last(n);
      set(batch);
      for (const Option& option : batch) {
        best.push_back(option.estimate);
        std::push_heap(best.begin(), best.end(), std::greater<>());
        if (best.size() <= most) continue;
        std::pop_heap(best.begin(), best.end(), std::greater<>());
        best.pop_back();
      }
    }
    const auto drop = std::remove_if(kept.begin() + static_cast<std::ptrdiff_t>(begin), kept.end(),
                                     [&](const Option& option) { return option.estimate < best.front(); });
    kept.erase(drop, kept.end());
  }
  options.swap(kept);
}

std::span<const int32_t> target_of(const PhraseBatch& batch, int64_t sentence, const Option& option);

// Parts of the option for orientation templates, which the batch must have.
std::span<const int32_t> parts_of(const PhraseBatch& batch, int64_t sentence, const Option& option);

// Calls visit(id, value) for the features of a part with an orientation.
template <typename Visit>
void each_feature(const OrientationFeatures& oriented, int32_t part, size_t orientation, Visit&& visit) {
  const size_t row = at(part) * templates::kOrientations + orientation;
  const auto end = at(oriented.feature_ids.offsets[row + 1]);
  for (auto f = at(oriented.feature_ids.offsets[row]); f < end; ++f)
    visit(oriented.feature_ids.values[f], oriented.feature_values[f]);
}

// Weighted sums of the features of parts, by part and orientation.
std::vector<double> weighted_parts(const PhraseBatch& batch, std::span<const double> weights);

// Feature values of an option as they stand on its instance.
void append_local_features(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                           const Option& option, std::vector<forest::Feature>& out);

// Calls body(span) for every span with options that may come next (the distortion limit as in Moses): a jump is within
// the limit, and after a phrase that leaves the first gap open the jump back to it is too.
template <typename Body>
void each_next_span(const Prepared& prepared, const Coverages& coverages, int32_t distortion_limit, uint32_t coverage,
                    int32_t last_end, Body&& body) {
  const int32_t n = prepared.n_words, gap = coverages.first_gap(coverage);
  const int32_t limit = std::min(distortion_limit, n);  // no jump is longer
  const int32_t from = limit < 0 ? gap : std::max(gap, last_end - limit);
  const int32_t to = limit < 0 ? n - 1 : std::min(n - 1, last_end + limit);
  for (int32_t begin = from; begin <= to; ++begin) {
    if (coverages.is_covered(coverage, begin)) continue;
    int32_t longest = std::min(prepared.max_length, n - begin);
    if (limit >= 0 && begin != gap) longest = std::min(longest, gap + limit - begin);
    for (int32_t length = 1; length <= longest; ++length) {
      if (coverages.is_covered(coverage, begin + length - 1)) break;
      if (!prepared.of_span(begin, length).empty()) body(SourceSpan{begin, begin + length});
    }
  }
}

inline double weight_of(std::span<const double> weights, int32_t feature) {
  return feature >= 0 && static_cast<size_t>(feature) < weights.size() ? weights[static_cast<size_t>(feature)] : 0;
}

}  // namespace dragoman::search
