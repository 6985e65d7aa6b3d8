#include "core/search/phrase_forest.hh"

#include <algorithm>
#include <cmath>
#include <vector>
#include "core/base/at.hh"

namespace dragoman::search {

namespace {

// Which hypotheses are on a way to the last stack.
std::vector<char> needed(const Hypotheses& hypotheses, int32_t n_words) {
  std::vector<char> is_needed(hypotheses.size());
  for (const int32_t id : hypotheses.stack(n_words)) is_needed[at(id)] = 1;
  for (int32_t covered = n_words; covered > 0; --covered)
    for (const int32_t id : hypotheses.stack(covered)) {
      if (!is_needed[at(id)]) continue;
      for (int32_t a = hypotheses[id].first_arc; a >= 0; a = hypotheses.arc(a).next)
        is_needed[at(hypotheses.arc(a).from)] = 1;
    }
  return is_needed;
}

}  // namespace

forest::Forest::Span covered_span(const Coverages& coverages, uint32_t coverage, int32_t n_words) {
  if (coverages.n_covered(coverage) == 0) return {0, 0};
  const int32_t gap = coverages.first_gap(coverage);
  int32_t begin = 0;
  if (gap == 0)
    while (begin < n_words && !coverages.is_covered(coverage, begin)) ++begin;
  return {begin, std::max(gap, coverages.end(coverage))};
}

forest::Forest phrase_forest(const PhraseSearchSpace& space, Transitions& transitions) {
  const Hypotheses& hypotheses = space.hypotheses;
  const Prepared& prepared = space.prepared;
  const int32_t n = prepared.n_words;
  const std::vector<char> is_needed = needed(hypotheses, n);
  forest::Forest forest;
  std::vector<forest::Feature> features;
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) features.push_back({id, value});
  };
  std::vector<int32_t> symbols{forest::kBosWord}, chain;
  const int32_t start = forest.add_instance({-1, {0, 0}}, symbols, {});
  std::vector<int32_t> instance_of(prepared.options.size(), -1), node_of(hypotheses.size(), -1);
  const auto instance = [&](int32_t id) {
    if (instance_of[at(id)] >= 0) return instance_of[at(id)];
    const Option& option = prepared.options[at(id)];
    const auto words = target_of(space.batch, space.sentence, option);
    const int64_t rule = option.source >= 0 ? space.batch.rules[at(option.source)] : -1;
    symbols.assign(1, forest::tail_symbol(0));
    symbols.insert(symbols.end(), words.begin(), words.end());
    features.clear();
    append_local_features(space.batch, space.sentence, space.features, option, features);
    return instance_of[at(id)] = forest.add_instance({rule, {option.span.begin, option.span.end}}, symbols, features);
  };
  for (int32_t covered = 0; covered <= n; ++covered)
    for (const int32_t id : hypotheses.stack(covered)) {
      if (!is_needed[at(id)]) continue;
      const Hypothesis& h = hypotheses[id];
      node_of[at(id)] = forest.add_node({-1, covered_span(space.coverages, h.coverage, n), covered});
      if (id == 0) forest.add_edge(start, {}, {});
      chain.clear();
      for (int32_t a = h.first_arc; a >= 0; a = hypotheses.arc(a).next) chain.push_back(a);
      std::reverse(chain.begin(), chain.end());  // in the order they were found
      for (const int32_t a : chain) {
        const Arc& arc = hypotheses.arc(a);
        const int32_t with = instance(arc.option);
        const Option& option = prepared.options[at(arc.option)];
        const Hypothesis& before = hypotheses[arc.from];
        features.clear();
        add(space.features.lm, arc.lm);
        add(space.features.distortion, -static_cast<float>(std::abs(option.span.begin - before.last_end)));
        transitions.append_features(before, option, features);
        forest.add_edge(with, std::span(&node_of[at(arc.from)], 1), features);
      }
    }
  symbols.assign({forest::tail_symbol(0), forest::kEosWord});
  const int32_t last = forest.add_instance({-1, {n, n}}, symbols, {});
  forest.add_node({-1, {0, n}, n});
  const auto& goals = hypotheses.stack(n);
  for (size_t i = 0; i < goals.size(); ++i) {
    features.clear();
    add(space.features.lm, space.end_lm[i]);
    forest.add_edge(last, std::span(&node_of[at(goals[i])], 1), features);
  }
  return forest;
}

}  // namespace dragoman::search
