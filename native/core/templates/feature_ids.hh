// Ids of features by their names.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/names/feature_index.hh"
#include "core/names/new_features.hh"

namespace dragoman::templates {

// Features that the index has get their ids there. Others get ids of `new_features`, or none; with `growing` they are
// added to the index.
class FeatureIds {
 public:
  // The index must outlive it.
  FeatureIds(const names::FeatureIndex& index, bool keep_new)
      : index_(index), new_(keep_new ? std::make_shared<names::NewFeatures>() : nullptr) {}

  // Not thread-safe: it changes the index.
  static FeatureIds growing(names::FeatureIndex& index) {
    FeatureIds ids(index, false);
    ids.growing_ = &index;
    return ids;
  }

  // kAbsent for a feature without an id.
  int32_t of(std::string_view name) {
    if (growing_ != nullptr) return growing_->intern(name);
    const int32_t id = index_.find(name);
    return id == names::FeatureIndex::kAbsent && new_ ? new_->intern(name) : id;
  }
  // Null when there are none.
  std::shared_ptr<const names::NewFeatures> new_features() const { return new_ && new_->size() > 0 ? new_ : nullptr; }

 private:
  const names::FeatureIndex& index_;
  names::FeatureIndex* growing_ = nullptr;
  std::shared_ptr<names::NewFeatures> new_;
};

}  // namespace dragoman::templates
