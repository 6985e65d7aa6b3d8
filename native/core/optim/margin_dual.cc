#include "core/optim/margin_dual.hh"

#include <algorithm>
#include <limits>
#include <utility>

namespace dragoman::optim {

void Dual::clear() {
  omegas_.clear();
  gram_.clear();
  projections_.clear();
  shifts_.clear();
}

size_t Dual::add(pool::SparseDifference omega, double projection) {
  std::vector<double> row;
  for (size_t m = 0; m < omegas_.size(); ++m) {
    row.push_back(pool::dot(omega, omegas_[m]));
    projection += shifts_[m] * row[m];
  }
  row.push_back(pool::dot(omega, omega));
  omegas_.push_back(std::move(omega));
  gram_.push_back(std::move(row));
  projections_.push_back(projection);
  shifts_.push_back(0);
  return omegas_.size() - 1;
}

void Dual::move(size_t m, double amount) {
  shifts_[m] += amount;
  for (size_t k = 0; k < projections_.size(); ++k) projections_[k] += amount * product(m, k);
}

bool Dual::moved() const {
  return std::any_of(shifts_.begin(), shifts_.end(), [](double shift) { return shift != 0; });
}

void Budget::clear(double limit) {
  constraints_.clear();
  limit_ = spare_ = limit;
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

int Budget::step(Dual& dual, int max_steps, double tolerance) const {
  for (int n = 0; n < max_steps; ++n) {
    const Constraint* most = nullptr;
    double high = tolerance;
    for (const Constraint& c : constraints_) {
      const double v = violation(dual, c);
      if (v > high) most = &c, high = v;
    }
    if (most == nullptr) return n;
    const double square = dual.product(most->member, most->member);
    if (!(square > 0)) return n;
    dual.move(most->member, most->sign * std::min(limit_, high / square));
  }
  return max_steps;
}

}  // namespace dragoman::optim
