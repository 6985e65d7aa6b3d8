// Clipped n-gram matches between all pairs of a list's texts.
//
// The k-th occurrence of an n-gram in a text is one item, so that the clipped matches of two texts are the items they
// share. Items that occur in the same texts are one class: a pair that shares the class shares all of its items, of
// all orders. Neighbouring n-grams of similar texts mostly do occur in the same texts, so there are few classes, and a
// class adds its counts of up to eight orders to a pair at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::metric {

class PairMatches {
 public:
  static constexpr int kMostOrders = 8;
  using Counts = std::array<uint32_t, kMostOrders>;

  // Forgets everything; keeps the memory.
  void reset(size_t n_texts);
  // Adds the n-grams of order 1..order of one unit (words, characters); they become the orders from `first_order` on
  // (0-based). One text per call of reset's number.
  void add(std::span<const std::vector<int32_t>> texts, int order, int first_order);

  // Calls visit(a, b, matches) for all a < b; `matches` holds a number per order. The order of calls is fixed.
  template <typename Visit>
  void for_each_pair(Visit&& visit) {
    group();
    if (longest_ < 65536) {
      visit_pairs<uint16_t>(visit);
    } else {
      visit_pairs<uint32_t>(visit);
    }
  }

 private:
  // (parent, symbol) -> item in an open-addressing table that grows.
  struct Slot {
    uint64_t key = 0;
    int32_t item = -1;
  };
  struct Class {
    int64_t begin = 0;  // of its texts after the current one, in members_
    int64_t end = 0;
    Counts counts{};
  };

  template <typename Count, typename Visit>
  void visit_pairs(Visit&& visit) {
    struct Cell {
      std::array<Count, kMostOrders> counts;
    };
    std::vector<Cell> classes(classes_.size());
    for (size_t c = 0; c < classes_.size(); ++c)
      for (size_t n = 0; n < kMostOrders; ++n) classes[c].counts[n] = static_cast<Count>(classes_[c].counts[n]);
    std::vector<Cell> row(n_texts_);
    for (size_t a = 0; a < n_texts_; ++a) {
      for (size_t b = a + 1; b < n_texts_; ++b) row[b] = Cell{};
      for (int64_t i = class_rows_[a]; i < class_rows_[a + 1]; ++i) {
        const auto c = static_cast<size_t>(class_ids_[static_cast<size_t>(i)]);
        const Cell added = classes[c];
        const int64_t begin = ++classes_[c].begin, end = classes_[c].end;  // the first of its texts was this one
        for (int64_t m = begin; m < end; ++m) {
          Cell& cell = row[static_cast<size_t>(members_[static_cast<size_t>(m)])];
          for (size_t n = 0; n < kMostOrders; ++n)
            cell.counts[n] = static_cast<Count>(cell.counts[n] + added.counts[n]);
        }
      }
      for (size_t b = a + 1; b < n_texts_; ++b) visit(a, b, row[b].counts);
    }
  }

  int32_t item_of(int32_t parent, int32_t symbol, int order);
  void grow();
  void see(int32_t item, int32_t text);
  void group();

  size_t n_texts_ = 0;
  size_t longest_ = 0;
  std::vector<Slot> slots_;
  size_t n_taken_ = 0;
  // Of each item.
  std::vector<int8_t> orders_;
  std::vector<int32_t> seen_in_, times_, class_of_;
  std::vector<std::vector<int32_t>> items_;  // of each text
  // Of each class while texts are added: the class of those of its items that the current text has, too.
  std::vector<int32_t> split_at_, split_into_;
  // What group() makes: classes of at least two texts.
  std::vector<Class> classes_;
  std::vector<int32_t> members_;
  std::vector<int64_t> class_rows_;  // of each text
  std::vector<int32_t> class_ids_;
};

}  // namespace dragoman::metric
