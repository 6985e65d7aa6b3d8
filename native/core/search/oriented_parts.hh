// What features of orientations look at in one sentence, beyond the phrase itself. Search and stored derivations go
// through it in the same order, so that their sums are equal.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/at.hh"
#include "core/search/phrase_batch.hh"
#include "core/search/reordering.hh"

namespace dragoman::search {

struct SentenceParts {
  std::span<const int32_t> block_sources, block_start, gap_words;  // as in OrientationFeatures

  static SentenceParts of(const PhraseBatch& batch, int64_t sentence) {
    const OrientationFeatures& oriented = *batch.oriented;
    const auto first = at(batch.pass_through.offsets[at(sentence)]);
    const size_t n = at(batch.pass_through.offsets[at(sentence) + 1]) - first;
    SentenceParts result{{}, oriented.block_start, {}};
    if (result.has_blocks()) result.block_sources = std::span(oriented.block_sources).subspan(2 * first, 2 * n);
    if (!oriented.gap_words.empty()) result.gap_words = std::span(oriented.gap_words).subspan(first, n);
    return result;
  }

  bool has_blocks() const { return !block_start.empty(); }

  // Calls visit(part) for the words at the edges of a block.
  template <typename Visit>
  void each_of_block(const BlockStacks::Block& block, Visit&& visit) const {
    if (!has_blocks()) return;
    if (block.depth == 0) {
      for (const int32_t part : block_start) visit(part);
      return;
    }
    visit(block_sources[2 * at(block.span.begin)]);
    visit(block_sources[2 * at(block.span.end) - 1]);
    if (block.target.first != TargetEdges::kNone) visit(block.target.first);
    if (block.target.last != TargetEdges::kNone) visit(block.target.last);
  }

  // Calls visit(part) for the words between the block and a phrase over `span`.
  template <typename Visit>
  void each_of_gap(const BlockStacks::Block& block, SourceSpan span, Visit&& visit) const {
    if (gap_words.empty()) return;
    const auto [begin, end] = gap_between(block.span, span);
    for (int32_t p = begin; p < end; ++p) visit(gap_words[at(p)]);
  }
};

}  // namespace dragoman::search
