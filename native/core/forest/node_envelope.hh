// Upper envelopes of the nodes of one forest along w + t.d: envelope(v) = max over edges into v of the edge's line plus
// the sum of its tails' envelopes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/forest.hh"

namespace dragoman::forest {

// Keeps the lines of all nodes, so that a derivation is found by following them from the goal. Reuses its space from
// forest to forest.
class NodeEnvelopes {
 public:
  struct Line {
    double slope, score;
    double from;  // the line is the best of its node from here to the next line's
    int32_t edge;
    // Lines of the tails: the first and the second. With more than two tails: `first` is a line of chain_ for all tails
    // but the last, `second` one of the last.
    uint32_t first = 0, second = 0;
  };

  // Lines of the goal in ascending order of slope; none if it has no derivation. Valid until the next call. Stops when
  // `control` says so.
  std::span<const Line> of_goal(const Forest& forest, std::span<const double> weights,
                                std::span<const double> direction, const Control& control);
  // The edges of the derivation of the goal's line i, in pre-order.
  void append_edges(const Forest& forest, size_t i, std::vector<int32_t>& edges);

 private:
  using Lines = std::span<const Line>;

  Lines lines_of(int32_t node) const {
    const size_t begin = first_line_[at(node)];
    return {lines_.data() + begin, first_line_[at(node) + 1] - begin};
  }
  bool is_hidden(const Line& edge, Lines first, Lines second) const;
  void add_edge(const Line& edge, std::span<const int32_t> tails);
  void add_tail(Lines tail, size_t chained);
  void merge();

  std::vector<Line> lines_;         // of all nodes
  std::vector<size_t> first_line_;  // of each node
  std::vector<Line> chain_;         // sums of some of an edge's tails
  std::vector<Line> hull_;          // of the node's edges so far
  std::vector<Line> sum_, scratch_;
  std::vector<std::pair<int32_t, uint32_t>> open_;  // a node and one of its lines
};

}  // namespace dragoman::forest
