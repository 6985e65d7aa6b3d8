// Kernels over the candidates of many sentences: rows of sparse features, grouped by sentence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/at.hh"
#include "core/base/control.hh"
#include "core/base/errors.hh"
#include "core/base/ragged.hh"

namespace dragoman::pool {

// Sentence s has the candidates sentences[s] .. sentences[s + 1]; candidate c has the features
// ids/values[rows[c] .. rows[c + 1]). The arrays may be mapped from a file, so each kernel checks them as it reads.
struct Candidates {
  std::span<const int64_t> sentences;
  std::span<const int64_t> rows;
  std::span<const int32_t> ids;
  std::span<const float> values;

  int64_t n_sentences() const { return static_cast<int64_t>(sentences.size()) - 1; }
  int64_t size() const { return static_cast<int64_t>(rows.size()) - 1; }
  // Throws std::invalid_argument unless the offsets are non-decreasing and match the arrays.
  void check() const;
};

// w.f of row c, summed in row order in float64. Throws InputError for an id >= weights.size().
inline double dot(const Candidates& candidates, int64_t c, std::span<const double> weights) {
  double sum = 0;
  const auto end = static_cast<size_t>(candidates.rows[static_cast<size_t>(c) + 1]);
  for (auto i = static_cast<size_t>(candidates.rows[static_cast<size_t>(c)]); i < end; ++i) {
    const auto id = static_cast<uint32_t>(candidates.ids[i]);
    if (id >= weights.size()) [[unlikely]]
      throw InputError("a candidate has a feature id beyond the index; the pool's files do not belong together");
    sum += weights[id] * static_cast<double>(candidates.values[i]);
  }
  return sum;
}

std::vector<double> model_scores(const Candidates& candidates, std::span<const double> weights, int n_threads,
                                 Control& control);

// The candidate of each sentence with the highest w.f, the first on ties; -1 for a sentence without candidates.
std::vector<int64_t> best_candidates(const Candidates& candidates, std::span<const double> weights, int n_threads,
                                     Control& control);

// Deduplicates: the first of all candidates of a sentence with equal tokens, features and `extra` columns (row-major,
// `n_extra` per candidate; compared bitwise). Ascending.
std::vector<int64_t> distinct_candidates(const Candidates& candidates, const Sentences& tokens,
                                         std::span<const double> extra, int64_t n_extra, int n_threads,
                                         Control& control);

// Rows of `parts`, counted through all of them, in another order: row order[i] becomes row i.
template <typename T>
std::vector<T> gather_rows(std::span<const Ragged<T>> parts, std::span<const int64_t> order) {
  std::vector<int64_t> first{0};
  for (const Ragged<T>& part : parts) first.push_back(first.back() + part.size());
  const auto row_of = [&](int64_t row) {
    const auto part = std::upper_bound(first.begin(), first.end(), row) - first.begin() - 1;
    return parts[at(part)][row - first[at(part)]];
  };
  std::vector<T> result;
  size_t total = 0;
  for (const int64_t row : order) {
    if (row < 0 || row >= first.back()) throw std::invalid_argument("order: no such row");
    total += row_of(row).size();
  }
  result.reserve(total);
  for (const int64_t row : order) {
    const auto values = row_of(row);
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

struct SparseRows {
  std::vector<int64_t> rows{0};
  std::vector<int32_t> ids;
  std::vector<float> values;

  // Zeros are left out.
  void add(int32_t id, float value) {
    if (value == 0) return;
    ids.push_back(id);
    values.push_back(value);
  }
  void end_row() { rows.push_back(static_cast<int64_t>(ids.size())); }
};

// A projection: drops the column of feature f if drop[f] is not 0, and adds coefficient * value to each of its targets.
struct Projection {
  std::span<const uint8_t> drop;
  Ragged<int32_t> targets;
  std::span<const double> coefficients;  // parallel to targets.values
};

SparseRows project(const Candidates& candidates, const Projection& projection, Control& control);

}  // namespace dragoman::pool
