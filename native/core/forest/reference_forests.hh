// Forests around the reference translations of word-aligned sentence pairs (Xiao, Liu, Liu and Lin 2011, section 3):
// the derivations of the reference, and those that differ from one of them in one rule.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ragged.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

enum class ReferenceEdge : uint8_t {
  kReference,  // of a derivation of the reference
  kHole,       // one too, but no rule: it stands for a minimal rule that the grammar lacks
  kWrong,      // in place of a reference edge: the words are others than the reference's
  kSameWords,  // in place of a reference edge, with the same words
};

constexpr bool is_reference(ReferenceEdge kind) {
  return kind == ReferenceEdge::kReference || kind == ReferenceEdge::kHole;
}

enum class ReferenceReach : uint8_t {
  kNo,     // there is no derivation of the reference
  kHoles,  // with holes only
  kYes,    // by the rules that a decoder would use
  kAdded,  // by these and rules of the minimal tree that a decoder would not use
};

// Nodes of a sentence are in topological order, the goal last; an edge that is not of the reference is used at most
// once in a derivation, and everything around it is the reference's. `lm` is on such an edge the change of the whole
// string's score, on the edge into the goal the reference's own score, and nowhere else.
struct ReferenceForests {
  std::vector<int64_t> first_node{0};  // of sentence s: first_node[s] to first_node[s + 1]; none where it is left out
  std::vector<int32_t> spans;          // of node v, from 4 v: source begin and end, target begin and end
  std::vector<int64_t> first_edge{0};  // of node v
  std::vector<uint8_t> kinds;          // ReferenceEdge
  std::vector<int64_t> rules;          // ids in the grammar; -1: glue, words that pass through, holes
  std::vector<float> priors;           // log of the number of occurrences of the rule, or of the one it replaces
  std::vector<float> gains;            // sentence BLEU of a derivation with this edge; 1 of the reference
  RaggedVector<int32_t> tails;         // nodes of the same sentence, counted from its first
  RaggedVector<int32_t> feature_ids;   // by edge
  std::vector<float> feature_values;
  std::vector<uint8_t> reached;  // by sentence, ReferenceReach

  int64_t size() const { return static_cast<int64_t>(first_node.size()) - 1; }
  // Throws std::invalid_argument unless everything fits together; learners rely on it.
  void check() const;
  // The nodes of the next sentence come one after the other, each after its edges; tails are counted from the first.
  void add_edge(ReferenceEdge kind, int64_t rule, float prior, double gain, std::span<const int32_t> own_tails,
                std::span<const Feature> features);
  void end_node(const std::array<int32_t, 4>& places) {
    spans.insert(spans.end(), places.begin(), places.end());
    first_edge.push_back(static_cast<int64_t>(kinds.size()));
  }
  void end_sentence(ReferenceReach how) {
    first_node.push_back(static_cast<int64_t>(first_edge.size()) - 1);
    reached.push_back(static_cast<uint8_t>(how));
  }
  // Appends the sentences of another.
  void append(const ReferenceForests& other);

  // Calls visit(name, vector) for every array.
  template <typename Forests, typename Visit>
  static void each_array(Forests& f, Visit&& visit) {
    visit("first_node", f.first_node);
    visit("spans", f.spans);
    visit("first_edge", f.first_edge);
    visit("kinds", f.kinds);
    visit("rules", f.rules);
    visit("priors", f.priors);
    visit("gains", f.gains);
    visit("tail_offsets", f.tails.offsets);
    visit("tails", f.tails.values);
    visit("feature_offsets", f.feature_ids.offsets);
    visit("feature_ids", f.feature_ids.values);
    visit("feature_values", f.feature_values);
    visit("reached", f.reached);
  }
};

}  // namespace dragoman::forest
