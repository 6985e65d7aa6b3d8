// The quadratic program of one example in online margin learning, solved in its dual over a small working set.
//
//   minimise over w    1/2 |w - w_t|^2 + sum over budgets  limit * slack
//   subject to         sign * omega.w >= rhs - slack       for each constraint of a budget;  slack >= 0
//
// w stays w_t + sum_m shift_m omega_m, so everything is computed from the Gram matrix of the differences omega.
#pragma once

#include <cstddef>
#include <vector>

#include "core/pool/lists.hh"

namespace dragoman::optim {

class Dual {
 public:
  void clear();
  // A difference vector with its omega.w_t. Returns its number.
  size_t add(pool::SparseDifference omega, double projection);
  size_t size() const { return omegas_.size(); }
  const pool::SparseDifference& omega(size_t m) const { return omegas_[m]; }
  double shift(size_t m) const { return shifts_[m]; }
  bool moved() const;
  // omega.w now.
  double projection(size_t m) const { return projections_[m]; }
  double product(size_t m, size_t k) const { return m >= k ? gram_[m][k] : gram_[k][m]; }
  // w += amount * omega_m.
  void move(size_t m, double amount);

 private:
  std::vector<pool::SparseDifference> omegas_;
  std::vector<std::vector<double>> gram_;  // lower triangle
  std::vector<double> projections_, shifts_;
};

// Constraints that share one slack variable: their dual variables, and what is not spent, sum to the limit.
class Budget {
 public:
  void clear(double limit);
  // False when the constraint is there already.
  bool add(size_t member, double sign, double rhs);
  bool empty() const { return constraints_.empty(); }
  // How far the most violated constraint is from being satisfied; 0 when none is violated.
  double slack(const Dual& dual) const;
  // Sequential minimal optimisation: moves mass from the least to the most violated constraint until their violations
  // differ by no more than the tolerance. Returns the number of steps.
  int optimise(Dual& dual, int max_steps, double tolerance);
  // Without a budget: steps towards the most violated constraint, each no longer than the limit.
  int step(Dual& dual, int max_steps, double tolerance) const;

 private:
  struct Constraint {
    size_t member;
    double sign, rhs, mass;
  };
  double violation(const Dual& dual, const Constraint& c) const { return c.rhs - c.sign * dual.projection(c.member); }

  std::vector<Constraint> constraints_;
  double limit_ = 0, spare_ = 0;
};

}  // namespace dragoman::optim
