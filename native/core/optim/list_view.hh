// The two passes over a list in columns: scores from weights, and the gradient from the slopes of the scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/optim/list_columns.hh"

namespace dragoman::optim {

struct ListView {
  std::span<const double> gains;    // of each candidate
  std::span<const double> offsets;  // of each candidate: what fixed features contribute to its score
  std::span<const int32_t> ids, ends, rows;
  std::span<const float> values;
  double offset_scale = 1;  // multiplies the offsets
};

inline ListView view_of(const ListColumns& columns, std::span<const double> gains) {
  return {gains, columns.offsets, columns.ids, columns.ends, columns.rows, columns.values};
}

struct ListScratch {
  std::vector<double> scores, slopes;

  void start(const ListView& list) {
    scores.assign(list.gains.size(), 0.0);
    for (size_t c = 0; c < list.offsets.size(); ++c) scores[c] = list.offset_scale * list.offsets[c];
    slopes.resize(list.gains.size());
  }
};

// Adds weight(id) x value to the score of each candidate.
template <typename Weight>
void add_scores(const ListView& list, Weight&& weight, std::span<double> scores) {
  double* const score = scores.data();
  const int32_t* const row = list.rows.data();
  const float* const value = list.values.data();
  int32_t i = 0;
  for (size_t k = 0; k < list.ids.size(); ++k) {
    const double w = weight(list.ids[k]);
    for (const int32_t end = list.ends[k]; i < end; ++i) score[row[i]] += w * static_cast<double>(value[i]);
  }
}

// Calls body(id, derivative) for each feature: the sum over its candidates of slope x value.
template <typename Body>
void for_each_slope(const ListView& list, std::span<const double> slopes, Body&& body) {
  const double* const slope = slopes.data();
  const int32_t* const row = list.rows.data();
  const float* const value = list.values.data();
  int32_t i = 0;
  for (size_t k = 0; k < list.ids.size(); ++k) {
    double sum = 0;
    for (const int32_t end = list.ends[k]; i < end; ++i) sum += slope[row[i]] * static_cast<double>(value[i]);
    body(list.ids[k], sum);
  }
}

}  // namespace dragoman::optim
