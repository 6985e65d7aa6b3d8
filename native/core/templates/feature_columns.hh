// Template features with their ids.
#pragma once

#include <cstdint>
#include <vector>

#include "core/templates/feature_ids.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

// Row i has ids and values [offsets[i], offsets[i + 1]), each id once; a block's may be there in two parts, at the end.
struct FeatureColumns {
  std::vector<size_t> offsets{0};
  std::vector<int32_t> ids;
  std::vector<float> values;
};

// Sums values of equal names in a row, puts blocks in the place of what they cover and leaves out features without an
// id.
FeatureColumns number_rows(const std::vector<FeatureRows>& chunks, FeatureIds& ids);

}  // namespace dragoman::templates
