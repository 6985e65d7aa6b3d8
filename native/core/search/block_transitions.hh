// Transition features of a template in search by blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/names/feature_index.hh"
#include "core/search/phrase_search.hh"
#include "core/templates/blocks.hh"

namespace dragoman::search {

// The features of a template with blocks in the place of those they cover.
class BlockTransitions final : public TransitionTemplate {
 public:
  // All features of the template are in the index.
  BlockTransitions(std::shared_ptr<const TransitionTemplate> features, std::shared_ptr<const templates::Blocks> blocks,
                   const names::FeatureIndex& index);

  int64_t state(const PhraseSight& phrase) const override { return features_->state(phrase); }
  bool uses_blocks() const override { return features_->uses_blocks(); }
  void features(const Transition& transition, std::vector<forest::Feature>& out) const override;

 private:
  std::shared_ptr<const TransitionTemplate> features_;
  std::shared_ptr<const templates::Blocks> blocks_;
  std::vector<char> is_covered_;                                 // by feature id
  std::vector<std::span<const templates::Blocks::Term>> terms_;  // by feature id
};

}  // namespace dragoman::search
