// Templates of sparse features: what they see of a rule, how they name features, and their registry. A template is one
// source file that registers itself; see word_pair.cc for an example. Those whose features depend on where a rule is
// applied are in application_template.hh.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/grammar/key.hh"
#include "core/grammar/tables.hh"
#include "core/names/vocab.hh"

namespace dragoman::templates {

// A phrase pair or a rule: words from 0, nonterminals negative; links between positions of the two sides.
struct RuleSight {
  std::span<const grammar::Symbol> source, target;
  std::span<const grammar::PhraseLink> links;
  int64_t count = 0;  // in the view
  int64_t rule = -1;  // the grammar's id
  int32_t lhs = -1;   // the label of the left-hand side; phrase pairs have none
};

inline bool is_word(grammar::Symbol symbol) { return symbol >= 0; }

// Which positions of a rule have links. Link positions are bytes, so later positions have none.
class LinkedPlaces {
 public:
  explicit LinkedPlaces(const RuleSight& rule) {
    for (const grammar::PhraseLink link : rule.links) {
      source_.set(link.source);
      target_.set(link.target);
    }
  }
  bool source(size_t place) const { return place < kPlaces && source_[place]; }
  bool target(size_t place) const { return place < kPlaces && target_[place]; }

 private:
  static constexpr size_t kPlaces = 256;
  std::bitset<kPlaces> source_, target_;
};

// Classes of one side's words at several levels, each a clustering into so many classes.
struct WordClasses {
  std::vector<int32_t> sizes;        // by level, all different
  std::span<const int32_t> of_word;  // a row for each level; kNone for a word without a class
  static constexpr int32_t kNone = -1;

  size_t n_words() const { return sizes.empty() ? 0 : of_word.size() / sizes.size(); }
};

// One side's symbols as text. Words are in their stored form, so no corpus word equals a template's own marks
// (`<other>`).
struct SideNames {
  const names::WordTable* words = nullptr;
  std::span<const int64_t> counts;        // by word, in the training data; empty if unavailable
  std::vector<std::string> nonterminals;  // symbol -1 is the first
  WordClasses classes{};                  // without levels if unavailable

  std::string_view text(grammar::Symbol symbol) const;
  // Which words are among the `n` most frequent; ties are broken by the words' bytes. Excludes words that do not occur
  // and the three reserved ones. Throws InputError without counts.
  std::vector<bool> most_frequent(size_t n) const;
  // The same by other counts.
  std::vector<bool> most_frequent(size_t n, std::span<const int64_t> by) const;
};

constexpr int64_t kAllWords = int64_t{1} << 31;
constexpr int32_t kFirstWord = 3;  // after <unk>, <s>, </s>
// Sentence boundaries.
constexpr grammar::Symbol kSentenceBegin = 1, kSentenceEnd = 2;

// Words of a side, the most frequent ones by name and all others as one class.
class FrequentWords {
 public:
  static constexpr std::string_view kOther = "<other>";

  FrequentWords(const SideNames& side, int64_t n) : FrequentWords(side, side.most_frequent(static_cast<size_t>(n))) {}
  FrequentWords(const SideNames& side, std::vector<bool> is_frequent)
      : side_(&side), is_frequent_(std::move(is_frequent)) {}
  std::string_view name(grammar::Symbol word) const {
    const auto place = static_cast<size_t>(word);
    return place < is_frequent_.size() && is_frequent_[place] ? side_->text(word) : kOther;
  }

 private:
  const SideNames* side_;
  std::vector<bool> is_frequent_;
};

// What the most frequent words are counted by: all their occurrences, or those without a link.
enum class CountedBy : int64_t { kFrequency, kUnaligned };

struct RuleSides {
  SideNames source, target;
  const grammar::GrammarTables* tables = nullptr;  // for counts of word pairs; null if unavailable

  // Throw InputError where the counts are unavailable.
  FrequentWords source_words(int64_t n, CountedBy by) const;
  FrequentWords target_words(int64_t n, CountedBy by) const;
  // For a setting that needs them.
  const grammar::GrammarTables& pair_counts(std::string_view setting) const;
};

constexpr std::string_view kUnaligned = "<unaligned>";

// Features of consecutive rules by name, `template:argument,argument` with marks escaped (as Python's feature_name).
class FeatureRows {
 public:
  // Starts the features of this template.
  void use(std::string_view template_name) { template_ = template_name; }
  template <typename... Arguments>
  void add(float value, const Arguments&... arguments) {
    names_.append(template_);
    char mark = ':';
    (append_argument(std::exchange(mark, ','), arguments), ...);
    end_name(value);
  }
  // An argument made of symbols, separated by spaces.
  struct Words {
    const SideNames& side;
    std::span<const grammar::Symbol> symbols;
  };
  void end_row() { offsets_.push_back(static_cast<int64_t>(values_.size())); }

  size_t n_rows() const { return offsets_.size() - 1; }
  size_t n_features() const { return values_.size(); }
  std::span<const int64_t> offsets() const { return offsets_; }
  std::string_view name(size_t feature) const {
    const size_t begin = feature == 0 ? 0 : ends_[feature - 1];
    return std::string_view(names_).substr(begin, ends_[feature] - begin);
  }
  float value(size_t feature) const { return values_[feature]; }

 private:
  void append_argument(char mark, std::string_view text);
  void append_argument(char mark, int64_t number);
  void append_argument(char mark, const Words& words);
  void append_escaped(std::string_view text);
  void end_name(float value);

  std::string_view template_;
  std::string names_;
  std::vector<size_t> ends_;
  std::vector<float> values_;
  std::vector<int64_t> offsets_{0};
};

// Thread-safe.
class RuleTemplate {
 public:
  virtual ~RuleTemplate() = default;
  virtual void features(const RuleSight& rule, FeatureRows& out) const = 0;
};

// An integer, or one of several names; then `value` is the place of one in `choices`, from 0.
struct TemplateSetting {
  std::string name;
  int64_t value;  // default
  int64_t least, most;
  std::vector<std::string> choices = {};

  static TemplateSetting one_of(std::string name, std::vector<std::string> choices) {
    const auto n = static_cast<int64_t>(choices.size());
    return {std::move(name), 0, 0, n - 1, std::move(choices)};
  }
  // A CountedBy.
  static TemplateSetting counted_by() { return one_of("by", {"frequency", "unaligned"}); }
};

// A template's name, settings and factory: `values` are the settings in order, and `sides` must outlive the template.
// Templates for rules only do not apply to phrase pairs, and the other way round.
struct TemplateKind {
  std::string name, summary;
  std::vector<TemplateSetting> settings;
  std::unique_ptr<RuleTemplate> (*make)(const RuleSides& sides, std::span<const int64_t> values);
  bool for_rules_only = false, for_phrases_only = false;
};

// Sorted by name.
std::vector<TemplateKind> template_kinds();

// A template with all its settings.
struct TemplateChoice {
  std::string name;
  std::vector<int64_t> values;
};

class ContextTemplate;
class GapTemplate;
class OrientationTemplate;

class TemplateSet {
 public:
  struct Named {
    std::string name;
    std::unique_ptr<RuleTemplate> made;
    const ContextTemplate* context;  // null if it is not one
    const GapTemplate* gap;
    const OrientationTemplate* orientation;
  };

  // Without `has_rules`, templates for rules only are rejected, with it those for phrases only (InputError).
  TemplateSet(RuleSides sides, std::span<const TemplateChoice> choices, bool has_rules = true);
  bool empty() const { return templates_.empty(); }
  // Appends one row: the features that do not depend on where the rule is applied.
  void features(const RuleSight& rule, FeatureRows& out) const;

  const RuleSides& sides() const { return *sides_; }
  std::span<const Named> templates() const { return templates_; }
  bool has_contexts() const;
  bool has_gaps() const;
  bool has_orientations() const;

 private:
  std::unique_ptr<const RuleSides> sides_;  // has a stable address when this object moves
  std::vector<Named> templates_;
};

// A template's source file has one of these for each template, at namespace scope.
struct RegisterTemplate {
  explicit RegisterTemplate(TemplateKind kind);
};

// The usual way to make a template: by a constructor that takes the sides and the settings.
template <typename T>
std::unique_ptr<RuleTemplate> make_template(const RuleSides& sides, std::span<const int64_t> values) {
  return std::make_unique<T>(sides, values);
}

}  // namespace dragoman::templates
