// Ids of features by their names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/names/feature_index.hh"
#include "core/names/new_features.hh"
#include "core/templates/blocks.hh"

namespace dragoman::templates {

// Features that the index has get their ids there. Others get ids of `new_features`, or none; with `growing` they are
// added to the index.
class FeatureIds {
 public:
  // Index and blocks must outlive it. `blocks` (null: there are none) stand for the features they cover, which need no
  // ids, and may leave out others.
  FeatureIds(const names::FeatureIndex& index, bool keep_new, const Blocks* blocks = nullptr)
      : index_(index), new_(keep_new ? std::make_shared<names::NewFeatures>() : nullptr), blocks_(blocks) {}

  // Not thread-safe: it changes the index.
  static FeatureIds growing(names::FeatureIndex& index, const Blocks* blocks = nullptr) {
    FeatureIds ids(index, false, blocks);
    ids.growing_ = &index;
    return ids;
  }

  // kAbsent for a feature without an id.
  int32_t of(std::string_view name) {
    if (growing_ != nullptr) return growing_->intern(name);
    const int32_t id = index_.find(name);
    return id == names::FeatureIndex::kAbsent && new_ ? new_->intern(name) : id;
  }
  const Blocks* blocks() const { return blocks_; }
  // What the feature adds to blocks; nothing where it has an id of its own.
  std::optional<std::span<const Blocks::Term>> terms(std::string_view name) const {
    return blocks_ ? blocks_->terms(name) : std::nullopt;
  }
  // Null when there are none.
  std::shared_ptr<const names::NewFeatures> new_features() const { return new_ && new_->size() > 0 ? new_ : nullptr; }

 private:
  const names::FeatureIndex& index_;
  names::FeatureIndex* growing_ = nullptr;
  std::shared_ptr<names::NewFeatures> new_;
  const Blocks* blocks_;
};

}  // namespace dragoman::templates
