// The features of templates with their ids.
#pragma once

#include <cstdint>
#include <vector>

#include "core/names/feature_index.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

// Row i has the ids [offsets[i], offsets[i + 1]) and their values, each id once.
struct FeatureColumns {
  std::vector<size_t> offsets{0};
  std::vector<int32_t> ids;
  std::vector<float> values;
};

// Equal names of a row are added up. New features get their ids in the order of rows; without `grow` those that the
// index lacks are left out. Not thread-safe: it changes the index.
FeatureColumns intern_rows(const std::vector<FeatureRows>& chunks, names::FeatureIndex& index, bool grow);

}  // namespace dragoman::templates
