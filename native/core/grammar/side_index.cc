#include "core/grammar/side_index.hh"

#include <algorithm>
#include <bit>

namespace dragoman::grammar {

namespace {

constexpr uint64_t kRowMask = 0xffffffffU;

}  // namespace

SideIndex::SideIndex(const Ragged<Symbol>& rows, int n_folds)
    : rows_(rows),
      n_folds_(n_folds),
      slots_(std::bit_ceil(2 * static_cast<size_t>(rows.size()) + 1), 0),
      sums_(static_cast<size_t>(rows.size()) * static_cast<size_t>(n_folds), 0) {
  for (int64_t row = 0; row < rows.size(); ++row) {
    const uint64_t hash = hash_symbols(rows[row]);
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = (hash & ~kRowMask) | static_cast<uint64_t>(row + 1);
  }
}

int64_t SideIndex::find(uint64_t hash, std::span<const Symbol> symbols) const {
  for (size_t at = hash & (slots_.size() - 1); slots_[at]; at = (at + 1) & (slots_.size() - 1)) {
    if ((slots_[at] & ~kRowMask) != (hash & ~kRowMask)) continue;
    const int64_t row = static_cast<int64_t>(slots_[at] & kRowMask) - 1;
    if (std::ranges::equal(rows_[row], symbols)) return row;
  }
  return kAbsent;
}

}  // namespace dragoman::grammar
