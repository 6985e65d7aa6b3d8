#include "core/optim/margin_dual.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dragoman::optim {

Direction::Direction(const pool::SparseDifference& difference, std::span<const double> rates) {
  for (size_t i = 0; i < difference.ids.size(); ++i) {
    const int32_t id = difference.ids[i];
    const double rate = rates.empty() ? 1 : rates[static_cast<size_t>(id)];
    if (rate == 0) continue;
    ids.push_back(id);
    omega.push_back(difference.values[i]);
    step.push_back(rate * difference.values[i]);
  }
}

double dot(const Direction& a, const Direction& b) {
  double sum = 0;
  for (size_t i = 0, j = 0; i < a.ids.size() && j < b.ids.size();) {
    if (a.ids[i] == b.ids[j])
      sum += a.omega[i++] * b.step[j++];
    else if (a.ids[i] < b.ids[j])
      ++i;
    else
      ++j;
  }
  return sum;
}

void Dual::clear() {
  directions_.clear();
  gram_.clear();
  projections_.clear();
  shifts_.clear();
}

size_t Dual::add(Direction direction, double projection) {
  std::vector<double> row;
  for (size_t m = 0; m < directions_.size(); ++m) {
    row.push_back(dot(direction, directions_[m]));
    projection += shifts_[m] * row[m];
  }
  row.push_back(dot(direction, direction));
  directions_.push_back(std::move(direction));
  gram_.push_back(std::move(row));
  projections_.push_back(projection);
  shifts_.push_back(0);
  return directions_.size() - 1;
}

void Dual::move(size_t m, double amount) {
  shifts_[m] += amount;
  for (size_t k = 0; k < projections_.size(); ++k) projections_[k] += amount * product(m, k);
}

bool Dual::moved() const {
  for (size_t m = 0; m < shifts_.size(); ++m)
    if (shifts_[m] != 0 && gram_[m][m] > 0) return true;
  return false;
}

void Budget::clear(double limit) {
  constraints_.clear();
  spare_ = limit;
}

bool Budget::add(size_t member, double sign, double rhs) {
  for (const Constraint& c : constraints_)
    if (c.member == member && c.sign == sign) return false;
  constraints_.push_back({member, sign, rhs, 0});
  return true;
}

double Budget::slack(const Dual& dual) const {
  double most = 0;
  for (const Constraint& c : constraints_) most = std::max(most, violation(dual, c));
  return most;
}

bool Budget::fired(const Dual& dual, double sign) const {
  return std::any_of(constraints_.begin(), constraints_.end(), [&](const Constraint& c) {
    return c.sign == sign && c.mass > 0 && dual.product(c.member, c.member) > 0;
  });
}

int Budget::optimise(Dual& dual, int max_steps, double tolerance) {
  for (int n = 0; n < max_steps; ++n) {
    // Mass that is not spent lies on a constraint that is always just satisfied: a null pointer here.
    Constraint *to = nullptr, *from = nullptr;
    double high = 0, low = spare_ > 0 ? 0 : std::numeric_limits<double>::infinity();
    for (Constraint& c : constraints_) {
      const double v = violation(dual, c);
      if (v > high) to = &c, high = v;
      if (c.mass > 0 && v < low) from = &c, low = v;
    }
    if (!(high - low > tolerance)) return n;
    double square = 0, scale = 0;
    for (const Constraint* c : {to, from})
      if (c != nullptr) scale += dual.product(c->member, c->member);
    square = scale;
    if (to != nullptr && from != nullptr) square -= 2 * to->sign * from->sign * dual.product(to->member, from->member);
    if (!std::isfinite(square)) return n;  // no step is short enough
    double& source = from != nullptr ? from->mass : spare_;
    // Differences that are equal but for rounding: no step changes the violations, so all mass goes over.
    const bool apart = square > 1e-14 * scale;
    const double amount = apart ? std::min(source, (high - low) / square) : source;
    source = amount == source ? 0 : source - amount;
    (to != nullptr ? to->mass : spare_) += amount;
    if (to != nullptr) dual.move(to->member, to->sign * amount);
    if (from != nullptr) dual.move(from->member, -from->sign * amount);
  }
  return max_steps;
}

}  // namespace dragoman::optim
