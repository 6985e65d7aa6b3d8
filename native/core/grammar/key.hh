// Integer forms of what a grammar stores: hashes of symbol sequences, alignments, orientations, fold counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/errors.hh"

namespace dragoman::grammar {

// Words are ids from 0; nonterminals of rules are negative.
using Symbol = int32_t;
// A nonterminal of label L is the symbol -1 - L.
constexpr Symbol label_symbol(int32_t label) { return -1 - label; }
constexpr int32_t symbol_label(Symbol symbol) { return -1 - symbol; }

inline uint64_t mix64(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 32);
}

// The state of a sequence's hash: extend it symbol by symbol, then mix64 it.
constexpr uint64_t kHashStart = 0x9e3779b97f4a7c15ULL;
inline uint64_t hash_extend(uint64_t state, Symbol symbol) {
  state = (state ^ static_cast<uint32_t>(symbol)) * 0xff51afd7ed558ccdULL;
  return state ^ (state >> 29);
}

inline uint64_t hash_symbols(std::span<const Symbol> symbols) {
  uint64_t state = kHashStart;
  for (const Symbol s : symbols) state = hash_extend(state, s);
  return mix64(state);
}

// How a phrase lies to its neighbour on the target side. "Right": the later of the two lies to the right in the source.
enum class Orientation : uint8_t { kMono = 0, kSwap = 1, kLeft = 2, kRight = 3, kMonoGlobal = 4 };
enum class ReorderingModel : uint8_t { kWord = 0, kPhrase = 1, kHierarchical = 2 };
enum class Direction : uint8_t { kBackward = 0, kForward = 1 };

constexpr int kOrientationBits = 14;

// The orientations of one occurrence under all models: 2 bits each for words and phrases, 3 for hierarchical blocks.
struct OrientationCode {
  uint16_t bits = 0;

  static int shift(ReorderingModel model, Direction direction) {
    const int d = static_cast<int>(direction);
    return model == ReorderingModel::kHierarchical ? 8 + 3 * d : 4 * static_cast<int>(model) + 2 * d;
  }
  static unsigned mask(ReorderingModel model) { return model == ReorderingModel::kHierarchical ? 7U : 3U; }

  void set(ReorderingModel model, Direction direction, Orientation o) {
    bits = static_cast<uint16_t>(bits | static_cast<unsigned>(o) << shift(model, direction));
  }
  Orientation get(ReorderingModel model, Direction direction) const {
    return static_cast<Orientation>(bits >> shift(model, direction) & mask(model));
  }
};

// Where a rule comes from. Composed: other rules of its place in the text make it up. Added: it is a rule of the
// minimal tree of its place that the limits of the extraction do not allow, or was read from a file.
enum class RuleKind : uint16_t { kComposed = 0, kMinimal = 1, kAdded = 2 };

// One entry of a pair: its count in a fold with an alignment and an orientation (of rules: a RuleKind). Pairs
// that occur more often than one entry can count have several: everything a view needs is a sum over entries.
struct Event {
  static constexpr int kCountBits = 10;
  static constexpr uint64_t kMaxCount = (1U << kCountBits) - 1;

  uint64_t bits = 0;

  static Event of(uint32_t alignment, uint8_t fold, uint16_t orientation, uint64_t count) {
    return {static_cast<uint64_t>(alignment) << 32 | static_cast<uint64_t>(fold) << 24 |
            static_cast<uint64_t>(orientation) << kCountBits | count};
  }
  uint32_t alignment() const { return static_cast<uint32_t>(bits >> 32); }
  uint8_t fold() const { return static_cast<uint8_t>(bits >> 24); }
  OrientationCode orientation() const {
    return {static_cast<uint16_t>(bits >> kCountBits & ((1U << kOrientationBits) - 1))};
  }
  // Of a rule.
  RuleKind kind() const { return static_cast<RuleKind>(orientation().bits); }
  int64_t count() const { return static_cast<int64_t>(bits & kMaxCount); }
};

// A marginal count in one fold. Added rules are counted apart from extracted ones.
struct FoldCount {
  static constexpr int kCountBits = 55;
  static constexpr uint64_t kMax = (uint64_t{1} << kCountBits) - 1;

  uint64_t bits = 0;

  static FoldCount of(uint8_t fold, uint64_t count, bool added = false) {
    return {static_cast<uint64_t>(fold) << 56 | static_cast<uint64_t>(added) << kCountBits | count};
  }
  uint8_t fold() const { return static_cast<uint8_t>(bits >> 56); }
  bool added() const { return bits >> kCountBits & 1; }
  int64_t count() const { return static_cast<int64_t>(bits & kMax); }
};

// The same where the count may be too large; throws InputError.
inline FoldCount fold_count(uint8_t fold, uint64_t count, bool added = false) {
  if (count > FoldCount::kMax) throw InputError("something occurs too often in a fold to be counted; split the corpus");
  return FoldCount::of(fold, count, added);
}

// Adds up counts of a few folds.
class FoldSums {
 public:
  void clear() { sums_.clear(); }
  void add(uint8_t fold, uint64_t count) {
    for (auto& [known, sum] : sums_)
      if (known == fold) {
        sum += count;
        return;
      }
    sums_.emplace_back(fold, count);
  }
  // Ordered by fold.
  const std::vector<std::pair<uint8_t, uint64_t>>& sorted() {
    std::sort(sums_.begin(), sums_.end());
    return sums_;
  }

 private:
  std::vector<std::pair<uint8_t, uint64_t>> sums_;
};

// The mass of rules in whole numbers: this much is one.
constexpr uint64_t kMassUnit = uint64_t{1} << 30;
// That of one of n that share a mass of one.
constexpr uint32_t mass_share(uint64_t n) { return static_cast<uint32_t>((kMassUnit + n / 2) / n); }

struct PhraseLink {
  uint8_t source, target;
  friend auto operator<=>(const PhraseLink&, const PhraseLink&) = default;
};

}  // namespace dragoman::grammar
