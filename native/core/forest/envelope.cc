#include "core/forest/envelope.hh"

#include <algorithm>

#include "core/base/hull.hh"
#include "core/base/parallel.hh"
#include "core/forest/kbest.hh"
#include "core/forest/node_envelope.hh"

namespace dragoman::forest {

namespace {

// A line of a sentence: of one derivation of one of its forests.
struct Line {
  double slope, score, from;
  size_t derivation;
  int32_t forest;
};

// Keeps only the lines on the upper envelope; of equal lines the first.
void keep_upper(std::vector<Line>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.slope < b.slope; });
  size_t n = 0;
  for (const Line& next : lines) n = add_to_hull(lines.data(), n, next);
  lines.resize(n);
}

// One sentence's lines.
struct Rows {
  std::vector<Line> lines;
  std::vector<int64_t> token_ends, edge_ends;
  std::vector<int32_t> tokens, edges;
};

void find(const std::vector<const Forest*>& forests, std::span<const double> weights, std::span<const double> direction,
          NodeEnvelopes& envelopes, const Control& control, Rows& rows) {
  // Each forest's derivations are written out before the next forest, which takes the space of its nodes.
  std::vector<std::vector<int32_t>> derivations;
  for (size_t f = 0; f < forests.size(); ++f) {
    const auto lines = envelopes.of_goal(*forests[f], weights, direction, control);
    for (size_t i = 0; i < lines.size(); ++i) {
      control.check();
      rows.lines.push_back(
          {lines[i].slope, lines[i].score, lines[i].from, derivations.size(), static_cast<int32_t>(f)});
      envelopes.append_edges(*forests[f], i, derivations.emplace_back());
    }
  }
  if (forests.size() > 1) keep_upper(rows.lines);
  for (const Line& line : rows.lines) {
    control.check();
    const auto& edges = derivations[line.derivation];
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
                      find(sentences[s], weights, direction, envelopes[static_cast<size_t>(worker)], control, rows[s]);
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
