#include "core/lm/count.hh"

#include <utility>

#include "core/lm/format.hh"

namespace dragoman::lm {

namespace {

constexpr size_t kAhead = 24;  // prefetch distance, to hide memory latency

// The first index of each last word's n-grams in the list of order n, and finally their number.
std::vector<uint32_t> bucket_starts(std::span<const uint32_t> tokens, uint32_t n_words, size_t n) {
  std::vector<uint32_t> starts(static_cast<size_t>(n_words) + 1, 0);
  size_t depth = 0;
  for (const uint32_t word : tokens) {
    depth = word == kBos ? 1 : depth + 1;
    if (depth >= n) ++starts[word + 1];
  }
  for (size_t w = 0; w < n_words; ++w) starts[w + 1] += starts[w];
  return starts;
}

}  // namespace

// Text positions are sorted by the words read backwards from them. One pass turns an order by n - 1 words into an order
// by n words: move each position one to the right and append it to the bucket of its word (a radix sort). The positions
// of an n-gram are then consecutive, and two neighbours have the same n-gram if their words and the preceding (n -
// 1)-grams are equal.
std::vector<Counts> count_ngrams(std::span<const uint32_t> tokens, uint32_t n_words,
                                 std::span<const int64_t> thresholds, Control& control) {
  constexpr size_t kCheckEvery = 1 << 20;
  const size_t order = thresholds.size();
  std::vector<Counts> levels(order);

  std::vector<uint32_t> starts = bucket_starts(tokens, n_words, 1);
  levels[0].adjusted.resize(n_words);
  for (size_t w = 0; w < n_words; ++w) levels[0].adjusted[w] = starts[w + 1] - starts[w];
  levels[0].adjusted[kBos] = 0;
  control.advance(static_cast<int64_t>(tokens.size()));
  if (order == 1) return levels;

  std::vector<uint32_t> places(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) places[starts[tokens[i]]++] = static_cast<uint32_t>(i);
  std::vector<uint32_t> ids(tokens.begin(), tokens.end());  // of the n-gram that ends at each position
  std::vector<uint32_t> next_places, next_ids;
  for (size_t n = 2; n <= order; ++n) {
    starts = bucket_starts(tokens, n_words, n);
    next_places.resize(starts.back());
    for (size_t k = 0; k < places.size(); ++k) {
      if (k % kCheckEvery == 0) control.check();
      if (k + kAhead < places.size()) __builtin_prefetch(&tokens[places[k + kAhead]]);
      const uint32_t place = places[k];
      if (tokens[place] != kEos) next_places[starts[tokens[place + 1]]++] = place + 1;
    }
    std::swap(places, next_places);

    Counts& level = levels[n - 1];
    std::vector<uint32_t>& below = levels[n - 2].adjusted;
    std::vector<uint32_t> extensions(below.size(), 0);
    const bool is_last = n == order;
    if (!is_last) next_ids.resize(tokens.size());
    uint32_t previous_word = kUnk, previous_context = 0;
    for (size_t k = 0; k < places.size(); ++k) {
      if (k % kCheckEvery == 0) control.check();
      if (k + kAhead < places.size()) {
        const uint32_t later = places[k + kAhead];
        __builtin_prefetch(&ids[later]);
        __builtin_prefetch(&tokens[later]);
        if (!is_last) __builtin_prefetch(&next_ids[later], 1);
      }
      const uint32_t place = places[k], word = tokens[place], context = ids[place - 1];
      if (level.adjusted.empty() || word != previous_word || context != previous_context) {
        previous_word = word;
        previous_context = context;
        level.context.push_back(context);
        level.suffix.push_back(ids[place]);
        level.adjusted.push_back(0);
        ++extensions[ids[place]];
      }
      ++level.adjusted.back();
      if (!is_last) next_ids[place] = static_cast<uint32_t>(level.adjusted.size() - 1);
    }
    if (thresholds[n - 1] > 0) {
      level.pruned.resize(level.adjusted.size());
      for (size_t g = 0; g < level.adjusted.size(); ++g) level.pruned[g] = level.adjusted[g] <= thresholds[n - 1];
    }
    // Only n-grams that begin with <s> have no word before them.
    for (size_t g = 0; g < below.size(); ++g)
      if (extensions[g] > 0) below[g] = extensions[g];
    std::swap(ids, next_ids);
    control.advance(static_cast<int64_t>(tokens.size()));
  }
  return levels;
}

}  // namespace dragoman::lm
