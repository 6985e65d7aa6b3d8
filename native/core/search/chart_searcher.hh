// The chart of one sentence after another, with space that is kept between them.
//
// Spans are finished by descending begin and ascending end. Source sides are matched by walking the trie from a begin
// to the right, over words and over spans that begin later and are finished; those that begin with a nonterminal are
// taken up when its span is finished (Sennrich 2014). So no partly matched rule is ever stored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"
#include "core/lm/pieces.hh"
#include "core/search/candidate_heap.hh"
#include "core/search/chart_rules.hh"
#include "core/search/chart_search.hh"

namespace dragoman::search {

class ChartSearcher {
 public:
  explicit ChartSearcher(const ChartModel& model);
  forest::Forest run(const RuleBatch& batch, int64_t sentence, const Control& control);

 private:
  // Nodes of one span and label, best first.
  struct NodeList {
    uint32_t first = 0, size = 0;
  };
  struct Item {
    int32_t label;
    forest::Forest::Span span;
    NodeList nodes;
  };
  // A class of equal label, span and language-model state.
  struct Node {
    double score;  // of the best way there
    int32_t last_edge;
    lm::PieceState state;
  };
  struct Edge {
    int32_t next;  // the edge into the same node that was found before
    uint32_t choice, first_tail;
    float lm;
  };
  // The rules of one source side at one place: all of them with all nodes of its nonterminals' spans.
  struct Cube {
    uint32_t first_choice, n_choices;
    uint32_t first_tail, n_tails;  // in tails_
  };
  struct Pending {
    int32_t lhs;
    Cube cube;
  };
  // One rule and one node for each nonterminal. The ranks follow each other in ranks_.
  struct Candidate {
    uint32_t cube, first_rank;
    lm::PieceState state;
    float lm;
    bool is_scored;
    double score;  // without the language model's part before it is scored
    double key;    // what orders candidates; an estimate before it is scored
  };
  struct NewNode {
    double score;
    int32_t last_edge;
    lm::PieceState state;
  };
  struct Slot {
    uint32_t stamp = 0, node = 0;
  };

  void start(const RuleBatch& batch, int64_t sentence);
  void fill_chart(const Control& control);
  void match(uint32_t trie_node, int32_t end);
  void extend(uint32_t trie_node, int32_t end);
  void finish_span(int32_t begin, int32_t end);
  void glue();
  NodeList find(int32_t begin, int32_t end, int32_t label) const;

  // Cube pruning over cubes_; the nodes that come out become an item.
  NodeList search(int32_t label, forest::Forest::Span span, bool is_end);
  // `change` is what the language model is expected to change of the estimate.
  void push(uint32_t cube, double change);
  void push_next(uint32_t candidate, double change);
  void score(Candidate& candidate, bool is_end);
  void take(const Candidate& candidate);
  uint32_t recombine(lm::PieceState state);

  forest::Forest build_forest() const;
  forest::Forest empty_sentence() const;

  const ChartModel& model_;
  double lm_weight_;
  std::unique_ptr<lm::Pieces> lm_;
  ChartRules rules_;
  std::span<const int32_t> words_;
  int32_t n_words_ = 0, max_span_ = 0, begin_ = 0, limit_ = 0;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<uint32_t> edge_tails_;
  std::vector<Item> items_;                           // in the order of their nodes
  std::vector<std::pair<int32_t, NodeList>> labels_;  // of finished spans, by label in each
  std::vector<std::pair<uint32_t, uint32_t>> spans_;  // first and number in labels_, by begin and length
  std::vector<NodeList> rows_;                        // glued rows from the first word on, by end

  std::vector<std::vector<Pending>> pending_;  // of the current begin, by end
  std::vector<NodeList> tails_, open_tails_;
  std::vector<int32_t> ends_;  // of the symbols matched so far
  std::vector<Cube> cubes_;
  std::vector<Candidate> candidates_;
  CandidateHeap heap_;
  std::vector<uint32_t> ranks_;
  std::vector<NewNode> new_nodes_;
  std::vector<Slot> slots_;
  uint32_t stamp_ = 0;
};

}  // namespace dragoman::search
