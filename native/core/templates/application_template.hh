// Templates whose features depend on where a rule is applied. Such a feature looks at one symbol of the source side: a
// word and its neighbour in the sentence, or a nonterminal and the number of words it covers. So it is known as soon as
// a rule matches, and is computed once per word and neighbour, or per class of nonterminal and length, not per
// application.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/templates/rule_template.hh"

namespace dragoman::templates {

enum class Neighbour : uint8_t { kBefore, kAfter };

// Thread-safe.
class ContextTemplate : public RuleTemplate {
 public:
  // The parts of a feature as numbers, interpreted by its template; equal features have equal keys.
  using Arguments = std::array<int32_t, 4>;

  // Features of the word at a source position that depend on the neighbouring word in the sentence, <s> and </s> at the
  // ends.
  virtual void beside(const RuleSight& rule, size_t place, Neighbour which, grammar::Symbol word,
                      std::vector<Arguments>& out) const = 0;
  // Adds the feature, once.
  virtual void name(const Arguments& arguments, FeatureRows& out) const = 0;

  // Features of words that are neighbours within the rule itself.
  void features(const RuleSight& rule, FeatureRows& out) const final;
};

// Thread-safe. Nonterminals fall into a few classes, by how the rule uses them.
class GapTemplate : public RuleTemplate {
 public:
  virtual int32_t n_classes() const = 0;
  // `place` is the nonterminal's source position, `slot` its number there from 0.
  virtual int32_t gap_class(const RuleSight& rule, size_t place, int32_t slot) const = 0;
  // This length and all longer ones share a class.
  virtual int32_t max_length() const = 0;
  virtual void gap_features(int32_t gap_class, int32_t length, FeatureRows& out) const = 0;

  void features(const RuleSight&, FeatureRows&) const final {}
};

// All gap templates of a set combined.
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
