#include "core/forest/reference_forests.hh"

#include <cmath>
#include <stdexcept>
#include <string>

#include "core/base/at.hh"

namespace dragoman::forest {

namespace {

[[noreturn]] void fail(const std::string& why) { throw std::invalid_argument("forests of references: " + why); }

}  // namespace

void ReferenceForests::check() const {
  tails.check("tails");
  feature_ids.check("features");
  const size_t n_edges = kinds.size(), n_nodes = first_edge.empty() ? 0 : first_edge.size() - 1;
  if (reached.size() != at(size())) fail("every sentence needs to say whether it was reached");
  if (spans.size() != 4 * n_nodes) fail("every node needs spans");
  if (rules.size() != n_edges || priors.size() != n_edges || gains.size() != n_edges || at(tails.size()) != n_edges ||
      at(feature_ids.size()) != n_edges)
    fail("the arrays of edges have different lengths");
  if (feature_values.size() != feature_ids.values.size()) fail("a feature has no value");
  const auto ascends = [](const std::vector<int64_t>& offsets, size_t last) {
    if (offsets.empty() || offsets.front() != 0 || at(offsets.back()) != last) return false;
    for (size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] < offsets[i - 1]) return false;
    return true;
  };
  if (!ascends(first_node, n_nodes) || !ascends(first_edge, n_edges)) fail("offsets must ascend to the last one");
  for (const float value : feature_values)
    if (!std::isfinite(value)) fail("a feature value is not finite");
  for (const float value : priors)
    if (!std::isfinite(value)) fail("a prior is not finite");
  for (const float gain : gains)
    if (!(gain >= 0 && gain <= 1)) fail("a gain is not between 0 and 1");
  for (const int32_t id : feature_ids.values)
    if (id < 0) fail("feature ids must not be negative");
  for (const uint8_t kind : kinds)
    if (kind > static_cast<uint8_t>(ReferenceEdge::kSameWords)) fail("an edge is of no known kind");
  for (int64_t s = 0; s < size(); ++s)
    for (int64_t v = first_node[at(s)]; v < first_node[at(s) + 1]; ++v) {
      bool has_reference = false;
      for (int64_t e = first_edge[at(v)]; e < first_edge[at(v) + 1]; ++e) {
        has_reference = has_reference || is_reference(static_cast<ReferenceEdge>(kinds[at(e)]));
        for (const int32_t tail : tails[e])
          if (tail < 0 || tail >= v - first_node[at(s)]) fail("tails come before the heads of their edges");
      }
      if (!has_reference) fail("a node has no edge of the reference");
    }
}

void ReferenceForests::add_edge(ReferenceEdge kind, int64_t rule, float prior, double gain,
                                std::span<const int32_t> own_tails, std::span<const Feature> features) {
  kinds.push_back(static_cast<uint8_t>(kind));
  rules.push_back(rule);
  priors.push_back(prior);
  gains.push_back(static_cast<float>(gain));
  tails.values.insert(tails.values.end(), own_tails.begin(), own_tails.end());
  tails.offsets.push_back(static_cast<int64_t>(tails.values.size()));
  for (const Feature& f : features) {
    feature_ids.values.push_back(f.id);
    feature_values.push_back(f.value);
  }
  feature_ids.offsets.push_back(static_cast<int64_t>(feature_ids.values.size()));
}

void ReferenceForests::append(const ReferenceForests& other) {
  const auto append_to = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  const auto append_offsets = [](std::vector<int64_t>& to, const std::vector<int64_t>& from) {
    const int64_t base = to.back();
    for (size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
  };
  append_offsets(first_node, other.first_node);
  append_to(spans, other.spans);
  append_offsets(first_edge, other.first_edge);
  append_to(kinds, other.kinds);
  append_to(rules, other.rules);
  append_to(priors, other.priors);
  append_to(gains, other.gains);
  append_offsets(tails.offsets, other.tails.offsets);
  append_to(tails.values, other.tails.values);
  append_offsets(feature_ids.offsets, other.feature_ids.offsets);
  append_to(feature_ids.values, other.feature_ids.values);
  append_to(feature_values, other.feature_values);
  append_to(reached, other.reached);
}

}  // namespace dragoman::forest
