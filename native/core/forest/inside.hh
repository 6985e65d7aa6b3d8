// Dynamic programming over forests by semiring: inside and outside values, edge marginals, expectations, pruning.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/forest/forest.hh"

namespace dragoman::forest {

// Semirings over log values: the best derivation, or the sum of all.
struct MaxPlus {
  static constexpr double kZero = -std::numeric_limits<double>::infinity();
  static double plus(double a, double b) { return std::max(a, b); }
};
struct LogSum {
  static constexpr double kZero = -std::numeric_limits<double>::infinity();
  static double plus(double a, double b) {
    const double high = std::max(a, b), low = std::min(a, b);
    return low == kZero ? high : high + std::log1p(std::exp(low - high));
  }
};

// Inside value of every node, in logs; kZero if there is no derivation.
template <typename Semiring>
std::vector<double> inside(const Forest& forest, std::span<const double> edge_scores) {
  std::vector<double> values(static_cast<size_t>(forest.n_nodes()), Semiring::kZero);
  for (int32_t v = 0; v < forest.n_nodes(); ++v)
    for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e) {
      double value = edge_scores[static_cast<size_t>(e)];
      for (const int32_t tail : forest.tails(e)) value += values[static_cast<size_t>(tail)];
      values[static_cast<size_t>(v)] = Semiring::plus(values[static_cast<size_t>(v)], value);
    }
  return values;
}

// Outside value of every node. An edge that uses a node twice counts once per use.
template <typename Semiring>
std::vector<double> outside(const Forest& forest, std::span<const double> edge_scores, std::span<const double> inside) {
  std::vector<double> values(static_cast<size_t>(forest.n_nodes()), Semiring::kZero);
  if (values.empty()) return values;
  values.back() = 0;
  std::vector<double> after;
  for (int32_t v = forest.goal(); v >= 0; --v) {
    const double head = values[static_cast<size_t>(v)];
    if (head == Semiring::kZero) continue;
    for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e) {
      // Products of all tails but one, by prefix and suffix sums, because kZero - kZero is NaN.
      const auto tails = forest.tails(e);
      after.assign(tails.size() + 1, 0.0);
      for (size_t i = tails.size(); i-- > 0;) after[i] = after[i + 1] + inside[static_cast<size_t>(tails[i])];
      double before = head + edge_scores[static_cast<size_t>(e)];
      for (size_t i = 0; i < tails.size(); ++i) {
        double& value = values[static_cast<size_t>(tails[i])];
        value = Semiring::plus(value, before + after[i + 1]);
        before += inside[static_cast<size_t>(tails[i])];
      }
    }
  }
  return values;
}

// The marginal of every edge, relative to the goal: for MaxPlus the score of the best derivation through it minus the
// best of all; for LogSum the log posterior. kZero for edges in no derivation.
template <typename Semiring>
std::vector<double> edge_marginals(const Forest& forest, std::span<const double> edge_scores) {
  const auto in = inside<Semiring>(forest, edge_scores);
  const auto out = outside<Semiring>(forest, edge_scores, in);
  std::vector<double> result(edge_scores.size(), Semiring::kZero);
  if (in.empty() || in.back() == Semiring::kZero) return result;
  for (int32_t v = 0; v < forest.n_nodes(); ++v) {
    if (out[static_cast<size_t>(v)] == Semiring::kZero) continue;
    for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e) {
      double value = out[static_cast<size_t>(v)] + edge_scores[static_cast<size_t>(e)];
      for (const int32_t tail : forest.tails(e)) value += in[static_cast<size_t>(tail)];
      result[static_cast<size_t>(e)] = value - in.back();
    }
  }
  return result;
}

struct SparseVector {
  std::vector<int32_t> ids;  // ascending
  std::vector<double> values;
};

// Feature values expected under p(derivation) proportional to exp(score), and the log of the normaliser.
struct Expectation {
  double log_total;
  SparseVector features;
};
Expectation expected_features(const Forest& forest, std::span<const double> edge_scores);

}  // namespace dragoman::forest
