// Templates whose features depend on a phrase and on its orientation to the block before it. What they look at of the
// phrase, its parts, is known when options are built; each part has one feature for every orientation, so search adds
// up five numbers for an option beforehand and looks one of them up for each hypothesis.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
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

// Thread-safe.
class OrientationTemplate : public RuleTemplate {
 public:
  // As numbers, interpreted by the template.
  using Part = std::array<int32_t, 2>;

  virtual void parts(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target,
                     std::vector<Part>& out) const = 0;
  // Adds the feature, once.
  virtual void name(const Part& part, std::string_view orientation, FeatureRows& out) const = 0;

  void features(const RuleSight&, FeatureRows&) const final {}
};

// Parts of phrases, each numbered once in the order of first use.
class OrientationParts {
 public:
  // The set must outlive it.
  explicit OrientationParts(const TemplateSet& set);
  // Both append a row. A word that passes through is a phrase of its own; its target side is what the vocabulary has
  // of the same name.
  void add_phrase(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target);
  void add_passed(grammar::Symbol word);

  const RaggedVector<int32_t>& rows() const { return rows_; }
  size_t size() const { return parts_.size(); }
  // Row kOrientations * p + o has the feature of part p with orientation o, or the blocks in its place; nothing if it
  // has no id, or is not `wanted` (by row; empty: all are).
  FeatureColumns number(FeatureIds& ids, std::span<const uint8_t> wanted = {}) const;

 private:
  const TemplateSet* set_;
  std::vector<std::map<OrientationTemplate::Part, int32_t>> known_;  // by template
  std::vector<std::pair<size_t, OrientationTemplate::Part>> parts_;  // with its template
  RaggedVector<int32_t> rows_;
  std::vector<OrientationTemplate::Part> found_;
};

}  // namespace dragoman::templates
