// The n-grams of one sentence's references as an exact trie: (node, symbol) -> node in an open-addressing
// table, with how often each n-gram occurs in each reference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::metric {

class NgramTrie {
 public:
  static constexpr int32_t kRoot = 0;
  static constexpr int32_t kNone = 0;  // the root is nobody's child

  // Replaces the contents; keeps the memory.
  void build(std::span<const std::span<const int32_t>> references, int order);

  int32_t n_nodes() const { return n_nodes_; }
  // How often the n-gram occurs in each reference.
  const int32_t* counts(int32_t node) const {
    return counts_.data() + static_cast<size_t>(node) * static_cast<size_t>(n_references_);
  }
  // The largest of the counts.
  int32_t limit(int32_t node) const { return nodes_[static_cast<size_t>(node)].limit; }
  // The node that `symbol` leads to, or kNone. Nodes are numbered from 1 in the order of first occurrence.
  int32_t child(int32_t node, int32_t symbol) const {
    const Slot& slot = slots_[slot_of(key_of(node, symbol))];
    return slot.epoch == epoch_ ? slot.node : kNone;
  }

  // Calls hit(n, node, k) for every n-gram occurrence of `text` that some reference has too, where n counts
  // from 0 for unigrams and k is the number of that n-gram's occurrences so far, this one included. Goes
  // order by order, so that the lookups of one order do not wait for each other.
  template <typename Hit>
  void match(std::span<const int32_t> text, Hit&& hit) {
    ++text_;
    if (live_.size() < text.size()) live_.resize(text.size());
    const auto length = static_cast<int32_t>(text.size());
    int32_t n_live = 0;
    for (int32_t i = 0; i < length; ++i) live_[static_cast<size_t>(n_live++)] = {kRoot, i};
    for (int n = 0; n < order_ && n_live > 0; ++n) {
      int32_t kept = 0;
      for (int32_t i = 0; i < n_live; ++i) {
        const Live at = live_[static_cast<size_t>(i)];
        if (at.next >= length) break;  // positions ascend: the rest is at the end too
        const int32_t node = child(at.node, text[static_cast<size_t>(at.next)]);
        if (node == kNone) continue;
        Node& found = nodes_[static_cast<size_t>(node)];
        if (found.text != text_) {
          found.text = text_;
          found.times = 0;
        }
        hit(n, node, ++found.times);
        live_[static_cast<size_t>(kept++)] = {node, at.next + 1};
      }
      n_live = kept;
    }
  }

 private:
  // A slot of an earlier epoch is free, so that a new sentence need not clear the table.
  struct Slot {
    uint64_t key;
    int32_t node;
    uint32_t epoch;
  };
  struct Node {
    int32_t limit;
    int32_t times;  // seen in the text with this number
    uint64_t text;
  };
  struct Live {
    int32_t node, next;
  };

  static uint64_t key_of(int32_t node, int32_t symbol) {
    return static_cast<uint64_t>(static_cast<uint32_t>(node)) << 32 | static_cast<uint32_t>(symbol);
  }
  size_t slot_of(uint64_t key) const {
    auto slot = static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> shift_);
    while (slots_[slot].epoch == epoch_ && slots_[slot].key != key) slot = (slot + 1) & mask_;
    return slot;
  }

  int order_ = 0;
  int n_references_ = 0;
  int32_t n_nodes_ = 0;
  int shift_ = 63;
  size_t mask_ = 0;
  uint32_t epoch_ = 0;
  uint64_t text_ = 0;
  std::vector<Slot> slots_;
  std::vector<int32_t> counts_;  // [node][reference]
  std::vector<Node> nodes_;
  std::vector<Live> live_;
};

}  // namespace dragoman::metric
