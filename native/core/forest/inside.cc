#include "core/forest/inside.hh"

#include <utility>

namespace dragoman::forest {

Expectation expected_features(const Forest& forest, std::span<const double> edge_scores) {
  const auto totals = inside<LogSum>(forest, edge_scores);
  const auto marginals = edge_marginals<LogSum>(forest, edge_scores);
  std::vector<std::pair<int32_t, double>> terms;
  const auto add = [&](std::span<const Feature> features, double posterior) {
    for (const Feature& f : features) terms.emplace_back(f.id, posterior * static_cast<double>(f.value));
  };
  std::vector<double> of_instance(static_cast<size_t>(forest.n_instances()));
  for (int32_t e = 0; e < forest.n_edges(); ++e) {
    const double posterior = std::exp(marginals[static_cast<size_t>(e)]);
    if (posterior == 0) continue;
    of_instance[static_cast<size_t>(forest.edge_instance(e))] += posterior;
    add(forest.own_features(e), posterior);
  }
  for (int32_t i = 0; i < forest.n_instances(); ++i)
    if (of_instance[static_cast<size_t>(i)] != 0) add(forest.local_features(i), of_instance[static_cast<size_t>(i)]);
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Expectation result{totals.empty() ? LogSum::kZero : totals.back(), {}};
  for (const auto& [id, value] : terms) {
    if (result.features.ids.empty() || result.features.ids.back() != id) {
      result.features.ids.push_back(id);
      result.features.values.push_back(0);
    }
    result.features.values.back() += value;
  }
  return result;
}

}  // namespace dragoman::forest
