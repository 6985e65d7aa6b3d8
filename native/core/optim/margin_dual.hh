// The quadratic program of one example in online margin learning, solved in its dual over a small working set.
//
//   minimise over w    1/2 (w - w_t)' R^-1 (w - w_t) + sum over budgets  limit * slack
//   subject to         sign * omega.w >= rhs - slack       for each constraint of a budget;  slack >= 0
//
// R is diagonal: the rate of each weight. w stays w_t + sum_m shift_m R omega_m, so everything is computed from the
// Gram matrix omega' R omega of the differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/pool/lists.hh"

namespace dragoman::optim {

// A difference of two candidates without features that cannot move, and the direction of its steps.
struct Direction {
  std::vector<int32_t> ids;         // ascending
  std::vector<double> omega, step;  // step is R omega

  // `rates` are all 1 if empty.
  Direction(const pool::SparseDifference& difference, std::span<const double> rates);
};

// a' R b.
double dot(const Direction& a, const Direction& b);

class Dual {
 public:
  void clear();
  // A direction with its omega.w_t. Returns its number.
  size_t add(Direction direction, double projection);
  size_t size() const { return directions_.size(); }
  const Direction& direction(size_t m) const { return directions_[m]; }
  double shift(size_t m) const { return shifts_[m]; }
  // Whether w is another one than w_t.
  bool moved() const;
  // omega.w now.
  double projection(size_t m) const { return projections_[m]; }
  double product(size_t m, size_t k) const { return m >= k ? gram_[m][k] : gram_[k][m]; }
  // w += amount * R omega_m.
  void move(size_t m, double amount);

 private:
  std::vector<Direction> directions_;
  std::vector<std::vector<double>> gram_;  // lower triangle
  std::vector<double> projections_, shifts_;
};

// Constraints that share one slack variable: their dual variables, and what is not spent, sum to the limit.
class Budget {
 public:
  void clear(double limit);
  // False when the constraint is there already.
  bool add(size_t member, double sign, double rhs);
  // How far the most violated constraint is from being satisfied; 0 when none is violated.
  double slack(const Dual& dual) const;
  // Whether a constraint of this sign moves w.
  bool fired(const Dual& dual, double sign) const;
  // Sequential minimal optimisation: moves mass from the least to the most violated constraint until their violations
  // differ by no more than the tolerance. Returns the number of steps.
  int optimise(Dual& dual, int max_steps, double tolerance);

  struct Constraint {
    size_t member;
    double sign, rhs, mass;
  };
  const std::vector<Constraint>& constraints() const { return constraints_; }
  static double violation(const Dual& dual, const Constraint& c) { return c.rhs - c.sign * dual.projection(c.member); }
  // The greatest multiple of `changes`, one of each constraint, that leaves no mass negative.
  double room(std::span<const double> changes) const;
  // Changes the masses only; what they do to w is the caller's.
  void add_masses(std::span<const double> changes, double factor);

 private:
  std::vector<Constraint> constraints_;
  double limit_ = 0, spare_ = 0;
};

struct Solved {
  Budget* budget;
  double tolerance;
};

// Optimises budgets in turn until none of them moves. Those that pull in opposite directions would take many small
// steps: after each sweep but the first, w goes on along the way of the sweep as far as that is better.
void solve(Dual& dual, std::span<const Solved> budgets, int max_iterations);

}  // namespace dragoman::optim
