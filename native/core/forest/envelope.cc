#include "core/forest/envelope.hh"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/hull.hh"
#include "core/base/parallel.hh"
#include "core/forest/kbest.hh"

namespace dragoman::forest {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Line {
  double slope, score, from;
  uint32_t back;
  int32_t forest = 0;
};

// Sorted by slope; each line is the maximum from its `from` on.
using Envelope = std::vector<Line>;

// Keeps only the lines on the upper envelope; of equal lines the first.
void keep_upper(Envelope& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.slope < b.slope; });
  size_t n = 0;
  for (const Line& next : lines) n = add_to_hull(lines.data(), n, next);
  lines.resize(n);
}

// The envelopes of one forest's nodes. A derivation is a chain of backpointers: an edge, then one link for each tail.
class NodeEnvelopes {
 public:
  const Envelope& of_goal(const Forest& forest, std::span<const double> weights, std::span<const double> direction) {
    const auto scores = forest.edge_scores(weights), slopes = forest.edge_scores(direction);
    backs_.clear();
    if (nodes_.size() < static_cast<size_t>(forest.n_nodes())) nodes_.resize(static_cast<size_t>(forest.n_nodes()));
    for (int32_t v = 0; v < forest.n_nodes(); ++v) {
      Envelope& lines = nodes_[static_cast<size_t>(v)];
      lines.clear();
      for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e) {
        partial_.assign(1,
                        {slopes[static_cast<size_t>(e)], scores[static_cast<size_t>(e)], -kInfinity, add({e, 0, 0})});
        for (const int32_t tail : forest.tails(e)) add_tail(nodes_[static_cast<size_t>(tail)]);
        lines.insert(lines.end(), partial_.begin(), partial_.end());
      }
      if (forest.end_edge(v) - forest.first_edge(v) > 1) keep_upper(lines);
    }
    static const Envelope kNone;
    return forest.n_nodes() ? nodes_[static_cast<size_t>(forest.goal())] : kNone;
  }

  // The derivation's edges in pre-order.
  void append_edges(uint32_t back, std::vector<int32_t>& edges) {
    open_.assign(1, back);
    while (!open_.empty()) {
      uint32_t at = open_.back();
      open_.pop_back();
      // The links of an edge give its last tail first, which suits a stack.
      for (; backs_[at].edge < 0; at = backs_[at].before) open_.push_back(backs_[at].tail);
      edges.push_back(backs_[at].edge);
    }
  }

 private:
  struct Back {
    int32_t edge;  // negative: a tail added to `before`
    uint32_t before, tail;
  };

  uint32_t add(const Back& back) {
    backs_.push_back(back);
    return static_cast<uint32_t>(backs_.size() - 1);
  }

  // Adds a tail's envelope to partial_ (a Minkowski sum): the pairs of lines that are best at the same t.
  void add_tail(const Envelope& tail) {
    sum_.clear();
    size_t i = 0, j = 0;
    double from = -kInfinity;
    while (i < partial_.size() && j < tail.size()) {
      const Line &a = partial_[i], &b = tail[j];
      sum_.push_back({a.slope + b.slope, a.score + b.score, from, add({-1, a.back, b.back})});
      const double next_a = i + 1 < partial_.size() ? partial_[i + 1].from : kInfinity;
      const double next_b = j + 1 < tail.size() ? tail[j + 1].from : kInfinity;
      from = std::min(next_a, next_b);
      if (from == kInfinity) break;
      i += next_a == from;
      j += next_b == from;
    }
    partial_.swap(sum_);
  }

  std::vector<Envelope> nodes_;
  std::vector<Back> backs_;
  Envelope partial_, sum_;
  std::vector<uint32_t> open_;
};

// One sentence's lines.
struct Rows {
  std::vector<Line> lines;
  std::vector<int64_t> token_ends, edge_ends;
  std::vector<int32_t> tokens, edges;
};

void find(const std::vector<const Forest*>& forests, std::span<const double> weights, std::span<const double> direction,
          NodeEnvelopes& envelopes, Rows& rows) {
  // Each forest's envelope is written out before the next forest, because its backpointers are then discarded.
  std::vector<std::vector<int32_t>> derivations;
  for (size_t f = 0; f < forests.size(); ++f)
    for (Line line : envelopes.of_goal(*forests[f], weights, direction)) {
      derivations.emplace_back();
      envelopes.append_edges(line.back, derivations.back());
      line.back = static_cast<uint32_t>(derivations.size() - 1);
      line.forest = static_cast<int32_t>(f);
      rows.lines.push_back(line);
    }
  if (forests.size() > 1) keep_upper(rows.lines);
  for (const Line& line : rows.lines) {
    const auto& edges = derivations[line.back];
    append_yield(*forests[static_cast<size_t>(line.forest)], edges, rows.tokens);
    rows.edges.insert(rows.edges.end(), edges.begin(), edges.end());
    rows.token_ends.push_back(static_cast<int64_t>(rows.tokens.size()));
    rows.edge_ends.push_back(static_cast<int64_t>(rows.edges.size()));
  }
}

}  // namespace

EnvelopeLines forest_envelopes(const std::vector<std::vector<const Forest*>>& sentences,
                               std::span<const double> weights, std::span<const double> direction, int n_threads,
                               Control& control) {
  std::vector<Rows> rows(sentences.size());
  std::vector<NodeEnvelopes> envelopes(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(static_cast<int64_t>(sentences.size()), 1, n_threads, control,
                  [&](int64_t begin, int64_t end, int worker) {
                    for (auto s = static_cast<size_t>(begin); s < static_cast<size_t>(end); ++s)
                      find(sentences[s], weights, direction, envelopes[static_cast<size_t>(worker)], rows[s]);
                  });
  EnvelopeLines out;
  for (const Rows& row : rows) {
    const auto first_token = static_cast<int64_t>(out.tokens.size()),
               first_edge = static_cast<int64_t>(out.edges.size());
    for (const Line& line : row.lines) {
      out.from.push_back(line.from);
      out.slopes.push_back(line.slope);
      out.scores.push_back(line.score);
      out.forests.push_back(line.forest);
    }
    for (const int64_t end : row.token_ends) out.token_offsets.push_back(first_token + end);
    for (const int64_t end : row.edge_ends) out.edge_offsets.push_back(first_edge + end);
    out.tokens.insert(out.tokens.end(), row.tokens.begin(), row.tokens.end());
    out.edges.insert(out.edges.end(), row.edges.begin(), row.edges.end());
    out.first.push_back(static_cast<int64_t>(out.from.size()));
  }
  return out;
}

}  // namespace dragoman::forest
