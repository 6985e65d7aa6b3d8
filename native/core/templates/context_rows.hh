// Collects features of context templates and gives them ids; each distinct feature is named only once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/templates/application_template.hh"
#include "core/templates/feature_columns.hh"

namespace dragoman::templates {

class ContextRows {
 public:
  // The set must outlive it.
  explicit ContextRows(const TemplateSet& set) : set_(&set), slots_(1 << 8, kNone) {}

  // Adds the features of the contiguous source words [first, end) of the rule that depend on the words around them;
  // those between the words themselves do not depend on the sentence. A word without a name counts as unknown.
  void add(const RuleSight& rule, size_t first, size_t end, grammar::Symbol before, grammar::Symbol after);
  void end_row() { offsets_.push_back(columns_.size()); }
  // Call it after the last row.
  void finish();
  // Appends the finished rows with their ids; features without one are left out.
  void number(FeatureIds& ids, FeatureColumns& out) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Key {
    uint32_t source;  // template
    ContextTemplate::Arguments arguments;
    friend bool operator==(const Key&, const Key&) = default;
  };

  uint32_t column_of(const Key& key);
  void add(uint32_t source, const RuleSight& rule, size_t place, Neighbour which, grammar::Symbol word);

  const TemplateSet* set_;
  std::vector<Key> keys_;        // of columns
  std::vector<uint32_t> slots_;  // open addressing: a column or kNone
  std::vector<size_t> offsets_{0};
  std::vector<uint32_t> columns_;
  std::vector<float> values_;
  std::vector<ContextTemplate::Arguments> found_;
  FeatureRows names_;  // of columns
};

}  // namespace dragoman::templates
