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

double Budget::room(std::span<const double> changes) const {
  double most = std::numeric_limits<double>::infinity(), spent = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i] < 0) most = std::min(most, -constraints_[i].mass / changes[i]);
    spent += changes[i];
  }
  return spent > 0 ? std::min(most, spare_ / spent) : most;
}

void Budget::add_masses(std::span<const double> changes, double factor) {
  const auto rounded = [&](double mass) { return mass < 1e-14 * limit_ ? 0 : mass; };
  double spent = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    constraints_[i].mass = rounded(constraints_[i].mass + factor * changes[i]);
    spent += factor * changes[i];
  }
  spare_ = rounded(spare_ - spent);
}

namespace {

// The masses of all budgets.
void read(std::span<const Solved> budgets, std::vector<double>& masses) {
  masses.clear();
  for (const auto& [budget, tolerance] : budgets)
    for (const auto& c : budget->constraints()) masses.push_back(c.mass);
}

// Exact line search along changes of the masses.
void go_on(Dual& dual, std::span<const Solved> budgets, std::span<const double> changes) {
  double most = std::numeric_limits<double>::infinity(), slope = 0, square = 0, scale = 0;
  std::vector<double> shifts(dual.size());
  const auto part_of = [&](const Budget& budget, size_t begin) {
    return changes.subspan(begin, budget.constraints().size());
  };
  size_t begin = 0;
  for (const auto& [budget, tolerance] : budgets) {
    const auto part = part_of(*budget, begin);
    most = std::min(most, budget->room(part));
    for (size_t i = 0; i < part.size(); ++i) {
      const auto& c = budget->constraints()[i];
      slope += part[i] * Budget::violation(dual, c);
      shifts[c.member] += c.sign * part[i];
    }
    begin += part.size();
  }
  if (!(slope > 0) || !std::isfinite(most)) return;
  for (size_t m = 0; m < shifts.size(); ++m) {
    scale += shifts[m] * shifts[m] * dual.product(m, m);
    for (size_t k = 0; k < shifts.size(); ++k) square += shifts[m] * shifts[k] * dual.product(m, k);
  }
  const double factor = square > 1e-14 * scale ? std::min(most, slope / square) : most;
  begin = 0;
  for (const auto& [budget, tolerance] : budgets) {
    const auto part = part_of(*budget, begin);
    budget->add_masses(part, factor);
    begin += part.size();
  }
  for (size_t m = 0; m < shifts.size(); ++m)
    if (shifts[m] != 0) dual.move(m, factor * shifts[m]);
}

}  // namespace

void solve(Dual& dual, std::span<const Solved> budgets, int max_iterations) {
  std::vector<double> before, after;
  for (int sweep = 0; sweep < max_iterations; ++sweep) {
    read(budgets, before);
    int n_steps = 0;
    for (const auto& [budget, tolerance] : budgets) n_steps += budget->optimise(dual, max_iterations, tolerance);
    if (n_steps == 0) return;
    if (sweep == 0) continue;
    read(budgets, after);
    for (size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    go_on(dual, budgets, after);
  }
}

}  // namespace dragoman::optim
