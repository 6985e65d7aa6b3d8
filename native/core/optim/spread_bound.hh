// The bound of relative margins (Eidelman et al. 2013): how far scores of candidates may be from the hope's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace dragoman::optim {

// The candidate that violates its bound most. Not positive: within the bound.
struct Excess {
  size_t candidate;
  double violation, bound;
};

struct SpreadBound {
  double size;         // B; infinite for none
  bool by_cost;        // the bound of y is B max(cost(y) / unit, floor), with cost(y) = gain(y+) - gain(y)
  double floor, unit;  // positive

  double of(double cost) const { return by_cost ? size * std::max(cost / unit, floor) : size; }

  // How far the hope is above a candidate (sign 1) or below it (sign -1), compared with the bound there.
  Excess most_violated(std::span<const double> scores, std::span<const double> gains, size_t hope, double sign) const {
    if (std::isinf(size)) return {hope, -size, size};
    if (!by_cost) {
      const auto at =
          sign > 0 ? std::min_element(scores.begin(), scores.end()) : std::max_element(scores.begin(), scores.end());
      return {static_cast<size_t>(at - scores.begin()), sign * (scores[hope] - *at) - size, size};
    }
    Excess most{hope, -of(0), of(0)};
    for (size_t c = 0; c < scores.size(); ++c) {
      const double bound = of(gains[hope] - gains[c]), violation = sign * (scores[hope] - scores[c]) - bound;
      if (violation > most.violation) most = {c, violation, bound};
    }
    return most;
  }
};

}  // namespace dragoman::optim
