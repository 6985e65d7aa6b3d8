// Alignments inside phrase pairs as 64-bit keys while a grammar is built, and as dense ids once it is.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/grammar/key.hh"

namespace dragoman::grammar {

class AlignmentKeys {
 public:
  static constexpr int kSourceWords = 7, kTargetWords = 9;
  // The bit of a link in the key of an alignment whose links all lie in the first 7 x 9 words. Other alignments are
  // interned; bit 63 tells them apart.
  static bool fits(int source, int target) { return source < kSourceWords && target < kTargetWords; }
  static uint64_t bit(int source, int target) { return uint64_t{1} << (source * kTargetWords + target); }

  // The key of sorted, distinct links. Thread-safe.
  uint64_t key(std::span<const PhraseLink> links);
  std::vector<PhraseLink> links(uint64_t key) const;

 private:
  static constexpr uint64_t kInterned = uint64_t{1} << 63;
  mutable std::mutex mutex_;
  std::map<std::vector<PhraseLink>, uint64_t> interned_;
  std::vector<const std::vector<PhraseLink>*> content_;
};

// The distinct alignments of a grammar, ids in lexicographic order of their links.
class AlignmentTable {
 public:
  AlignmentTable(const AlignmentKeys& keys, const std::vector<uint64_t>& used);

  uint32_t id(uint64_t key) const { return slots_[slot(key)].second; }

  std::vector<int64_t> offsets;
  std::vector<PhraseLink> links;

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // no alignment's key
  size_t slot(uint64_t key) const {
    size_t at = mix64(key) & (slots_.size() - 1);
    while (slots_[at].first != key && slots_[at].first != kFree) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<std::pair<uint64_t, uint32_t>> slots_;  // open addressing, at most half full
};

}  // namespace dragoman::grammar
