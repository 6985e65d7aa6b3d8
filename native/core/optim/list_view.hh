// The two passes over a list in columns: scores from weights, and the gradient from the slopes of the scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/optim/list_columns.hh"

namespace dragoman::optim {

// A column's entries are candidates and values. Stored lists have short forms of them where these say the same.
struct ListView {
  std::span<const double> gains;    // of each candidate
  std::span<const double> offsets;  // of each candidate: what fixed features contribute to its score
  std::span<const int32_t> ids, ends, rows;
  std::span<const float> values;
  std::span<const uint8_t> short_rows;   // in place of rows, if there are any
  std::span<const int8_t> short_values;  // in place of values, if there are any
  double offset_scale = 1;               // multiplies the offsets

  // Calls body(rows, values) with pointers to either form.
  template <typename Body>
  void with_entries(Body&& body) const {
    const auto with_rows = [&](const auto* values_in) {
      if (short_rows.empty())
        body(rows.data(), values_in);
      else
        body(short_rows.data(), values_in);
    };
    if (short_values.empty())
      with_rows(values.data());
    else
      with_rows(short_values.data());
  }
};

inline ListView view_of(const ListColumns& columns, std::span<const double> gains) {
  return {.gains = gains,
          .offsets = columns.offsets,
          .ids = columns.ids,
          .ends = columns.ends,
          .rows = columns.rows,
          .values = columns.values,
          .short_rows = {},
          .short_values = {}};
}

struct ListScratch {
  std::vector<double> scores, slopes;

  void start(const ListView& list) {
    scores.assign(list.gains.size(), 0.0);
    for (size_t c = 0; c < list.offsets.size(); ++c) scores[c] = list.offset_scale * list.offsets[c];
    slopes.resize(list.gains.size());
  }
};

// Lists one after another: list i has the scores from offsets[i] to offsets[i + 1].
struct ScoredLists {
  std::vector<double> scores, gains;
  std::vector<int64_t> offsets{0};

  void add(const ListView& list, std::span<const double> of_list) {
    scores.insert(scores.end(), of_list.begin(), of_list.end());
    gains.insert(gains.end(), list.gains.begin(), list.gains.end());
    offsets.push_back(static_cast<int64_t>(scores.size()));
  }
};

// Adds weight(id) x value to the score of each candidate.
template <typename Weight>
void add_scores(const ListView& list, Weight&& weight, std::span<double> scores) {
  double* const score = scores.data();
  list.with_entries([&](const auto* row, const auto* value) {
    int32_t i = 0;
    for (size_t k = 0; k < list.ids.size(); ++k) {
      const double w = weight(list.ids[k]);
      for (const int32_t end = list.ends[k]; i < end; ++i) score[row[i]] += w * static_cast<double>(value[i]);
    }
  });
}

// Calls body(id, derivative) for each feature: the sum over its candidates of slope x value.
template <typename Body>
void for_each_slope(const ListView& list, std::span<const double> slopes, Body&& body) {
  const double* const slope = slopes.data();
  list.with_entries([&](const auto* row, const auto* value) {
    int32_t i = 0;
    for (size_t k = 0; k < list.ids.size(); ++k) {
      double sum = 0;
      for (const int32_t end = list.ends[k]; i < end; ++i) sum += slope[row[i]] * static_cast<double>(value[i]);
      body(list.ids[k], sum);
    }
  });
}

}  // namespace dragoman::optim
