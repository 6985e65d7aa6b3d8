// The k best derivations of a forest, lazily (Huang and Chiang 2005, Algorithm 3), optionally with distinct yields.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/derivations.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

// Flat candidates of many sentences. Row r of each ragged part belongs to candidate r; `first` groups candidates by
// sentence. `edges` is the derivation in pre-order: an edge, then those of its first tail, its second, and so on.
struct KBestLists {
  std::vector<int64_t> first{0};
  std::vector<double> scores;
  std::vector<int64_t> token_offsets{0};
  std::vector<int32_t> tokens;
  std::vector<int64_t> feature_offsets{0};
  std::vector<int32_t> feature_ids;  // ascending in each row; no zero values
  std::vector<float> feature_values;
  std::vector<int64_t> edge_offsets{0};
  std::vector<int32_t> edges;
  std::optional<Derivations> derivations;  // where they were asked for

  void append(const KBestLists& other);
};

// Concatenates the parts, freeing each after it is copied.
KBestLists concatenated(std::vector<KBestLists>&& parts);

// Derivations by decreasing score; ties are broken by the order of edges in their node. Stops when `control` says so.
class KBestSearch {
 public:
  KBestSearch(const Forest& forest, std::vector<double> edge_scores, bool distinct, const Control& control);

  // Computes derivation `rank` of the goal; returns false if there are fewer.
  bool find(int64_t rank) { return forest_.n_nodes() > 0 && find(forest_.goal(), static_cast<uint32_t>(rank)); }
  double score(int64_t rank) const { return score(forest_.goal(), static_cast<uint32_t>(rank)); }
  // Appends the edges of a computed derivation, in pre-order.
  void append_edges(int64_t rank, std::vector<int32_t>& edges) const;

 private:
  struct Item {
    double score;
    int32_t edge;
    uint32_t ranks;  // index of the tails' ranks in ranks_
  };
  // A composable string hash: polynomial, modulo 2^61 - 1.
  struct Yield {
    uint64_t hash = 0, power = 1;
  };
  struct NodeState {
    std::vector<Item> found;
    std::vector<Item> heap;
    std::vector<Yield> yields;          // of the derivations found, if distinct
    std::unordered_set<uint64_t> seen;  // their hashes
    Item pending{};                     // popped; its successors are not yet all in the heap
    uint32_t pending_slot = 0;
    bool started = false, has_pending = false, exhausted = false;
  };

  bool find(int32_t node, uint32_t rank);
  void start(int32_t node);
  void push(NodeState& state, int32_t edge, uint32_t ranks);
  double score(int32_t node, uint32_t rank) const {
    return rank == 0 ? best_[static_cast<size_t>(node)] : states_[static_cast<size_t>(node)].found[rank].score;
  }
  Item item(int32_t node, uint32_t rank) const;
  Yield yield_of(const Item& item) const;
  bool known(int32_t node, uint32_t rank) const { return states_[static_cast<size_t>(node)].found.size() > rank; }

  const Forest& forest_;
  std::vector<double> edge_scores_;
  bool distinct_;
  const Control& control_;
  uint32_t n_steps_ = 0;
  std::vector<double> best_;
  std::vector<int32_t> best_edge_;
  std::vector<Yield> best_yield_;
  std::vector<NodeState> states_;
  std::vector<uint32_t> ranks_;  // begins with as many zeros as the widest edge has tails
  std::vector<std::pair<int32_t, uint32_t>> wanted_;
};

// Adds one sentence: its k best candidates with tokens (without <s> and </s>), summed features and edges.
void append_kbest(const Forest& forest, std::span<const double> weights, int64_t k, bool distinct,
                  const Control& control, KBestLists& out);

// The words of a derivation given by its edges in pre-order. Throws std::invalid_argument if they are not a derivation
// of the forest.
void append_yield(const Forest& forest, std::span<const int32_t> edges, std::vector<int32_t>& tokens);

// Sums features over edges. The features of each edge are looked up once, whatever the number of derivations.
class FeatureSum {
 public:
  // `edges` are all those that will be asked for; they may repeat.
  FeatureSum(const Forest& forest, std::span<const int32_t> edges);
  // Ids ascend, and no value is zero.
  void append(std::span<const int32_t> edges, std::vector<int32_t>& ids, std::vector<float>& values);

 private:
  void add(std::span<const Feature> features);
  int32_t column_of(int32_t id);
  void sort_columns();

  std::vector<int32_t> edges_;     // ascending
  std::vector<size_t> first_;      // features of an edge: first_[i] to first_[i + 1]
  std::vector<Feature> features_;  // with columns instead of ids
  std::vector<int32_t> slots_;     // open addressing: a column, or -1
  std::vector<int32_t> ids_;       // of each column, ascending at last
  std::vector<double> sums_;
  std::vector<uint64_t> is_used_;  // bits, by column
};

}  // namespace dragoman::forest
