// Forests with only the edges that good derivations use.
#pragma once

#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

// The edges of the greatest max-marginals: `density` of them for each word of the best translation, and the edges that
// are as good as the last of them. The best derivation stays whole.
Forest pruned_to_density(const Forest& forest, std::span<const double> weights, double density, const Control& control);

// The same for many forests.
std::vector<Forest> prune_forests(const std::vector<const Forest*>& forests, std::span<const double> weights,
                                  double density, int n_threads, Control& control);

}  // namespace dragoman::forest
