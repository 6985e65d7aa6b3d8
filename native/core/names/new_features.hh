// Features that an index lacks. They have ids of their own, beyond those of any index, until one that is needed there
// is interned: of all features of options few are on a candidate.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/names/feature_index.hh"

namespace dragoman::names {

class NewFeatures {
 public:
  static constexpr int32_t kFirst = FeatureIndex::kMaxFeatures;

  // As FeatureIndex::intern.
  int32_t intern(std::string_view name) { return kFirst + names_.intern(name); }
  std::string_view name(int32_t id) const { return names_.name(id - kFirst); }
  int32_t size() const { return names_.size(); }

 private:
  FeatureIndex names_;
};

}  // namespace dragoman::names
