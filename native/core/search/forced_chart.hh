// Forced decoding by rules: a chart whose nodes are a label, a source span and a target span, each with its best
// derivation. Source sides are matched as in chart search; of their rules those are taken whose target side, with the
// target spans of the nodes below, reads as the translation does somewhere. Glue puts nodes side by side; words are
// deleted, inserted and copied between them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/lm/pieces.hh"
#include "core/search/chart_rules.hh"
#include "core/search/forced.hh"

namespace dragoman::search {

class ForcedChart {
 public:
  ForcedChart(const RuleBatch& batch, const ChartModel& model, const ForcedSettings& settings, const Control& control);

  ForcedTranslation run(int64_t sentence, std::span<const int32_t> target, std::span<const int32_t> copies);

 private:
  // Matches tried for the spans from one begin on; when they are used up, the others get rules without nonterminals
  // only.
  static constexpr int64_t kMaxTries = 400'000;

  struct Node {
    int32_t label, begin, end;  // of the source
    int32_t target_begin, target_end;
    double score;
    uint32_t choice, first_tail, n_tails;  // in node_tails_; of pending ones in pending_tails_
  };
  struct NodeList {
    uint32_t first = 0, size = 0;
  };
  // The best way to translate the words before a place on either side; of the row of items so far, whether there is
  // one.
  struct Cell {
    double score;
    int32_t from;  // the cell before; -1: none
    int32_t node;  // put there; -1: an edit
  };

  void find_rules();
  void fill_chart();
  void match(uint32_t trie_node, int32_t end);
  void extend(uint32_t trie_node, int32_t end);
  void complete(int32_t pattern, int32_t end, std::span<const int32_t> ends, int32_t lhs);
  void place_rest(size_t symbol, int32_t position);
  void add_pass(int32_t begin);
  void finish_span(int32_t begin, int32_t end);
  void keep_best(int32_t label, int32_t end);
  NodeList find(int32_t begin, int32_t end, int32_t label) const;

  size_t cell(int32_t source, int32_t target, bool has_item) const {
    return 2 * (at(source) * (target_.size() + 1) + at(target)) + (has_item ? 1 : 0);
  }
  void improve(size_t cell, double score, size_t from, int32_t node);
  bool glue(bool may_edit);
  void glue_items(int32_t begin, bool may_edit);
  void edit(int32_t source, int32_t target, bool has_item);
  double local_of(std::span<const forest::Feature> features) const;
  void word_features(int32_t word, bool is_passed, std::vector<forest::Feature>& out) const;

  // Writing the forest of what was found.
  struct Written {
    int32_t node = -1;
    lm::Piece piece;
  };
  void write(size_t goal, bool may_edit, ForcedTranslation& out);
  Written write_item(int32_t node, forest::Forest& forest);
  Written write_edge(const forest::Forest::Node& node, const forest::Forest::Instance& instance,
                     std::span<const int32_t> symbols, std::span<const forest::Feature> features,
                     std::span<const Written> tails, forest::Forest& forest);

  const RuleBatch& batch_;
  const ChartModel& model_;
  ForcedSettings settings_;
  const Control& control_;
  std::unique_ptr<lm::Pieces> lm_;
  ChartRules rules_;

  int64_t sentence_ = 0;
  std::span<const int32_t> words_, target_, copies_;
  int32_t n_words_ = 0, max_span_ = 0, begin_ = 0, limit_ = 0;
  TargetPlaces places_;
  std::vector<char> is_live_;  // nodes of the trie with rules that may fit
  bool is_complete_ = true;
  int64_t n_tries_ = 0;

  std::vector<Node> nodes_, new_nodes_;
  std::vector<uint32_t> node_tails_, pending_tails_;
  std::vector<std::pair<int32_t, NodeList>> labels_;  // of finished spans, by label in each
  std::vector<std::pair<uint32_t, uint32_t>> spans_;  // first and number in labels_, by begin and length
  std::vector<std::vector<Node>> pending_;            // of the current begin, by end
  std::vector<NodeList> open_tails_;
  std::vector<int32_t> ends_;
  // The rule that is being placed.
  std::span<const int32_t> symbols_;
  std::vector<uint32_t> chosen_;
  Node placed_{};
  std::vector<Node>* placed_into_ = nullptr;

  std::vector<Cell> cells_;
  std::vector<forest::Feature> features_;
};

}  // namespace dragoman::search
