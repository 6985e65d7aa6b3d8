#include "core/grammar/alignment_keys.hh"

#include <algorithm>
#include <bit>

namespace dragoman::grammar {

uint64_t AlignmentKeys::key(std::span<const PhraseLink> links) {
  uint64_t mask = 0;
  bool all_fit = true;
  for (const PhraseLink link : links) {
    all_fit = all_fit && fits(link.source, link.target);
    if (all_fit) mask |= bit(link.source, link.target);
  }
  if (all_fit) return mask;
  std::scoped_lock lock(mutex_);
  const auto [at, is_new] = interned_.try_emplace({links.begin(), links.end()}, kInterned | content_.size());
  if (is_new) content_.push_back(&at->first);
  return at->second;
}

std::vector<PhraseLink> AlignmentKeys::links(uint64_t key) const {
  if (key & kInterned) {
    std::scoped_lock lock(mutex_);
    return *content_[key & ~kInterned];
  }
  std::vector<PhraseLink> result;
  for (; key; key &= key - 1) {
    const int index = std::countr_zero(key);
    result.push_back({static_cast<uint8_t>(index / kTargetWords), static_cast<uint8_t>(index % kTargetWords)});
  }
  return result;
}

AlignmentTable::AlignmentTable(const AlignmentKeys& keys, const std::vector<uint64_t>& used) {
  std::vector<std::pair<std::vector<PhraseLink>, uint64_t>> content;
  content.reserve(used.size());
  for (const uint64_t key : used) content.emplace_back(keys.links(key), key);
  std::sort(content.begin(), content.end());
  offsets.push_back(0);
  slots_.assign(std::bit_ceil(2 * content.size() + 1), {kFree, 0});
  for (const auto& [row, key] : content) {
    slots_[slot(key)] = {key, static_cast<uint32_t>(offsets.size() - 1)};
    links.insert(links.end(), row.begin(), row.end());
    offsets.push_back(static_cast<int64_t>(links.size()));
  }
}

}  // namespace dragoman::grammar
