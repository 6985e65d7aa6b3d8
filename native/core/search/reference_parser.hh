// Alignment-constrained bi-parsing: the derivations of a given translation by the rules that a chart would use (Xiao,
// Liu, Liu and Lin 2011, section 4.2), and what could stand in place of each of their rules.
//
// A node is a source span with the target span that the word alignment gives it. Source sides are matched as in chart
// search, but only over spans that have nodes; of the rules of a source side those are taken whose target side, with
// the target spans of its nonterminals, reads as the reference does there. The chart begins with the pair's minimal
// tree: rules of its nodes that a chart would not match, where they are given.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/align/links.hh"
#include "core/align/minimal_tree.hh"
#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/forest/reference_forests.hh"
#include "core/search/chart_rules.hh"
#include "core/search/link_counts.hh"
#include "core/search/reference_settings.hh"
#include "core/search/reference_text.hh"

namespace dragoman::search {

class ReferenceParser {
 public:
  ReferenceParser(const ChartModel& model, const ReferenceSettings& settings);
  // Appends the forest of a sentence. `minimal` has the rules of source sides of the pair's minimal tree (null: none).
  void run(const RuleBatch& batch, const RuleBatch* minimal, int64_t sentence, std::span<const int32_t> target,
           std::span<const align::Link> links, const Control& control, forest::ReferenceForests& out);

 private:
  static constexpr double kWorst = -std::numeric_limits<double>::infinity();
  using Range = TargetRange;
  struct Node {
    int32_t label;
    Range source, target;
    bool is_grammatical = false;  // there is a derivation without holes
    bool is_charted = false;      // and by rules that a chart would use
  };
  // Where rules come from: what a chart would match, or the rules of the minimal tree.
  enum class Table : uint8_t { kChart, kMinimal };
  struct NodeList {
    int32_t first = 0, size = 0;
  };
  struct Edge {
    int32_t head;
    forest::ReferenceEdge kind;
    uint32_t choice;                   // in ChartRules; of holes none
    uint32_t first_choice, n_choices;  // those of the same source side
    uint32_t first_tail, n_tails;      // in tails_
    Table table = Table::kChart;
    double score = 0;
  };
  // Rules that match at a span.
  struct Match {
    int32_t label;
    uint32_t first_choice, n_choices, first_tail, n_tails;
    Table table = Table::kChart;
  };
  struct Pending {
    Range target;
    int32_t label;
    Edge edge;
  };

  void start(const RuleBatch& batch, const RuleBatch* minimal, int64_t sentence, std::span<const int32_t> target,
             std::span<const align::Link> links);
  void find_targets(int32_t begin);
  void fill_chart(const Control& control);
  void match(uint32_t trie_node, int32_t end);
  void extend(uint32_t trie_node, int32_t end);
  void complete(int32_t pattern, int32_t end);
  void finish_span(int32_t end);
  void add_tree_nodes(Range source);
  void add_tree_node(size_t tree_node);
  // The source side of a node's minimal rule in the minimal rules, with where its symbols end; -1: there is none.
  int32_t minimal_pattern(size_t tree_node, std::vector<int32_t>& ends) const;
  void add_minimal_rules(size_t tree_node, int32_t head, uint32_t first_tail);
  void update_reach(const Edge& edge);
  void glue();
  void add_row(int32_t end, Range target, uint32_t choice, std::span<const int32_t> tails);
  NodeList nodes_of(int32_t begin, int32_t end) const { return spans_[at(begin) * (at(n_words_) + 1) + at(end)]; }
  NodeList with_label(NodeList nodes, int32_t label) const;
  bool fits(std::span<const int32_t> symbols, std::span<const int32_t> tails, Range target) const;
  bool has_same_words(std::span<const int32_t> symbols, std::span<const int32_t> tails, Range target) const;

  void score_edges();
  void append_features(const Edge& edge, std::vector<forest::Feature>& out) const;
  float prior_of(const Edge& edge) const;
  // The target spans of nodes.
  std::span<const Range> ranges_of(std::span<const int32_t> tails);
  void write(forest::ReferenceForests& out);
  void write_wrong(const Edge& replaced, std::span<const Match> matches, float prior, double outside,
                   forest::ReferenceForests& out);
  void write_edge(forest::ReferenceEdge kind, int64_t rule, float prior, double gain, std::span<const int32_t> tails,
                  std::span<const forest::Feature> features, forest::ReferenceForests& out);
  double weigh(std::span<const forest::Feature> features) const;
  std::span<const int32_t> tails_of(const Edge& edge) const { return {tails_.data() + edge.first_tail, edge.n_tails}; }
  bool has_minimal() const { return minimal_ != nullptr; }
  ChartRules& rules_in(Table table) { return table == Table::kChart ? rules_ : minimal_rules_; }
  const ChartRules& rules_in(Table table) const { return table == Table::kChart ? rules_ : minimal_rules_; }
  const RuleBatch& batch_in(Table table) const { return table == Table::kChart ? *batch_ : *minimal_; }

  const ChartModel& model_;
  ReferenceSettings settings_;
  std::unique_ptr<lm::Pieces> lm_, minimal_lm_;
  ChartRules rules_, minimal_rules_;
  align::TreeBuilder trees_;

  const RuleBatch *batch_ = nullptr, *minimal_ = nullptr;
  std::span<const int32_t> words_, reference_;
  int32_t n_words_ = 0, n_target_ = 0, max_span_ = 0, begin_ = 0, limit_ = 0;
  LinkCounts links_;
  std::vector<int32_t> free_before_, free_after_;  // unaligned target words before and from each on
  std::vector<std::vector<Range>> targets_;        // of spans from begin_ on, by end
  ReferenceText text_;

  std::vector<Node> nodes_;
  std::vector<NodeList> spans_;
  std::vector<Edge> edges_;
  std::vector<int32_t> tails_;
  std::vector<std::vector<Pending>> pending_;  // by end
  std::vector<std::vector<Match>> matches_;    // by source span, only where `wide`
  std::vector<NodeList> open_tails_;
  std::vector<int32_t> ends_, chosen_, ends_of_tree_;
  std::vector<align::TreeNode> tree_;
  std::vector<std::vector<int32_t>> tree_children_;
  std::vector<int32_t> node_of_tree_;
  std::vector<std::vector<int32_t>> rows_;  // nodes of glued rows, by end
  std::vector<double> inside_, outside_;
  std::vector<Range> ranges_;
  std::vector<int32_t> written_;
  std::vector<forest::Feature> features_;
  std::vector<int32_t> kept_number_;
};

}  // namespace dragoman::search
