// Templates whose features depend on a phrase's orientation to the block before it. What else they look at is a word at
// the edge of the phrase or of the block, a source word between the two, or the phrase itself. Each such part has one
// feature for every orientation, so search adds up numbers that are known beforehand: for an option, for a word at the
// edge of a block, and for a word in a gap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/ragged.hh"
#include "core/grammar/key.hh"
#include "core/templates/feature_columns.hh"
#include "core/templates/feature_ids.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

constexpr size_t kOrientations = 5;
// By grammar::Orientation, as the scores of reordering models are called.
constexpr std::array<std::string_view, kOrientations> kOrientationNames{"m", "s", "l", "r", "g"};

// How features name orientations: each by its own name, or, as a control that cannot tell them apart, all by one.
class OrientationNames {
 public:
  static TemplateSetting setting() { return TemplateSetting::one_of("orientations", {"five", "one"}); }

  explicit OrientationNames(int64_t value) : are_one_(value != 0) {}
  std::string_view operator[](grammar::Orientation orientation) const {
    return are_one_ ? std::string_view("any") : kOrientationNames[static_cast<size_t>(orientation)];
  }

 private:
  bool are_one_;
};

// Where a word is: first or last of a phrase, or of the block before it, on either side; or between the two.
enum class WordPlace : uint8_t {
  kSourceFirst,
  kSourceLast,
  kTargetFirst,
  kTargetLast,
  kBlockSourceFirst,
  kBlockSourceLast,
  kBlockTargetFirst,
  kBlockTargetLast,
  kGap,
};
constexpr size_t kWordPlaces = 9;
constexpr bool is_source(WordPlace place) { return (static_cast<uint8_t>(place) & 2) == 0; }

// Thread-safe.
class OrientationTemplate : public RuleTemplate {
 public:
  // What a feature looks at, as numbers that its template interprets; equal features have equal keys.
  using Key = std::vector<int32_t>;

  virtual bool sees(WordPlace place) const = 0;
  // Of a word at a place that it sees. The block before the first phrase has <s> (kSentenceBegin) at all its places.
  virtual void of_word(WordPlace, grammar::Symbol, std::vector<Key>&) const {}
  // Of a phrase as a whole.
  virtual void of_phrase(std::span<const grammar::Symbol>, std::span<const grammar::Symbol>, std::vector<Key>&) const {}
  // Adds the feature, once, or nothing if there is none for this orientation.
  virtual void name(std::span<const int32_t> key, grammar::Orientation orientation, FeatureRows& out) const = 0;

  void features(const RuleSight&, FeatureRows&) const final {}
};

// What orientation templates look at, in parts, each numbered once in the order of first use: all there is of a word at
// a place, or a key of a phrase. Words that templates do not tell apart at a place have the same part.
class OrientationParts {
 public:
  static constexpr int32_t kNone = -1;
  struct Edges {
    int32_t first, last;
  };

  // The set must outlive it.
  explicit OrientationParts(const TemplateSet& set);
  bool has_blocks() const {
    return std::any_of(sees_.begin() + static_cast<int>(WordPlace::kBlockSourceFirst),
                       sees_.begin() + static_cast<int>(WordPlace::kGap), [](bool sees) { return sees; });
  }
  bool has_gaps() const { return sees(WordPlace::kGap); }

  // Both append a row. A word that passes through is a phrase of its own; its target side is what the vocabulary has
  // of the same name.
  void add_phrase(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target);
  void add_passed(grammar::Symbol word);
  // Appends a source word of a sentence.
  void add_source(grammar::Symbol word);

  // Parts of phrases that have features.
  const RaggedVector<int32_t>& rows() const { return rows_; }
  // Parts of the first and last target word at the edges of a block: two for each row, kNone for an empty side; empty
  // without has_blocks.
  const std::vector<int32_t>& block_targets() const { return block_targets_; }
  // The same for source words: as the first of a block and as the last.
  const std::vector<int32_t>& block_sources() const { return block_sources_; }
  // Of source words as words of a gap, one for each; empty without has_gaps.
  const std::vector<int32_t>& gap_words() const { return gap_words_; }
  // The four words of the block before the first phrase.
  std::array<int32_t, 4> block_start();

  size_t size() const { return parts_.size(); }
  // Row kOrientations * p + o has the features of part p with orientation o, or the blocks in their place; nothing if
  // they have no ids, or the row is not `wanted` (empty: all are).
  FeatureColumns number(FeatureIds& ids, std::span<const uint8_t> wanted = {}) const;

 private:
  // Sequences of numbers, each numbered once.
  class Numbers {
   public:
    int32_t of(std::span<const int32_t> sequence);
    std::span<const int32_t> operator[](size_t number) const { return sequences_[static_cast<int64_t>(number)]; }
    size_t size() const { return static_cast<size_t>(sequences_.size()); }

   private:
    RaggedVector<int32_t> sequences_;
    std::unordered_multimap<uint64_t, int32_t> by_hash_;
  };

  bool sees(WordPlace place) const { return sees_[static_cast<size_t>(place)]; }
  // Appends the numbers of the keys that a template found.
  void number_found(size_t named);
  int32_t part_of(WordPlace place, grammar::Symbol word);

  const TemplateSet* set_;
  std::array<bool, kWordPlaces> sees_{};
  Numbers keys_;                                                // with the number of their template in front
  Numbers parts_;                                               // numbers of their keys
  std::array<std::vector<int32_t>, kWordPlaces> part_of_word_;  // by word; kUnknown: not asked for yet
  RaggedVector<int32_t> rows_;
  std::vector<int32_t> block_targets_, block_sources_, gap_words_;
  std::vector<OrientationTemplate::Key> found_;
  std::vector<int32_t> key_, numbers_;
};

}  // namespace dragoman::templates
