#include "core/search/block_transitions.hh"

#include <utility>

#include "core/base/at.hh"

namespace dragoman::search {

BlockTransitions::BlockTransitions(std::shared_ptr<const TransitionTemplate> features,
                                   std::shared_ptr<const templates::Blocks> blocks, const names::FeatureIndex& index)
    : features_(std::move(features)),
      blocks_(std::move(blocks)),
      is_covered_(at(index.size())),
      terms_(at(index.size())) {
  for (int32_t id = 0; id < index.size(); ++id)
    if (const auto terms = blocks_->terms(index.name(id))) {
      is_covered_[at(id)] = 1;
      terms_[at(id)] = *terms;
    }
}

void BlockTransitions::features(const Transition& transition, std::vector<forest::Feature>& out) const {
  const size_t first = out.size();
  features_->features(transition, out);
  size_t kept = first;
  std::vector<forest::Feature> of_blocks;
  for (size_t i = first; i < out.size(); ++i) {
    const forest::Feature f = out[i];
    if (at(f.id) >= is_covered_.size() || !is_covered_[at(f.id)]) {
      out[kept++] = f;
      continue;
    }
    for (const auto& [block, coefficient] : terms_[at(f.id)]) {
      const auto [part, rest] = templates::parts_of(coefficient * static_cast<double>(f.value));
      of_blocks.push_back({blocks_->feature(block), part});
      if (rest != 0) of_blocks.push_back({blocks_->feature(block), rest});
    }
  }
  out.resize(kept);
  out.insert(out.end(), of_blocks.begin(), of_blocks.end());
}

}  // namespace dragoman::search
