// Finds the sides of a grammar by their symbols while it is built, and adds up amounts per fold for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "core/base/pages.hh"
#include "core/base/ragged.hh"
#include "core/grammar/key.hh"

namespace dragoman::grammar {

class SideIndex {
 public:
  static constexpr int64_t kAbsent = -1;

  // The rows must outlive the index and be distinct.
  SideIndex(const Ragged<Symbol>& rows, int n_folds);

  // The row with these symbols, whose hash_symbols() is known already.
  int64_t find(uint64_t hash, std::span<const Symbol> symbols) const;
  // Any thread may add; sums of integers do not depend on their order.
  void add(int64_t row, uint8_t fold, uint64_t amount) {
    std::atomic_ref(sums_[cell(row, fold)]).fetch_add(amount, std::memory_order_relaxed);
  }
  uint64_t sum(int64_t row, int fold) const { return sums_[cell(row, fold)]; }
  int n_folds() const { return n_folds_; }

 private:
  size_t cell(int64_t row, int fold) const {
    return static_cast<size_t>(row) * static_cast<size_t>(n_folds_) + static_cast<size_t>(fold);
  }

  Ragged<Symbol> rows_;
  int n_folds_;
  Pages<uint64_t> slots_;  // open addressing, at most half full: a part of the hash, then row + 1; 0 is free
  Pages<uint64_t> sums_;
};

}  // namespace dragoman::grammar
