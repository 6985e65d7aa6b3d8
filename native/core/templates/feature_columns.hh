// Template features with their ids.
#pragma once

#include <cstdint>
#include <vector>

#include "core/names/feature_index.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

// Row i has ids and values [offsets[i], offsets[i + 1]), without duplicate ids.
struct FeatureColumns {
  std::vector<size_t> offsets{0};
  std::vector<int32_t> ids;
  std::vector<float> values;
};

// Sums values of equal names in a row. New features get ids in row order; without `grow` they are dropped. Not
// thread-safe: it changes the index.
FeatureColumns intern_rows(const std::vector<FeatureRows>& chunks, names::FeatureIndex& index, bool grow);

}  // namespace dragoman::templates
