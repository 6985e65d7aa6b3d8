// Forced decoding: the best derivation of a given translation by a decoder's own options or rules and weights. The
// language model's score of a fixed string is the same for all of its derivations, so search does without; the edges of
// what is found have it. Where no derivation makes the translation, words are deleted, inserted or copied: as few as
// possible, and among those by score.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/base/parallel.hh"
#include "core/base/ragged.hh"
#include "core/forest/forest.hh"
#include "core/forest/kbest.hh"

namespace dragoman::search {

// What an edit costs while derivations are compared: more than any difference of scores.
inline constexpr double kEditCost = 1e6;

struct ForcedSettings {
  int32_t width = 500;   // hypotheses kept of a stack; nodes kept of a span and label
  bool may_edit = true;  // otherwise a translation that cannot be derived has an empty forest
};

struct ForcedPairs {
  std::span<const int64_t> sentences;  // of the batch, for every pair
  Sentences targets;                   // ids beyond those of the batch are words that it lacks
  Sentences copies;  // for every source word of the batch what it is on the target side; -1: no word there
};

// One translation.
struct ForcedTranslation {
  forest::Forest forest;          // one derivation
  std::vector<int32_t> deleted;   // source positions
  std::vector<int32_t> inserted;  // target positions
  std::vector<int32_t> copied;    // source and target position, in turn
  bool is_complete = true;        // nothing was pruned
};

struct ForcedTranslations {
  std::vector<forest::Forest> forests;
  RaggedVector<int32_t> deleted, inserted, copied;
  std::vector<uint8_t> is_complete;
  forest::KBestLists lists;  // of one candidate, or none

  void append(ForcedTranslation&& one, std::span<const double> weights, const Control& control);
};

// Throws std::invalid_argument unless the pairs fit a batch of sentences with these words.
void check_pairs(const ForcedPairs& pairs, const Sentences& words);

// Where the words of a translation stand.
class TargetPlaces {
 public:
  void start(std::span<const int32_t> target);
  std::span<const std::pair<int32_t, int32_t>> of(int32_t word) const;  // word and position, ascending
  bool has(int32_t word) const { return is_there_[bit_of(word)] && !of(word).empty(); }
  bool has_all(std::span<const int32_t> symbols) const;  // those that are words
  // Whether `words` stand at `position`.
  bool reads(std::span<const int32_t> words, int32_t position) const {
    return at(position) + words.size() <= target_.size() &&
           std::equal(words.begin(), words.end(), target_.begin() + position);
  }

 private:
  static constexpr size_t kBits = 4096;
  static size_t bit_of(int32_t word) { return static_cast<uint32_t>(word) % kBits; }

  std::span<const int32_t> target_;
  std::vector<std::pair<int32_t, int32_t>> places_;
  std::vector<char> is_there_;
};

// Pairs through `make()` searchers, one a thread, the results in order.
template <typename Make>
ForcedTranslations force_pairs(const ForcedPairs& pairs, std::span<const double> weights, int n_threads,
                               Control& control, Make&& make) {
  std::vector<ForcedTranslation> found(pairs.sentences.size());
  std::vector<decltype(make())> searchers(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(static_cast<int64_t>(found.size()), 1, n_threads, control,
                  [&](int64_t begin, int64_t end, int worker) {
                    auto& searcher = searchers[static_cast<size_t>(worker)];
                    if (!searcher) searcher = make();
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t s = pairs.sentences[at(i)];
                      found[at(i)] = searcher->run(s, pairs.targets[i], pairs.copies[s]);
                    }
                  });
  ForcedTranslations result;
  for (ForcedTranslation& one : found) result.append(std::move(one), weights, control);
  return result;
}

}  // namespace dragoman::search
