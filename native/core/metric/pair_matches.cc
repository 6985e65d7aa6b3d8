#include "core/metric/pair_matches.hh"

#include <algorithm>
#include <stdexcept>

namespace dragoman::metric {

namespace {

constexpr size_t kFewestSlots = 1 << 10, kMostKept = 1 << 16;

uint64_t key_of(int32_t parent, int32_t symbol) {
  return static_cast<uint64_t>(static_cast<uint32_t>(parent)) << 32 | static_cast<uint32_t>(symbol);
}

size_t first_slot(uint64_t key, size_t mask) { return static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> 20) & mask; }

}  // namespace

void PairMatches::reset(size_t n_texts) {
  n_texts_ = n_texts;
  longest_ = 0;
  slots_.assign(std::clamp(slots_.size(), kFewestSlots, kMostKept), Slot{});  // the next list is about as large
  n_taken_ = 0;
  orders_.clear();
  seen_in_.clear();
  times_.clear();
  class_of_.clear();
  items_.resize(std::max(items_.size(), n_texts));
  for (auto& items : items_) items.clear();
  split_at_.assign(1, -1);  // class 0: items that no text had yet
  split_into_.assign(1, 0);
}

void PairMatches::add(std::span<const std::vector<int32_t>> texts, int order, int first_order) {
  if (texts.size() != n_texts_) throw std::invalid_argument("one text for each of the list expected");
  if (order < 1 || first_order < 0 || first_order + order > kMostOrders)
    throw std::invalid_argument("at most eight orders expected");
  const int32_t root = item_of(-1 - first_order, 0, -1);
  // Items of units added one after the other are never of one class: all start in class 0, which no text has split now.
  std::fill(split_at_.begin(), split_at_.end(), -1);
  for (size_t t = 0; t < texts.size(); ++t) {
    const auto& text = texts[t];
    longest_ = std::max(longest_, text.size());
    for (size_t begin = 0; begin < text.size(); ++begin) {
      const size_t end = std::min(text.size(), begin + static_cast<size_t>(order));
      int32_t item = root;
      for (size_t i = begin; i < end; ++i) {
        const int level = first_order + static_cast<int>(i - begin);
        item = item_of(item, text[i], level);
        const auto at = static_cast<size_t>(item);
        if (seen_in_[at] != static_cast<int32_t>(t)) {
          seen_in_[at] = static_cast<int32_t>(t);
          times_[at] = 1;
          see(item, static_cast<int32_t>(t));
        } else {
          const int32_t times = ++times_[at];
          see(item_of(item, -times, level), static_cast<int32_t>(t));
        }
      }
    }
  }
}

// A negative symbol is a number of occurrences.
int32_t PairMatches::item_of(int32_t parent, int32_t symbol, int order) {
  if (2 * (n_taken_ + 1) > slots_.size()) grow();
  const uint64_t key = key_of(parent, symbol);
  const size_t mask = slots_.size() - 1;
  size_t slot = first_slot(key, mask);
  while (slots_[slot].item >= 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
  if (slots_[slot].item < 0) {
    slots_[slot] = {key, static_cast<int32_t>(orders_.size())};
    ++n_taken_;
    orders_.push_back(static_cast<int8_t>(order));
    seen_in_.push_back(-1);
    times_.push_back(0);
    class_of_.push_back(0);
  }
  return slots_[slot].item;
}

void PairMatches::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& taken : old) {
    if (taken.item < 0) continue;
    size_t slot = first_slot(taken.key, mask);
    while (slots_[slot].item >= 0) slot = (slot + 1) & mask;
    slots_[slot] = taken;
  }
}

// Partition refinement: after the last text, items are of one class if and only if the same texts have them.
void PairMatches::see(int32_t item, int32_t text) {
  items_[static_cast<size_t>(text)].push_back(item);
  const auto old = static_cast<size_t>(class_of_[static_cast<size_t>(item)]);
  if (split_at_[old] != text) {
    split_at_[old] = text;
    split_into_[old] = static_cast<int32_t>(split_at_.size());
    split_at_.push_back(-1);
    split_into_.push_back(0);
  }
  class_of_[static_cast<size_t>(item)] = split_into_[old];
}

void PairMatches::group() {
  const size_t n_old = split_at_.size();
  // How many texts have each class: every text counts a class once.
  std::vector<int32_t> n_members(n_old, 0), counted_at(n_old, -1);
  for (size_t t = 0; t < n_texts_; ++t)
    for (const int32_t item : items_[t]) {
      const auto c = static_cast<size_t>(class_of_[static_cast<size_t>(item)]);
      if (counted_at[c] == static_cast<int32_t>(t)) continue;
      counted_at[c] = static_cast<int32_t>(t);
      ++n_members[c];
    }
  std::vector<int32_t> number(n_old, -1);
  classes_.clear();
  int64_t n_all = 0;
  for (size_t c = 0; c < n_old; ++c) {
    if (n_members[c] < 2) continue;
    number[c] = static_cast<int32_t>(classes_.size());
    Class found;
    found.begin = found.end = n_all;
    classes_.push_back(found);
    n_all += n_members[c];
  }
  for (size_t item = 0; item < orders_.size(); ++item) {
    const int32_t c = number[static_cast<size_t>(class_of_[item])];
    if (c >= 0 && orders_[item] >= 0) ++classes_[static_cast<size_t>(c)].counts[static_cast<size_t>(orders_[item])];
  }
  members_.resize(static_cast<size_t>(n_all));
  class_rows_.assign(1, 0);
  class_ids_.clear();
  std::fill(counted_at.begin(), counted_at.end(), -1);
  for (size_t t = 0; t < n_texts_; ++t) {
    for (const int32_t item : items_[t]) {
      const auto old = static_cast<size_t>(class_of_[static_cast<size_t>(item)]);
      if (number[old] < 0 || counted_at[old] == static_cast<int32_t>(t)) continue;
      counted_at[old] = static_cast<int32_t>(t);
      Class& found = classes_[static_cast<size_t>(number[old])];
      members_[static_cast<size_t>(found.end++)] = static_cast<int32_t>(t);
      class_ids_.push_back(number[old]);
    }
    class_rows_.push_back(static_cast<int64_t>(class_ids_.size()));
  }
}

}  // namespace dragoman::metric
