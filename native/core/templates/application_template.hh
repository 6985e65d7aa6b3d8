// Templates whose features depend on where a rule is applied. Such a feature looks at one symbol of the source side: at
// a word and its neighbour in the sentence, or at a nonterminal and how many words it covers. So it is known as soon as
// a rule matches, and everything about it is computed once: not by application but by word and neighbour, by kind of
// nonterminal and length.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/templates/rule_template.hh"

namespace dragoman::templates {

// Sentences stand between these.
constexpr grammar::Symbol kSentenceBegin = 1, kSentenceEnd = 2;

enum class Neighbour : uint8_t { kBefore, kAfter };

// Thread-safe.
class ContextTemplate : public RuleTemplate {
 public:
  // What a feature is made of, in numbers that its template knows how to read; equal features have equal ones.
  using Arguments = std::array<int32_t, 4>;

  // The features that the word at a place of the source side has because of the sentence's word beside it, <s> and </s>
  // at the ends.
  virtual void beside(const RuleSight& rule, size_t place, Neighbour which, grammar::Symbol word,
                      std::vector<Arguments>& out) const = 0;
  // Adds the feature, once.
  virtual void name(const Arguments& arguments, FeatureRows& out) const = 0;

  // Of the words that are neighbours in the rule itself.
  void features(const RuleSight& rule, FeatureRows& out) const final;
};

// Thread-safe. Nonterminals are of a few classes, by what the rule does with them.
class GapTemplate : public RuleTemplate {
 public:
  virtual int32_t n_classes() const = 0;
  // `place` is that of the nonterminal on the source side, `slot` its number there from 0.
  virtual int32_t gap_class(const RuleSight& rule, size_t place, int32_t slot) const = 0;
  // Lengths from this one on are one.
  virtual int32_t max_length() const = 0;
  virtual void gap_features(int32_t gap_class, int32_t length, FeatureRows& out) const = 0;

  void features(const RuleSight&, FeatureRows&) const final {}
};

// The gap templates of a set as one.
class GapClasses {
 public:
  explicit GapClasses(const TemplateSet& set);
  int32_t max_length() const { return max_length_; }
  int32_t of(const RuleSight& rule, size_t place, int32_t slot) const;
  // A row for each class and length: class * max_length + length - 1.
  FeatureRows rows() const;

 private:
  std::vector<const TemplateSet::Named*> templates_;
  int32_t n_classes_ = 1, max_length_ = 1;
};

}  // namespace dragoman::templates
