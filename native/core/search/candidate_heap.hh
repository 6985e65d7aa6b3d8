// The most promising candidate first. Four children a node: half as deep as a binary heap, and the children of a node
// share a cache line.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragoman::search {

// A key and a candidate's number, compared at once: the order of keys, and of equal keys the smaller number first.
class CandidateHeap {
 public:
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  uint32_t top() const { return ~static_cast<uint32_t>(entries_.front()); }

  void push(double key, uint32_t candidate) {
    entries_.push_back(entry(key, candidate));
    const uint64_t moved = entries_.back();
    size_t place = entries_.size() - 1;
    for (; place > 0 && entries_[(place - 1) / 4] < moved; place = (place - 1) / 4)
      entries_[place] = entries_[(place - 1) / 4];
    entries_[place] = moved;
  }
  void pop() {
    const uint64_t last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) sink(last);
  }
  void replace_top(double key) { sink(entry(key, top())); }

 private:
  static uint64_t entry(double key, uint32_t candidate) {
    // Floats as integers in their order.
    const auto raw = std::bit_cast<uint32_t>(static_cast<float>(key));
    const uint32_t ordered = raw >> 31 != 0 ? ~raw : raw | uint32_t{1} << 31;
    return static_cast<uint64_t>(ordered) << 32 | ~candidate;
  }

  // Puts an entry in the place of the top.
  void sink(uint64_t moved) {
    const size_t n = entries_.size();
    size_t place = 0;
    for (;;) {
      const size_t first = 4 * place + 1;
      if (first >= n) break;
      size_t best = first;
      for (size_t child = first + 1; child < std::min(n, first + 4); ++child)
        if (entries_[best] < entries_[child]) best = child;
      if (entries_[best] < moved) break;
      entries_[place] = entries_[best];
      place = best;
    }
    entries_[place] = moved;
  }

  std::vector<uint64_t> entries_;
};

}  // namespace dragoman::search
