#include "core/search/oriented_sites.hh"

#include <unordered_map>

#include "core/search/oriented_parts.hh"

namespace dragoman::search {

OrientedSites find_oriented(const DerivationBatch& batch, int64_t sentence, const templates::OrientationParts& parts,
                            std::span<const uint32_t> row_of_application, std::span<const int32_t> block_start) {
  const auto first = at(batch.first_application[at(sentence)]), first_word = at(batch.words.offsets[at(sentence)]);
  const size_t n_words = batch.words[sentence].size();
  SentenceParts around{{}, block_start, {}};
  if (around.has_blocks()) around.block_sources = std::span(parts.block_sources()).subspan(2 * first_word, 2 * n_words);
  if (parts.has_gaps()) around.gap_words = std::span(parts.gap_words()).subspan(first_word, n_words);
  OrientedSites found;
  BlockStacks stacks;
  std::unordered_map<uint64_t, uint32_t> sites;
  for (int64_t c = batch.first_candidate[at(sentence)]; c < batch.first_candidate[at(sentence) + 1]; ++c) {
    uint32_t stack = 0;
    for (const int32_t number : batch.derivations[c]) {
      const size_t a = first + at(number), row = row_of_application[a];
      const SourceSpan span{batch.begins[a], batch.ends[a]};
      const auto [known, is_new] = sites.try_emplace(uint64_t{stack} << 32 | static_cast<uint32_t>(number),
                                                     static_cast<uint32_t>(found.rows.size()));
      found.steps.push_back(known->second);
      if (is_new) {
        const BlockStacks::Block& top = stacks.top(stack);
        const auto orientation = static_cast<int32_t>(stacks.backward(stack, span));
        const auto add = [&](int32_t part) {
          found.rows.values.push_back(part * static_cast<int32_t>(templates::kOrientations) + orientation);
        };
        for (const int32_t part : parts.rows()[static_cast<int64_t>(row)]) add(part);
        around.each_of_block(top, add);
        around.each_of_gap(top, span, add);
        found.rows.offsets.push_back(static_cast<int64_t>(found.rows.values.size()));
      }
      TargetEdges target;
      if (around.has_blocks()) target = {parts.block_targets()[2 * row], parts.block_targets()[2 * row + 1]};
      stack = stacks.shift(stack, span, target);
    }
  }
  return found;
}

std::vector<uint8_t> met_parts(std::span<const OrientedSites> sentences, size_t n_parts) {
  std::vector<uint8_t> met(n_parts * templates::kOrientations);
  for (const OrientedSites& sites : sentences)
    for (const int32_t row : sites.rows.values) met[at(row)] = 1;
  return met;
}

}  // namespace dragoman::search
