// Which source words are translated. A coverage is the first gap and a window of bits from there on: under a distortion
// limit nothing is covered beyond gap + limit, so a sentence of any length needs one machine word.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/search/reordering.hh"

namespace dragoman::search {

// The cost of covering gaps: the best segmentation into phrases, each with its best score.
class FutureCosts {
 public:
  // best[begin * max_length + length - 1] is the best score of a phrase over that span, -infinity without one. Gaps
  // other than the last are at most `width` words long.
  void compute(int32_t n_words, int32_t max_length, std::span<const double> best, int32_t width);
  double of(int32_t begin, int32_t end) const {
    if (end == n_words_) return suffix_[static_cast<size_t>(begin)];
    return inner_[static_cast<size_t>(begin) * static_cast<size_t>(width_ + 1) + static_cast<size_t>(end - begin)];
  }

 private:
  int32_t n_words_ = 0, width_ = 0;
  std::vector<double> inner_, suffix_;
};

// Coverages of one sentence, interned: equal coverages have equal ids. Id 0 is the empty one.
class Coverages {
 public:
  // `limit` < 0: none. `costs` must outlive the sentence.
  void start(int32_t n_words, int32_t limit, const FutureCosts& costs);
  // The coverage after a phrase over words that are free.
  uint32_t extend(uint32_t coverage, SourceSpan span);

  int32_t first_gap(uint32_t c) const { return infos_[c].first_gap; }
  int32_t n_covered(uint32_t c) const { return infos_[c].n_covered; }
  double future(uint32_t c) const { return infos_[c].future; }
  // Just after the last covered word.
  int32_t end(uint32_t c) const { return infos_[c].end; }
  bool is_covered(uint32_t c, int32_t position) const {
    const int32_t bit = position - infos_[c].first_gap;
    if (bit < 0) return true;
    if (bit >= 64 * n_blocks_) return false;
    return (windows_[c * static_cast<size_t>(n_blocks_) + static_cast<size_t>(bit >> 6)] >> (bit & 63) & 1) != 0;
  }
  // Words that are not covered are exactly those from `position` on.
  bool is_prefix(uint32_t c, int32_t position) const {
    return infos_[c].first_gap == position && infos_[c].end <= position;
  }

 private:
  struct Info {
    int32_t first_gap, end, n_covered;
    double future;
  };
  std::span<uint64_t> window(uint32_t c) {
    return {windows_.data() + c * static_cast<size_t>(n_blocks_), static_cast<size_t>(n_blocks_)};
  }
  uint64_t hash(uint32_t c) const;
  double gap_cost(uint32_t c) const;
  // Coverage `c` was appended last; gives the id of an equal older one and drops `c`, or keeps it.
  uint32_t intern_last();

  int32_t n_words_ = 0;
  int32_t n_blocks_ = 1;
  const FutureCosts* costs_ = nullptr;
  std::vector<Info> infos_;
  std::vector<uint64_t> windows_;
  std::vector<uint32_t> slots_;  // id + 1; 0: free
};

}  // namespace dragoman::search
