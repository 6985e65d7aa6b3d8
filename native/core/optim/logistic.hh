// Logistic regression on sparse rows that are all positive instances, by limited-memory BFGS.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/control.hh"

namespace dragoman::optim {

// A smooth convex function: fills the gradient, returns the value.
using Objective = std::function<double(std::span<const double> point, std::span<double> gradient)>;

struct LbfgsSettings {
  int max_iterations = 1000;
  int n_corrections = 10;
  double tolerance = 1e-7;  // of the gradient's length, relative to the first one's
  double convexity = 0;     // the function curves at least so much everywhere
};

struct LbfgsResult {
  std::vector<double> point;
  double value = 0;
  int n_iterations = 0;
  bool converged = false;
};

LbfgsResult minimise(const Objective& objective, std::span<const double> start, const LbfgsSettings& settings);

struct LogisticProblem {
  std::span<const int64_t> rows;
  std::span<const int32_t> ids;  // below n_features
  std::span<const double> values;
  std::span<const double> offsets;  // of each row: a part of the margin that is not learned
  int64_t n_features;
  double row_weight;
  double l2;
};

// Minimises l2 / 2 |v|^2 + row_weight sum_i log(1 + exp(-(v.x_i + offset_i))).
LbfgsResult fit_logistic(const LogisticProblem& problem, const LbfgsSettings& settings, int n_threads,
                         Control& control);

}  // namespace dragoman::optim
