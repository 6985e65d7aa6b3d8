#include "core/optim/list_columns.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace dragoman::optim {

namespace {

size_t slot_of(int32_t id, size_t n_slots) {
  const auto hash = static_cast<uint32_t>(id) * 0x9e3779b1u;
  return hash >> (32 - std::countr_zero(n_slots));
}

}  // namespace

inline int32_t ListColumns::column_of(int32_t id) {
  const Slot& first = slots_[slot_of(id, slots_.size())];
  return first.stamp == stamp_ && first.id == id ? first.column : find_column(id);
}

int32_t ListColumns::find_column(int32_t id) {
  for (size_t i = slot_of(id, slots_.size());; i = (i + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[i];
    if (slot.stamp != stamp_) {
      if (2 * found_.size() >= slots_.size()) {
        grow();
        return find_column(id);
      }
      slot = {id, static_cast<int32_t>(found_.size()), stamp_};
      found_.push_back(id);
      begins_.push_back(0);
      return slot.column;
    }
    if (slot.id == id) return slot.column;
  }
}

void ListColumns::grow() {
  std::vector<Slot> larger(2 * slots_.size());
  for (const Slot& slot : slots_) {
    if (slot.stamp != stamp_) continue;
    size_t i = slot_of(slot.id, larger.size());
    while (larger[i].stamp == stamp_) i = (i + 1) & (larger.size() - 1);
    larger[i] = slot;
  }
  slots_ = std::move(larger);
}

void ListColumns::build(const pool::Candidates& candidates, int64_t sentence, int64_t n_features,
                        const FixedFeatures& fixed) {
  const auto s = static_cast<size_t>(sentence);
  const auto first = static_cast<size_t>(candidates.sentences[s]),
             last = static_cast<size_t>(candidates.sentences[s + 1]);
  const auto entry_begin = static_cast<size_t>(candidates.rows[first]);
  const auto entry_end = static_cast<size_t>(candidates.rows[last]);
  if (entry_end - entry_begin > std::numeric_limits<int32_t>::max() / 2)
    throw InputError("the candidates of one sentence have more than a billion features; make shorter lists");
  if (++stamp_ == 0) {
    slots_.assign(slots_.size(), {});
    stamp_ = 1;
  }
  for (auto* column : {&ids, &ends, &rows, &constants, &found_, &begins_}) column->clear();
  values.clear();
  offsets.assign(last - first, 0.0);
  column_at_.resize(entry_end - entry_begin);

  for (size_t c = first; c < last; ++c) {
    for (auto i = static_cast<size_t>(candidates.rows[c]); i < static_cast<size_t>(candidates.rows[c + 1]); ++i) {
      const int32_t id = candidates.ids[i];
      if (id < 0 || id >= n_features) [[unlikely]]
        throw InputError("a candidate has a feature id beyond the index; the pool's files do not belong together");
      if (!std::isfinite(candidates.values[i])) [[unlikely]]
        throw InputError("a candidate has a feature whose value is not finite");
      int32_t& column = column_at_[i - entry_begin];
      if (!fixed.mask.empty() && fixed.mask[static_cast<size_t>(id)]) {
        offsets[c - first] += fixed.weights[static_cast<size_t>(id)] * static_cast<double>(candidates.values[i]);
        column = -1;
        continue;
      }
      column = column_of(id);
      ++begins_[static_cast<size_t>(column)];
    }
  }

  int32_t n_entries = 0;
  for (int32_t& count : begins_) n_entries += std::exchange(count, n_entries);
  all_rows_.resize(static_cast<size_t>(n_entries));
  all_values_.resize(static_cast<size_t>(n_entries));
  for (size_t c = first; c < last; ++c) {
    for (auto i = static_cast<size_t>(candidates.rows[c]); i < static_cast<size_t>(candidates.rows[c + 1]); ++i) {
      const int32_t column = column_at_[i - entry_begin];
      if (column < 0) continue;
      const auto at = static_cast<size_t>(begins_[static_cast<size_t>(column)]++);
      all_rows_[at] = static_cast<int32_t>(c - first);
      all_values_[at] = candidates.values[i];
    }
  }
  // Now begins_[k] is the end of column k.
  size_t begin = 0;
  for (size_t k = 0; k < found_.size(); ++k) {
    const auto end = static_cast<size_t>(begins_[k]);
    add_column(found_[k], std::span(all_rows_).subspan(begin, end - begin),
               std::span(all_values_).subspan(begin, end - begin), static_cast<int32_t>(last - first));
    begin = end;
  }
}

void ListColumns::add_column(int32_t id, std::span<const int32_t> rows_in, std::span<const float> values_in,
                             int32_t n) {
  const auto size = static_cast<int32_t>(values_in.size());
  if (size == n && std::all_of(values_in.begin(), values_in.end(), [&](float v) { return v == values_in[0]; })) {
    constants.push_back(id);
    return;
  }
  float common = 0;
  if (2 * int64_t{size} > n) {
    // A value that more than half of the candidates have survives the vote; then it is counted.
    int32_t votes = 0;
    for (const float value : values_in) {
      if (votes == 0) common = value;
      votes += value == common ? 1 : -1;
    }
    int32_t n_common = 0;
    bool fits = true;  // differences of extreme values may not
    for (const float value : values_in) {
      n_common += value == common;
      fits &= std::isfinite(value - common);
    }
    if (2 * int64_t{n_common} <= n || !fits) common = 0;
  }
  if (common == 0) {
    rows.insert(rows.end(), rows_in.begin(), rows_in.end());
    values.insert(values.end(), values_in.begin(), values_in.end());
  } else {
    int32_t next = 0;
    const auto absent_before = [&](int32_t row) {
      for (; next < row; ++next) {
        rows.push_back(next);
        values.push_back(-common);
      }
    };
    for (size_t i = 0; i < values_in.size(); ++i) {
      absent_before(rows_in[i]);
      next = rows_in[i] + 1;
      if (values_in[i] == common) continue;
      rows.push_back(rows_in[i]);
      values.push_back(values_in[i] - common);
    }
    absent_before(n);
  }
  ids.push_back(id);
  ends.push_back(static_cast<int32_t>(rows.size()));
}

}  // namespace dragoman::optim
