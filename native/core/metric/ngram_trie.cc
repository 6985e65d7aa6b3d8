#include "core/metric/ngram_trie.hh"

#include <algorithm>
#include <bit>

namespace dragoman::metric {

void NgramTrie::build(std::span<const std::span<const int32_t>> references, int order) {
  order_ = order;
  n_references_ = static_cast<int>(references.size());
  const auto width = static_cast<size_t>(n_references_);
  size_t most_nodes = 1;
  for (const auto& reference : references) most_nodes += reference.size() * static_cast<size_t>(order);
  const size_t n_slots = std::bit_ceil(std::max<size_t>(2 * most_nodes, 16));
  if (slots_.size() < n_slots) slots_.resize(n_slots, Slot{0, kNone, 0});
  if (++epoch_ == 0) {  // wrapped around: stale slots would look taken
    std::fill(slots_.begin(), slots_.end(), Slot{0, kNone, 0});
    epoch_ = 1;
  }
  mask_ = n_slots - 1;
  shift_ = 64 - std::countr_zero(n_slots);
  nodes_.clear();
  nodes_.push_back({0, 0, 0});
  counts_.assign(width, 0);
  for (size_t r = 0; r < width; ++r) {
    const auto& reference = references[r];
    for (size_t begin = 0; begin < reference.size(); ++begin) {
      const size_t end = std::min(reference.size(), begin + static_cast<size_t>(order));
      int32_t node = kRoot;
      for (size_t i = begin; i < end; ++i) {
        const uint64_t key = key_of(node, reference[i]);
        Slot& slot = slots_[slot_of(key)];
        if (slot.epoch != epoch_) {
          slot = {key, static_cast<int32_t>(nodes_.size()), epoch_};
          nodes_.push_back({0, 0, 0});
          counts_.insert(counts_.end(), width, 0);
        }
        node = slot.node;
        const int32_t count = ++counts_[static_cast<size_t>(node) * width + r];
        nodes_[static_cast<size_t>(node)].limit = std::max(nodes_[static_cast<size_t>(node)].limit, count);
      }
    }
  }
  n_nodes_ = static_cast<int32_t>(nodes_.size());
}

}  // namespace dragoman::metric
