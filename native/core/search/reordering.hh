// Lexicalised reordering at search time: which orientation a phrase takes, by its neighbour (word- and phrase-based
// models) or by the blocks of a shift-reduce stack (the hierarchical model of Galley and Manning 2008).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/grammar/key.hh"

namespace dragoman::search {

// The column of an orientation in a model with this number of orientations. With three, both discontinuous ones share
// the third.
constexpr int orientation_column(grammar::Orientation orientation, int n_orientations) {
  if (n_orientations == 3 && orientation == grammar::Orientation::kRight) orientation = grammar::Orientation::kLeft;
  if (n_orientations < 5 && orientation == grammar::Orientation::kMonoGlobal) orientation = grammar::Orientation::kMono;
  return static_cast<int>(orientation);
}

struct SourceSpan {
  int32_t begin = 0, end = 0;
  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

// Of `current` after `previous`; the sentence's beginning is the empty span at 0.
constexpr grammar::Orientation orientation_after(SourceSpan previous, SourceSpan current) {
  if (current.begin == previous.end) return grammar::Orientation::kMono;
  if (current.end == previous.begin) return grammar::Orientation::kSwap;
  return current.begin > previous.end ? grammar::Orientation::kRight : grammar::Orientation::kLeft;
}

// The words between two spans that do not overlap, which may be none.
constexpr SourceSpan gap_between(SourceSpan a, SourceSpan b) {
  return a.end <= b.begin ? SourceSpan{a.end, b.begin} : SourceSpan{b.end, a.begin};
}

// What later features tell of the target words that a block begins and ends with, as numbers; kNone where nobody asks.
struct TargetEdges {
  static constexpr int32_t kNone = -1;
  int32_t first = kNone, last = kNone;
  friend bool operator==(const TargetEdges&, const TargetEdges&) = default;
};

// Stacks of blocks as immutable lists with shared tails, hash-consed: equal stacks have equal ids. Id 0 is the empty
// one.
class BlockStacks {
 public:
  struct Block {
    SourceSpan span;
    TargetEdges target;  // of a block that is not on top only the first counts
    uint32_t below;
    int32_t depth;
  };

  BlockStacks() { clear(); }
  void clear();
  // Shifts a phrase, then reduces while the two topmost blocks are adjacent.
  uint32_t shift(uint32_t stack, SourceSpan span, TargetEdges target = {});
  size_t size() const { return blocks_.size(); }
  const Block& top(uint32_t stack) const { return blocks_[stack]; }
  grammar::Orientation backward(uint32_t stack, SourceSpan current) const {
    const Block& top = blocks_[stack];
    const grammar::Orientation orientation = orientation_after(top.span, current);
    return orientation == grammar::Orientation::kMono && top.depth <= 1 && top.span.begin == 0
               ? grammar::Orientation::kMonoGlobal
               : orientation;
  }

 private:
  uint32_t intern(const Block& block);

  std::vector<Block> blocks_;
  std::vector<uint32_t> slots_;  // 0: free
};

}  // namespace dragoman::search
