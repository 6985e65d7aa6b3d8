// A packed search space. Nodes are in topological order (an edge's tails come before its head), the last node is the
// goal, and a derivation's features are the sum over its edges. An edge consists of an *instance* (a rule at its source
// span, with its words and local features, shared by every edge that applies it), its tails, and the features that
// depend on the tails. A phrase lattice is a forest whose edges have at most one tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/at.hh"

namespace dragoman::forest {

struct Feature {
  int32_t id;
  float value;
};

// Words of a target side; negative symbols are tails: -1 the first, -2 the second.
inline constexpr int32_t kBosWord = 1, kEosWord = 2;
constexpr bool is_mark(int32_t word) { return word == kBosWord || word == kEosWord; }
constexpr int32_t tail_symbol(int32_t slot) { return -1 - slot; }
constexpr int32_t tail_slot(int32_t symbol) { return -1 - symbol; }

class Forest {
 public:
  struct Span {
    int32_t begin = -1, end = -1;
    friend bool operator==(const Span&, const Span&) = default;
  };
  struct Node {
    int32_t label = -1;    // defined by the caller
    Span span;             // from the first to the last source word covered
    int32_t covered = -1;  // number of source words covered
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Instance {
    int64_t rule = -1;  // id in the grammar; -1 if it is not from a grammar rule
    Span span;          // of the source: a phrase's own words, a hierarchical rule's whole span
    friend bool operator==(const Instance&, const Instance&) = default;
  };

  // Building: add the instances, then each node followed by its edges.
  int32_t add_instance(const Instance& instance, std::span<const int32_t> symbols, std::span<const Feature> features);
  int32_t add_node(const Node& node);
  // Adds an edge whose head is the last node. Throws std::invalid_argument unless the instance exists, the tails are
  // earlier nodes and the instance's symbols refer to each tail exactly once.
  void add_edge(int32_t instance, std::span<const int32_t> tails, std::span<const Feature> features);

  int32_t n_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t n_edges() const { return static_cast<int32_t>(edge_instance_.size()); }
  int32_t n_instances() const { return static_cast<int32_t>(instances_.size()); }
  int32_t goal() const { return n_nodes() - 1; }

  const Node& node(int32_t v) const { return nodes_[at(v)]; }
  int32_t first_edge(int32_t v) const { return first_edge_[at(v)]; }
  int32_t end_edge(int32_t v) const { return first_edge_[at(v) + 1]; }
  const Instance& instance(int32_t i) const { return instances_[at(i)]; }
  std::span<const int32_t> symbols(int32_t instance) const { return row(symbols_, symbol_offsets_, instance); }
  std::span<const Feature> local_features(int32_t instance) const { return row(locals_, local_offsets_, instance); }
  int32_t edge_instance(int32_t e) const { return edge_instance_[at(e)]; }
  std::span<const int32_t> tails(int32_t e) const { return row(tails_, tail_offsets_, e); }
  // Features of the edge, without those of its instance.
  std::span<const Feature> own_features(int32_t e) const { return row(features_, feature_offsets_, e); }

  // Feature f gets the id `renumbered(f)`: of instances, then of edges, in order.
  template <typename Renumber>
  void renumber_features(Renumber&& renumbered) {
    for (Feature& f : locals_) f.id = renumbered(f.id);
    for (Feature& f : features_) f.id = renumbered(f.id);
  }

  // All arrays, for export.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const int32_t> first_edges() const { return first_edge_; }
  std::span<const Instance> instances() const { return instances_; }
  std::span<const int32_t> edge_instances() const { return edge_instance_; }

  // w.f of every edge; features beyond the end of the weights have weight 0.
  std::vector<double> edge_scores(std::span<const double> weights) const;
  // Keeps only the edges marked `keep` that are in a derivation of the goal made of such edges.
  Forest subforest(const std::vector<char>& keep) const;
  size_t n_bytes() const;

 private:
  template <typename T>
  static std::span<const T> row(const std::vector<T>& values, const std::vector<int64_t>& offsets, int32_t i) {
    const auto begin = static_cast<size_t>(offsets[at(i)]), end = static_cast<size_t>(offsets[at(i) + 1]);
    return {values.data() + begin, end - begin};
  }

  std::vector<Node> nodes_;
  std::vector<int32_t> first_edge_{0};
  std::vector<Instance> instances_;
  std::vector<int64_t> symbol_offsets_{0};
  std::vector<int32_t> symbols_;
  std::vector<int64_t> local_offsets_{0};
  std::vector<Feature> locals_;
  std::vector<int32_t> edge_instance_;
  std::vector<int64_t> tail_offsets_{0};
  std::vector<int32_t> tails_;
  std::vector<int64_t> feature_offsets_{0};
  std::vector<Feature> features_;
};

}  // namespace dragoman::forest
