#include "core/search/reordering.hh"

#include <algorithm>

namespace dragoman::search {

namespace {

uint64_t hash_of(const BlockStacks::Block& block) {
  uint64_t h = (uint64_t{static_cast<uint32_t>(block.span.begin)} << 32) | static_cast<uint32_t>(block.span.end);
  h = (h ^ block.below) * 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 29) ^
       (uint64_t{static_cast<uint32_t>(block.target.first)} << 32 | static_cast<uint32_t>(block.target.last))) *
      0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 32);
}

bool same(const BlockStacks::Block& a, const BlockStacks::Block& b) {
  return a.span == b.span && a.target == b.target && a.below == b.below;
}

}  // namespace

void BlockStacks::clear() {
  blocks_.assign(1, {{0, 0}, {}, 0, 0});
  slots_.assign(1 << 10, 0);
}

uint32_t BlockStacks::shift(uint32_t stack, SourceSpan span, TargetEdges target) {
  while (stack != 0) {
    const Block& top = blocks_[stack];
    if (top.span.end != span.begin && top.span.begin != span.end) break;
    span = {std::min(top.span.begin, span.begin), std::max(top.span.end, span.end)};
    target.first = top.target.first;
    stack = top.below;
  }
  // When a block is on top again, it has grown, and ends with a later phrase.
  if (blocks_[stack].target.last != TargetEdges::kNone) {
    Block below = blocks_[stack];
    below.target.last = TargetEdges::kNone;
    stack = intern(below);
  }
  return intern({span, target, stack, blocks_[stack].depth + 1});
}

uint32_t BlockStacks::intern(const Block& block) {
  if (blocks_.size() * 2 >= slots_.size()) {
    slots_.assign(slots_.size() * 2, 0);
    const size_t mask = slots_.size() - 1;
    for (uint32_t id = 1; id < blocks_.size(); ++id) {
      size_t slot = hash_of(blocks_[id]) & mask;
      while (slots_[slot] != 0) slot = (slot + 1) & mask;
      slots_[slot] = id;
    }
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_of(block) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask)
    if (same(blocks_[slots_[slot]], block)) return slots_[slot];
  slots_[slot] = static_cast<uint32_t>(blocks_.size());
  blocks_.push_back(block);
  return slots_[slot];
}

}  // namespace dragoman::search
