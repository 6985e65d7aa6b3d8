#include "core/forest/forest.hh"

#include <stdexcept>

namespace dragoman::forest {

int32_t Forest::add_instance(const Instance& instance, std::span<const int32_t> symbols,
                             std::span<const Feature> features) {
  instances_.push_back(instance);
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  symbol_offsets_.push_back(static_cast<int64_t>(symbols_.size()));
  locals_.insert(locals_.end(), features.begin(), features.end());
  local_offsets_.push_back(static_cast<int64_t>(locals_.size()));
  return n_instances() - 1;
}

int32_t Forest::add_node(const Node& node) {
  nodes_.push_back(node);
  first_edge_.push_back(n_edges());
  return n_nodes() - 1;
}

void Forest::add_edge(int32_t instance, std::span<const int32_t> tails, std::span<const Feature> features) {
  if (nodes_.empty()) throw std::invalid_argument("an edge needs a head node");
  if (instance < 0 || instance >= n_instances()) throw std::invalid_argument("the instance of an edge does not exist");
  for (const int32_t tail : tails)
    if (tail < 0 || tail >= goal()) throw std::invalid_argument("an edge's tails must come before its head");
  size_t n_slots = 0;
  std::vector<char> seen(tails.size() > 64 ? tails.size() : 0);
  uint64_t seen_bits = 0;
  for (const int32_t symbol : symbols(instance)) {
    if (symbol >= 0) continue;
    const auto slot = static_cast<size_t>(tail_slot(symbol));
    if (slot >= tails.size()) throw std::invalid_argument("an instance refers to a tail that its edge lacks");
    const bool again = seen.empty() ? (seen_bits >> slot & 1) != 0 : seen[slot] != 0;
    if (again) throw std::invalid_argument("an instance refers to a tail twice");
    if (seen.empty())
      seen_bits |= uint64_t{1} << slot;
    else
      seen[slot] = 1;
    ++n_slots;
  }
  if (n_slots != tails.size()) throw std::invalid_argument("an instance does not refer to every tail of its edge");
  edge_instance_.push_back(instance);
  tails_.insert(tails_.end(), tails.begin(), tails.end());
  tail_offsets_.push_back(static_cast<int64_t>(tails_.size()));
  features_.insert(features_.end(), features.begin(), features.end());
  feature_offsets_.push_back(static_cast<int64_t>(features_.size()));
  first_edge_.back() = n_edges();
}

std::vector<double> Forest::edge_scores(std::span<const double> weights) const {
  const auto dot = [&](std::span<const Feature> features) {
    double sum = 0;
    for (const Feature& f : features)
      if (static_cast<size_t>(f.id) < weights.size())
        sum += weights[static_cast<size_t>(f.id)] * static_cast<double>(f.value);
    return sum;
  };
  std::vector<double> local(instances_.size());
  for (int32_t i = 0; i < n_instances(); ++i) local[at(i)] = dot(local_features(i));
  std::vector<double> scores(edge_instance_.size());
  for (int32_t e = 0; e < n_edges(); ++e) scores[at(e)] = local[at(edge_instance(e))] + dot(own_features(e));
  return scores;
}

Forest Forest::subforest(const std::vector<char>& keep) const {
  std::vector<char> derivable(nodes_.size()), needed(nodes_.size()), edge_ok(edge_instance_.size());
  for (int32_t v = 0; v < n_nodes(); ++v)
    for (int32_t e = first_edge(v); e < end_edge(v); ++e) {
      bool ok = keep[at(e)] != 0;
      for (const int32_t tail : tails(e)) ok = ok && derivable[at(tail)];
      edge_ok[at(e)] = ok;
      if (ok) derivable[at(v)] = 1;
    }
  if (!nodes_.empty()) needed.back() = 1;
  std::vector<char> instance_used(instances_.size());
  for (int32_t v = goal(); v >= 0; --v)
    for (int32_t e = first_edge(v); e < end_edge(v); ++e) {
      edge_ok[at(e)] = edge_ok[at(e)] && needed[at(v)];
      if (!edge_ok[at(e)]) continue;
      instance_used[at(edge_instance(e))] = 1;
      for (const int32_t tail : tails(e)) needed[at(tail)] = 1;
    }
  Forest result;
  std::vector<int32_t> new_instance(instances_.size(), -1), new_node(nodes_.size(), -1), new_tails;
  for (int32_t i = 0; i < n_instances(); ++i)
    if (instance_used[at(i)]) new_instance[at(i)] = result.add_instance(instance(i), symbols(i), local_features(i));
  for (int32_t v = 0; v < n_nodes(); ++v) {
    if (!needed[at(v)]) continue;
    new_node[at(v)] = result.add_node(node(v));
    for (int32_t e = first_edge(v); e < end_edge(v); ++e) {
      if (!edge_ok[at(e)]) continue;
      new_tails.clear();
      for (const int32_t tail : tails(e)) new_tails.push_back(new_node[at(tail)]);
      result.add_edge(new_instance[at(edge_instance(e))], new_tails, own_features(e));
    }
  }
  return result;
}

size_t Forest::n_bytes() const {
  const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return bytes(nodes_) + bytes(first_edge_) + bytes(instances_) + bytes(symbol_offsets_) + bytes(symbols_) +
         bytes(local_offsets_) + bytes(locals_) + bytes(edge_instance_) + bytes(tail_offsets_) + bytes(tails_) +
         bytes(feature_offsets_) + bytes(features_);
}

}  // namespace dragoman::forest
