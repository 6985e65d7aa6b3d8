// The n-grams of one sentence's references as an exact trie: (node, symbol) -> node in an open-addressing
// table, with how often each n-gram occurs in each reference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman {

class NgramTrie {
 public:
  static constexpr int32_t kRoot = 0;
  static constexpr int32_t kNone = 0;  // the root is nobody's child

  // Replaces the contents; keeps the memory.
  void build(std::span<const std::span<const int32_t>> references, int order);

  int32_t n_nodes() const { return static_cast<int32_t>(limits_.size()); }
  int32_t count(int32_t node, int reference) const {
    return counts_[static_cast<size_t>(node) * static_cast<size_t>(n_references_) +
                   static_cast<size_t>(reference)];
  }
  // The largest count over the references.
  int32_t limit(int32_t node) const { return limits_[static_cast<size_t>(node)]; }

  // The node that `symbol` leads to, or kNone. Nodes are numbered from 1 in the order of first occurrence.
  int32_t child(int32_t node, int32_t symbol) const { return slots_[slot_of(key_of(node, symbol))].node; }

  // Calls hit(n, node, k) for every n-gram occurrence of `text` that some reference has too, where n counts
  // from 0 for unigrams and k is the number of that n-gram's occurrences so far, this one included. Goes
  // order by order, so that the lookups of one order do not wait for each other.
  template <typename Hit>
  void match(std::span<const int32_t> text, Hit&& hit) {
    begin_text();
    live_.resize(text.size());
    size_t n_live = text.size();
    for (size_t i = 0; i < n_live; ++i) live_[i] = {kRoot, static_cast<int32_t>(i)};
    for (int n = 0; n < order_ && n_live > 0; ++n) {
      size_t kept = 0;
      for (size_t i = 0; i < n_live; ++i) {
        const Live at = live_[i];
        if (static_cast<size_t>(at.next) >= text.size()) continue;
        const int32_t node = child(at.node, text[static_cast<size_t>(at.next)]);
        if (node == kNone) continue;
        Seen& seen = seen_[static_cast<size_t>(node)];
        if (seen.text != text_) seen = {text_, 0};
        hit(n, node, ++seen.times);
        live_[kept++] = {node, at.next + 1};
      }
      n_live = kept;
    }
  }

 private:
  struct Slot {
    uint64_t key;
    int32_t node;
  };
  struct Seen {
    uint32_t text;
    int32_t times;
  };
  struct Live {
    int32_t node, next;
  };

  static uint64_t key_of(int32_t node, int32_t symbol) {
    return static_cast<uint64_t>(static_cast<uint32_t>(node)) << 32 | static_cast<uint32_t>(symbol);
  }
  size_t slot_of(uint64_t key) const {
    size_t slot = static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> shift_);
    while (slots_[slot].node != kNone && slots_[slot].key != key) slot = (slot + 1) & mask_;
    return slot;
  }
  void begin_text();

  int order_ = 0;
  int n_references_ = 0;
  int shift_ = 0;
  size_t mask_ = 0;
  uint32_t text_ = 0;
  std::vector<Slot> slots_;
  std::vector<int32_t> counts_;  // [node][reference]
  std::vector<int32_t> limits_;
  std::vector<Seen> seen_;
  std::vector<Live> live_;
};

}  // namespace dragoman
