// Lexicalised reordering at search time: which orientation a phrase takes, by its neighbour (word- and phrase-based
// models) or by the blocks of a shift-reduce stack (the hierarchical model of Galley and Manning 2008).
#pragma once

#include <cstdint>
#include <vector>

namespace dragoman {

// The orientations in the order of a model's columns. With three, both discontinuous ones are the third.
enum Orientation : int {
  kMonotone = 0,
  kSwap = 1,
  kDiscontinuousLeft = 2,  // the phrase is left of what came before
  kDiscontinuousRight = 3,
  kMonotoneGlobal = 4,  // monotone, and everything before (forward: after) is one block
};

constexpr int narrowed(Orientation orientation, int n_orientations) {
  if (n_orientations == 3 && orientation == kDiscontinuousRight) return kDiscontinuousLeft;
  if (n_orientations < 5 && orientation == kMonotoneGlobal) return kMonotone;
  return orientation;
}

struct SourceSpan {
  int32_t begin = 0, end = 0;
  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

// Of `current` after `previous`; the sentence's beginning is the empty span at 0.
constexpr Orientation orientation_after(SourceSpan previous, SourceSpan current) {
  if (current.begin == previous.end) return kMonotone;
  if (current.end == previous.begin) return kSwap;
  return current.begin > previous.end ? kDiscontinuousRight : kDiscontinuousLeft;
}

// Stacks of blocks as immutable lists with shared tails, hash-consed: equal stacks have equal ids. Id 0 is the empty
// one.
class BlockStacks {
 public:
  struct Block {
    SourceSpan span;
    int32_t first_word;  // target word that the block begins with, or -1 where nobody asks
    uint32_t below;
    int32_t depth;
  };

  BlockStacks() { clear(); }
  void clear();
  // Shifts a phrase, then reduces while the two topmost blocks are adjacent.
  uint32_t shift(uint32_t stack, SourceSpan span, int32_t first_word);
  const Block& top(uint32_t stack) const { return blocks_[stack]; }
  Orientation backward(uint32_t stack, SourceSpan current) const {
    const Block& top = blocks_[stack];
    const Orientation orientation = orientation_after(top.span, current);
    return orientation == kMonotone && top.depth <= 1 ? kMonotoneGlobal : orientation;
  }

 private:
  uint32_t intern(const Block& block);

  std::vector<Block> blocks_;
  std::vector<uint32_t> slots_;  // 0: free
};

}  // namespace dragoman
