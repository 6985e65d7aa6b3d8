#include "core/optim/logistic.hh"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/base/ragged.hh"

namespace dragoman::optim {

namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Correction {
  std::vector<double> step, change;  // of the point, of the gradient
  double curvature;                  // their product
};

// The two-loop recursion: approximates -H g.
std::vector<double> descent(std::span<const double> gradient, const std::deque<Correction>& corrections) {
  std::vector<double> direction(gradient.begin(), gradient.end());
  std::vector<double> shares(corrections.size());
  for (size_t i = corrections.size(); i-- > 0;) {
    const auto& c = corrections[i];
    shares[i] = dot(c.step, direction) / c.curvature;
    for (size_t k = 0; k < direction.size(); ++k) direction[k] -= shares[i] * c.change[k];
  }
  if (!corrections.empty()) {
    const auto& last = corrections.back();
    const double scale = last.curvature / dot(last.change, last.change);
    for (double& x : direction) x *= scale;
  }
  for (size_t i = 0; i < corrections.size(); ++i) {
    const auto& c = corrections[i];
    const double share = shares[i] - dot(c.change, direction) / c.curvature;
    for (size_t k = 0; k < direction.size(); ++k) direction[k] += share * c.step[k];
  }
  for (double& x : direction) x = -x;
  return direction;
}

}  // namespace

LbfgsResult minimise(const Objective& objective, std::span<const double> start, const LbfgsSettings& settings) {
  constexpr double kDecrease = 1e-4, kCurvature = 0.9;  // the constants of the Wolfe conditions
  constexpr int kMaxHalvings = 60;
  constexpr double kRounding = 1e-12;  // of values, relative
  LbfgsResult result{{start.begin(), start.end()}, 0, 0, false};
  const size_t n = start.size();
  std::vector<double> gradient(n), next(n), next_gradient(n);
  result.value = objective(result.point, gradient);
  const double small = settings.tolerance * std::max(1e-12, std::sqrt(dot(gradient, gradient)));
  std::deque<Correction> corrections;
  while (true) {
    const double length = std::sqrt(dot(gradient, gradient));
    if (length <= small || !std::isfinite(length)) {
      result.converged = length <= small;
      return result;
    }
    if (result.n_iterations == settings.max_iterations) return result;
    ++result.n_iterations;
    const auto direction = descent(gradient, corrections);
    const double slope = dot(direction, gradient);
    // Bisection for a step with enough decrease and enough curvature (weak Wolfe conditions).
    double low = 0, high = 0, value = 0, step = corrections.empty() ? std::min(1.0, 1 / length) : 1.0;
    bool found = false;
    for (int i = 0; i < kMaxHalvings && !found; ++i) {
      for (size_t k = 0; k < n; ++k) next[k] = result.point[k] + step * direction[k];
      value = objective(next, next_gradient);
      if (!(value <= result.value + kDecrease * step * slope)) {
        high = step;
      } else if (dot(direction, next_gradient) < kCurvature * slope) {
        low = step;
      } else {
        found = true;
        break;
      }
      step = high > 0 ? (low + high) / 2 : 2 * low;
    }
    // No progress is possible in float64: this is the minimum as well as it can be known. A start next to it has a
    // gradient so short that none is short beside it; then what counts is how far down the minimum can be at most.
    if (!found) {
      const bool is_bottom = length * length <= 2 * settings.convexity * kRounding * std::abs(result.value);
      result.converged = length <= 1e4 * small || is_bottom;
      return result;
    }
    Correction correction{std::vector<double>(n), std::vector<double>(n), 0};
    for (size_t k = 0; k < n; ++k) {
      correction.step[k] = next[k] - result.point[k];
      correction.change[k] = next_gradient[k] - gradient[k];
    }
    correction.curvature = dot(correction.step, correction.change);
    result.point.swap(next);
    gradient.swap(next_gradient);
    result.value = value;
    if (correction.curvature <= 0) continue;
    corrections.push_back(std::move(correction));
    if (corrections.size() > static_cast<size_t>(settings.n_corrections)) corrections.pop_front();
  }
}

LbfgsResult fit_logistic(const LogisticProblem& problem, const LbfgsSettings& settings, int n_threads,
                         Control& control) {
  Ragged<int32_t>{problem.rows, problem.ids}.check("rows");
  const auto n_rows = static_cast<int64_t>(problem.rows.size()) - 1;
  const auto n_features = static_cast<size_t>(problem.n_features);
  if (problem.ids.size() != problem.values.size() || problem.offsets.size() != static_cast<size_t>(n_rows))
    throw std::invalid_argument("values and offsets must fit the rows");
  // The same entries by column, so that every element of the gradient is summed by one thread in the order of rows.
  std::vector<int64_t> columns(n_features + 1, 0);
  for (const int32_t id : problem.ids) {
    if (id < 0 || static_cast<size_t>(id) >= n_features) throw std::invalid_argument("no such feature");
    ++columns[static_cast<size_t>(id) + 1];
  }
  for (size_t f = 0; f < n_features; ++f) columns[f + 1] += columns[f];
  std::vector<int64_t> fill(columns.begin(), columns.end() - 1);
  std::vector<int32_t> column_rows(problem.ids.size());
  std::vector<double> column_values(problem.ids.size());
  for (int64_t r = 0; r < n_rows; ++r)
    for (auto i = static_cast<size_t>(problem.rows[static_cast<size_t>(r)]);
         i < static_cast<size_t>(problem.rows[static_cast<size_t>(r) + 1]); ++i) {
      const auto at = static_cast<size_t>(fill[static_cast<size_t>(problem.ids[i])]++);
      column_rows[at] = static_cast<int32_t>(r);
      column_values[at] = problem.values[i];
    }
  constexpr int64_t kRowsPerBlock = 4096, kFeaturesPerBlock = 1024;
  std::vector<double> slopes(static_cast<size_t>(n_rows));
  std::vector<double> losses(static_cast<size_t>((n_rows + kRowsPerBlock - 1) / kRowsPerBlock));
  const Objective objective = [&](std::span<const double> point, std::span<double> gradient) {
    parallel_chunks(n_rows, kRowsPerBlock, n_threads, control, [&](int64_t begin, int64_t end, int) {
      double loss = 0;
      for (int64_t r = begin; r < end; ++r) {
        double margin = problem.offsets[static_cast<size_t>(r)];
        for (auto i = static_cast<size_t>(problem.rows[static_cast<size_t>(r)]);
             i < static_cast<size_t>(problem.rows[static_cast<size_t>(r) + 1]); ++i)
          margin += point[static_cast<size_t>(problem.ids[i])] * problem.values[i];
        const double e = std::exp(-std::abs(margin));
        loss += std::log1p(e) + std::max(0.0, -margin);
        slopes[static_cast<size_t>(r)] = -(margin > 0 ? e : 1) / (1 + e);
      }
      losses[static_cast<size_t>(begin / kRowsPerBlock)] = loss;
    });
    parallel_chunks(problem.n_features, kFeaturesPerBlock, n_threads, control, [&](int64_t begin, int64_t end, int) {
      for (auto f = static_cast<size_t>(begin); f < static_cast<size_t>(end); ++f) {
        double sum = 0;
        for (auto i = static_cast<size_t>(columns[f]); i < static_cast<size_t>(columns[f + 1]); ++i)
          sum += slopes[static_cast<size_t>(column_rows[i])] * column_values[i];
        gradient[f] = problem.l2 * point[f] + problem.row_weight * sum;
      }
    });
    double loss = 0;
    for (const double one : losses) loss += one;
    return problem.l2 / 2 * dot(point, point) + problem.row_weight * loss;
  };
  LbfgsSettings resolved = settings;
  resolved.convexity = problem.l2;
  return minimise(objective, std::vector<double>(n_features, 0.0), resolved);
}

}  // namespace dragoman::optim
