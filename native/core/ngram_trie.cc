#include "core/ngram_trie.hh"

#include <algorithm>
#include <bit>

namespace dragoman {

void NgramTrie::build(std::span<const std::span<const int32_t>> references, int order) {
  order_ = order;
  n_references_ = static_cast<int>(references.size());
  const auto width = static_cast<size_t>(n_references_);
  size_t most_nodes = 1;
  for (const auto& reference : references) most_nodes += reference.size() * static_cast<size_t>(order);
  const size_t n_slots = std::bit_ceil(std::max<size_t>(2 * most_nodes, 16));
  slots_.assign(n_slots, Slot{0, kNone});
  mask_ = n_slots - 1;
  shift_ = 64 - std::countr_zero(n_slots);
  counts_.assign(width, 0);
  int32_t n_nodes = 1;
  for (size_t r = 0; r < width; ++r) {
    const auto& reference = references[r];
    for (size_t begin = 0; begin < reference.size(); ++begin) {
      const size_t end = std::min(reference.size(), begin + static_cast<size_t>(order));
      int32_t node = 0;
      for (size_t i = begin; i < end; ++i) {
        const uint64_t key = key_of(node, reference[i]);
        Slot& slot = slots_[slot_of(key)];
        if (slot.node == kNone) {
          slot = {key, n_nodes++};
          counts_.resize(counts_.size() + width, 0);
        }
        node = slot.node;
        ++counts_[static_cast<size_t>(node) * width + r];
      }
    }
  }
  limits_.resize(static_cast<size_t>(n_nodes));
  for (size_t node = 0; node < limits_.size(); ++node) {
    const auto row = counts_.begin() + static_cast<std::ptrdiff_t>(node * width);
    limits_[node] = width == 0 ? 0 : *std::max_element(row, row + static_cast<std::ptrdiff_t>(width));
  }
  seen_.assign(limits_.size(), Seen{0, 0});
  text_ = 0;
}

void NgramTrie::begin_text() {
  if (++text_ == 0) {  // the stamp wrapped around
    std::fill(seen_.begin(), seen_.end(), Seen{0, 0});
    text_ = 1;
  }
}

}  // namespace dragoman
