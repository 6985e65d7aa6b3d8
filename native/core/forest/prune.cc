#include "core/forest/prune.hh"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/forest/inside.hh"
#include "core/forest/kbest.hh"

namespace dragoman::forest {

Forest pruned_to_density(const Forest& forest, std::span<const double> weights, double density,
                         const Control& control) {
  if (!(density > 0)) throw std::invalid_argument("the density of a pruned forest must be positive");
  KBestLists best;
  append_kbest(forest, weights, 1, false, control, best);
  const double wanted = density * static_cast<double>(std::max<size_t>(1, best.tokens.size()));
  if (wanted >= static_cast<double>(forest.n_edges())) return forest;
  const auto marginals = edge_marginals<MaxPlus>(forest, forest.edge_scores(weights));
  auto sorted = marginals;
  const auto last = sorted.begin() + std::max<int64_t>(0, static_cast<int64_t>(wanted) - 1);
  std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
  // Marginals of the best derivation's edges are 0 but for rounding.
  constexpr double kRounding = 1e-9;
  const double threshold = std::min(*last, -kRounding);
  std::vector<char> keep(marginals.size());
  for (size_t e = 0; e < keep.size(); ++e) keep[e] = marginals[e] >= threshold;
  return forest.subforest(keep);
}

std::vector<Forest> prune_forests(const std::vector<const Forest*>& forests, std::span<const double> weights,
                                  double density, int n_threads, Control& control) {
  std::vector<Forest> pruned(forests.size());
  parallel_chunks(static_cast<int64_t>(forests.size()), 1, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) pruned[at(i)] = pruned_to_density(*forests[at(i)], weights, density, control);
  });
  return pruned;
}

}  // namespace dragoman::forest
