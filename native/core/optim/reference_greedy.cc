// Algorithm 1 of Xiao, Liu, Liu and Lin 2011: from a derivation of the reference, those around it that differ by one
// node taken out (lexicalise) or put in (generalise), and for each rule that is new what may stand in its place.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/at.hh"
#include "core/optim/reference_store.hh"

namespace dragoman::optim {

using forest::ReferenceEdge;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

GreedyCounts& GreedyCounts::operator+=(const GreedyCounts& other) {
  n_lexicalised += other.n_lexicalised;
  n_generalised += other.n_generalised;
  n_moves += other.n_moves;
  n_references += other.n_references;
  n_listed += other.n_listed;
  return *this;
}

// The list of one sentence. A listed derivation is a tree that the walk had then, with a few edges exchanged.
class ReferenceStore::Greedy {
 public:
  // Edges out of a tree and into it.
  struct Change {
    std::vector<int32_t> out, in;
  };
  struct Listed {
    double score;
    Offsets offsets;
    int32_t version;  // of the tree
    Change change;
  };

  Greedy(const ReferenceModel& model, const Tables& tables, std::span<const double> scores, size_t n_nodes,
         std::vector<int32_t>& tree, GreedyCounts& counts)
      : model_(model), tables_(tables), scores_(scores), n_nodes_(n_nodes), tree_(tree), counts_(counts) {
    if (tree_.empty()) start();
    for (const int32_t e : tree_)
      if (e >= 0) score_ += scores_[at(e)];
    first_tree_ = tree_;
    first_score_ = score_;
  }

  void walk() {
    list(score_, {0, 0}, {});
    ++counts_.n_references;
    std::vector<int32_t> order;
    post_order(static_cast<int32_t>(n_nodes_) - 1, order);
    for (const int32_t v : order) {
      if (tree_[at(v)] < 0) continue;  // taken out meanwhile
      list_wrong(score_, v, tree_[at(v)], {});
      visit_children(v);
    }
  }

  const std::vector<Listed>& listed() const { return listed_; }
  const std::vector<Change>& moves() const { return moves_; }
  const std::vector<int32_t>& first_tree() const { return first_tree_; }

 private:
  std::span<const int32_t> tails(int32_t e) const {
    const Edge& edge = tables_.edges[e];
    return {tables_.tails + edge.first_tail, edge.n_tails};
  }
  std::pair<size_t, size_t> edges(int32_t v) const {
    return {tables_.first_edge[v] - tables_.first, tables_.first_edge[v + 1] - tables_.first};
  }

  // The best derivation.
  void start() {
    std::vector<double> best(n_nodes_, kNever);
    std::vector<int32_t> chosen(n_nodes_, -1);
    for (size_t v = 0; v < n_nodes_; ++v) {
      const auto [begin, end] = edges(static_cast<int32_t>(v));
      for (size_t e = begin; e < end; ++e) {
        if (!is_reference(tables_.edges[e].kind)) continue;
        double sum = scores_[e];
        for (const int32_t t : tails(static_cast<int32_t>(e))) sum += best[at(t)];
        if (sum > best[v]) {
          best[v] = sum;
          chosen[v] = static_cast<int32_t>(e);
        }
      }
    }
    tree_.assign(n_nodes_, -1);
    std::vector<int32_t> open{static_cast<int32_t>(n_nodes_) - 1};
    while (!open.empty()) {
      const int32_t v = open.back();
      open.pop_back();
      tree_[at(v)] = chosen[at(v)];
      for (const int32_t t : tails(chosen[at(v)])) open.push_back(t);
    }
  }

  void post_order(int32_t v, std::vector<int32_t>& order) const {
    for (const int32_t t : tails(tree_[at(v)])) post_order(t, order);
    order.push_back(v);
  }

  void list(double score, Offsets offsets, Change change) {
    listed_.push_back({score, offsets, static_cast<int32_t>(moves_.size()), std::move(change)});
    ++counts_.n_listed;
  }

  // What may stand in place of an edge: replacements with the same tails.
  void list_wrong(double score, int32_t v, int32_t e, const Change& change) {
    const auto own = tails(e);
    const auto [begin, end] = edges(v);
    for (size_t c = begin; c < end; ++c) {
      if (is_reference(tables_.edges[c].kind) || !std::ranges::equal(tails(static_cast<int32_t>(c)), own)) continue;
      Change exchanged = change;
      exchanged.out.push_back(e);
      exchanged.in.push_back(static_cast<int32_t>(c));
      list(score - scores_[at(e)] + scores_[c], ReferenceStore::offsets(model_, tables_.edges[c]),
           std::move(exchanged));
    }
  }

  // An edge of the reference with these tails; -1 where there is none.
  int32_t find(int32_t v, std::span<const int32_t> wanted) const {
    const auto [begin, end] = edges(v);
    int32_t best = -1;
    for (size_t e = begin; e < end; ++e)
      if (tables_.edges[e].kind == ReferenceEdge::kReference &&
          std::ranges::equal(tails(static_cast<int32_t>(e)), wanted) && (best < 0 || scores_[e] > scores_[at(best)]))
        best = static_cast<int32_t>(e);
    return best;
  }

  // The children of a node from left to right: nodes of words alone are taken out, words get a node of their own.
  void visit_children(int32_t v) {
    int32_t place = tables_.spans[v].first, run = place;
    while (place < tables_.spans[v].second) {
      const auto own = tails(tree_[at(v)]);
      const auto child = std::find_if(own.begin(), own.end(), [&](int32_t t) {
        return tables_.spans[t].first <= place && place < tables_.spans[t].second;
      });
      if (child != own.end()) {
        const int32_t next = tables_.spans[*child].second;
        place = next;
        if (!lexicalise(v, *child)) run = next;  // else its words are the rule's own now
        continue;
      }
      ++place;
      if (generalise(v, run, place)) run = place;
    }
  }

  // Whether it was moved to.
  bool lexicalise(int32_t v, int32_t child) {
    const int32_t below = tree_[at(child)];
    if (!tails(below).empty()) return false;
    std::vector<int32_t> wanted;
    for (const int32_t t : tails(tree_[at(v)]))
      if (t != child) wanted.push_back(t);
    const int32_t e = find(v, wanted);
    if (e < 0) return false;
    ++counts_.n_lexicalised;
    return consider({{tree_[at(v)], below}, {e}}, {v}, [&] {
      tree_[at(v)] = e;
      tree_[at(child)] = -1;
    });
  }

  // Words `begin` to `end` of a rule under a node of their own; whether it was moved to.
  bool generalise(int32_t v, int32_t begin, int32_t end) {
    if (tables_.spans[v] == std::pair(begin, end)) return false;
    Change best;
    double best_change = kNever;
    int32_t best_child = -1;
    for (int32_t u = 0; u < v; ++u) {
      if (tables_.spans[u] != std::pair(begin, end) || tree_[at(u)] >= 0) continue;
      const int32_t below = find(u, {});
      if (below < 0) continue;
      std::vector<int32_t> wanted(tails(tree_[at(v)]).begin(), tails(tree_[at(v)]).end());
      wanted.insert(
          std::find_if(wanted.begin(), wanted.end(), [&](int32_t t) { return tables_.spans[t].first >= end; }), u);
      const int32_t e = find(v, wanted);
      if (e < 0) continue;
      const double change = scores_[at(e)] + scores_[at(below)];
      if (change > best_change) {
        best_change = change;
        best = {{tree_[at(v)]}, {e, below}};
        best_child = u;
      }
    }
    if (best_child < 0) return false;
    ++counts_.n_generalised;
    return consider(best, {v, best_child}, [&] {
      tree_[at(v)] = best.in[0];
      tree_[at(best_child)] = best.in[1];
    });
  }

  // Lists a derivation of the reference and what may stand in place of its new edges, and moves to it if it is better.
  template <typename Move>
  bool consider(const Change& change, std::span<const int32_t> heads, Move&& move) {
    double score = score_;
    for (const int32_t e : change.out) score -= scores_[at(e)];
    for (const int32_t e : change.in) score += scores_[at(e)];
    list(score, {0, 0}, change);
    ++counts_.n_references;
    for (size_t i = 0; i < change.in.size(); ++i) list_wrong(score, heads[i], change.in[i], change);
    if (!(score > score_)) return false;
    move();
    moves_.push_back(change);
    score_ = score;
    ++counts_.n_moves;
    return true;
  }
  template <typename Move>
  bool consider(const Change& change, std::initializer_list<int32_t> heads, Move&& move) {
    return consider(change, std::span(heads.begin(), heads.size()), std::forward<Move>(move));
  }

  const ReferenceModel& model_;
  const Tables& tables_;
  std::span<const double> scores_;
  size_t n_nodes_;
  std::vector<int32_t>& tree_;
  GreedyCounts& counts_;
  std::vector<int32_t> first_tree_;
  double score_ = 0, first_score_ = 0;
  std::vector<Listed> listed_;
  std::vector<Change> moves_;
};

ReferenceStore::Value ReferenceStore::run_greedy(const ReferenceModel& model, const Sentence& sentence,
                                                 std::span<const double> weights, Scratch& scratch,
                                                 std::vector<int32_t>& derivation, GreedyCounts& counts,
                                                 std::vector<double>& gradient) const {
  const Tables tables = tables_of(sentence);
  score(model, sentence, tables, weights, scratch);
  Greedy greedy(model, tables, scratch.scores, sentence.n_nodes, derivation, counts);
  greedy.walk();
  double best = kNever;
  for (const auto& one : greedy.listed()) best = std::max({best, one.score + one.offsets.denominator, one.score});
  double above = 0, below = 0, references = 0;
  const auto weight = [&](double score) { return score == kNever ? 0.0 : std::exp(score - best); };
  for (const auto& one : greedy.listed()) {
    above += weight(one.score + one.offsets.numerator);
    below += weight(one.score + one.offsets.denominator);
    if (one.offsets.numerator == 0 && one.offsets.denominator == 0) references += weight(one.score);
  }
  // Each tree of the walk has a share, and every listed derivation its exchanged edges.
  scratch.mass.assign(tables.n_edges, 0);
  std::vector<double> trees(greedy.moves().size() + 1, 0);
  for (const auto& one : greedy.listed()) {
    const double share =
        weight(one.score + one.offsets.denominator) / below - weight(one.score + one.offsets.numerator) / above;
    trees[at(one.version)] += share;
    for (const int32_t e : one.change.out) scratch.mass[at(e)] -= share;
    for (const int32_t e : one.change.in) scratch.mass[at(e)] += share;
  }
  double rest = 0;
  for (const double share : trees) rest += share;
  for (const int32_t e : greedy.first_tree())
    if (e >= 0) scratch.mass[at(e)] += rest;
  for (size_t k = 0; k < greedy.moves().size(); ++k) {
    rest -= trees[k];
    for (const int32_t e : greedy.moves()[k].out) scratch.mass[at(e)] -= rest;
    for (const int32_t e : greedy.moves()[k].in) scratch.mass[at(e)] += rest;
  }
  gradient.assign(sentence.n_ids, 0);
  add_features(tables, scratch.mass, gradient);
  return {std::log(below) - std::log(above), references / below};
}

ReferenceStore::Value ReferenceStore::greedy_gradient(const ReferenceModel& model, int64_t sentence,
                                                      std::span<const double> weights, std::vector<int32_t>& derivation,
                                                      GreedyCounts& counts, std::vector<double>& out) const {
  check(std::span(&sentence, 1));
  if (static_cast<int64_t>(weights.size()) != n_features_)
    throw std::invalid_argument("a weight for each feature expected");
  const Sentence& own = sentences_[at(sentence)];
  if (!derivation.empty() && derivation.size() != own.n_nodes)
    throw std::invalid_argument("the derivation is of another sentence");
  const Tables tables = tables_of(own);
  for (size_t v = 0; v < derivation.size(); ++v)
    if (const int32_t e = derivation[v];
        e != -1 && (e < static_cast<int64_t>(tables.first_edge[v] - tables.first) ||
                    e >= static_cast<int64_t>(tables.first_edge[v + 1] - tables.first)))
      throw std::invalid_argument("the derivation is of another sentence");
  Scratch scratch;
  return run_greedy(model, own, weights, scratch, derivation, counts, out);
}

}  // namespace dragoman::optim
