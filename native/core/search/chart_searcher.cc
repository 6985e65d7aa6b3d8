#include "core/search/chart_searcher.hh"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include "core/base/at.hh"
#include "core/grammar/key.hh"

namespace dragoman::search {

namespace {

// What the language model is expected to change of the estimates of a candidate's neighbours, from what it changed of
// its own: all that was gained, some of what was lost. Without this, half as many candidates again are scored for the
// same mean model score.
double expected(double change) { return change > 0 ? change : 0.4 * change; }

uint32_t count(size_t n) { return static_cast<uint32_t>(n); }

}  // namespace

ChartSearcher::ChartSearcher(const ChartModel& model)
    : model_(model),
      lm_weight_(model.weight(model.features.lm)),
      lm_(model.lm == nullptr ? nullptr : std::make_unique<lm::Pieces>(*model.lm)),
      rules_(model, lm_.get()),
      slots_(1 << 10) {}

forest::Forest ChartSearcher::run(const RuleBatch& batch, int64_t sentence, const Control& control) {
  start(batch, sentence);
  if (n_words_ == 0) return empty_sentence();
  fill_chart(control);
  glue();
  return build_forest();
}

void ChartSearcher::start(const RuleBatch& batch, int64_t sentence) {
  rules_.start(batch, sentence);
  words_ = batch.words[sentence];
  n_words_ = static_cast<int32_t>(words_.size());
  max_span_ = std::min(n_words_, model_.settings.max_span);
  nodes_.clear();
  edges_.clear();
  edge_tails_.clear();
  items_.clear();
  labels_.clear();
  spans_.assign(at(n_words_) * at(max_span_), {0, 0});
  rows_.assign(at(n_words_) + 1, {});
  if (pending_.size() <= at(n_words_)) pending_.resize(at(n_words_) + 1);
}

void ChartSearcher::fill_chart(const Control& control) {
  for (begin_ = n_words_ - 1; begin_ >= 0; --begin_) {
    control.check();
    limit_ = std::min(n_words_, begin_ + max_span_);
    for (auto& list : pending_) list.clear();
    tails_.clear();
    open_tails_.clear();
    ends_.clear();
    if (const uint32_t first = rules_.child(rules_.node(0), words_[at(begin_)])) match(first, begin_ + 1);
    if (rules_.needs_pass(begin_)) {
      const uint32_t pass = rules_.pass(begin_);
      for (const int32_t label : model_.labels.unknown) pending_[at(begin_) + 1].push_back({label, {pass, 1, 0, 0}});
    }
    for (int32_t end = begin_ + 1; end <= limit_; ++end) {
      finish_span(begin_, end);
      const ChartRules::TrieNode root = rules_.node(0);
      for (uint32_t c = root.first_child; c < root.first_child + root.n_nonterminals; ++c) {
        const NodeList nodes = find(begin_, end, grammar::symbol_label(rules_.node(c).symbol));
        if (nodes.size == 0) continue;
        open_tails_.push_back(nodes);
        ends_.assign(1, end);
        extend(c, end);
        open_tails_.pop_back();
      }
    }
  }
}

void ChartSearcher::match(uint32_t trie_node, int32_t end) {
  ends_.push_back(end);
  if (const int32_t pattern = rules_.node(trie_node).pattern; pattern >= 0) {
    const uint32_t first_tail = count(tails_.size()), n_tails = count(open_tails_.size());
    tails_.insert(tails_.end(), open_tails_.begin(), open_tails_.end());
    for (const ChartRules::Group& group : rules_.groups(pattern, begin_, ends_))
      pending_[at(end)].push_back({group.lhs, {group.first, group.size, first_tail, n_tails}});
  }
  extend(trie_node, end);
  ends_.pop_back();
}

void ChartSearcher::extend(uint32_t trie_node, int32_t end) {
  const ChartRules::TrieNode node = rules_.node(trie_node);
  if (end == limit_ || node.n_children == 0) return;
  if (const uint32_t next = rules_.child(node, words_[at(end)])) match(next, end + 1);
  for (uint32_t c = node.first_child; c < node.first_child + node.n_nonterminals; ++c)
    for (int32_t next = end + 1; next <= limit_; ++next) {
      const NodeList nodes = find(end, next, grammar::symbol_label(rules_.node(c).symbol));
      if (nodes.size == 0) continue;
      open_tails_.push_back(nodes);
      match(c, next);
      open_tails_.pop_back();
    }
}

ChartSearcher::NodeList ChartSearcher::find(int32_t begin, int32_t end, int32_t label) const {
  if (end - begin > max_span_) return {};
  const auto [first, size] = spans_[at(begin) * at(max_span_) + at(end - begin - 1)];
  const auto* from = labels_.data() + first;
  const auto* found = std::lower_bound(from, from + size, label,
                                       [](const auto& entry, int32_t wanted) { return entry.first < wanted; });
  return found != from + size && found->first == label ? found->second : NodeList{};
}

void ChartSearcher::finish_span(int32_t begin, int32_t end) {
  auto& pending = pending_[at(end)];
  const auto by_label = [](const Pending& a, const Pending& b) { return a.lhs < b.lhs; };
  std::stable_sort(pending.begin(), pending.end(), by_label);
  const size_t first = labels_.size();
  for (const int32_t label : rules_.label_order()) {
    cubes_.clear();
    const auto [from, to] = std::equal_range(pending.begin(), pending.end(), Pending{label, {}}, by_label);
    for (auto it = from; it != to; ++it) cubes_.push_back(it->cube);
    for (const ChartRules::Unary& unary : rules_.unaries(label))
      for (size_t i = first; i < labels_.size(); ++i) {
        if (labels_[i].first != unary.from) continue;
        for (const ChartRules::Group& group : rules_.groups(unary.pattern, begin, std::span(&end, 1)))
          if (group.lhs == label) cubes_.push_back({group.first, group.size, count(tails_.size()), 1});
        tails_.push_back(labels_[i].second);
      }
    if (!cubes_.empty()) labels_.emplace_back(label, search(label, {begin, end}, false));
  }
  std::sort(labels_.begin() + static_cast<std::ptrdiff_t>(first), labels_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  spans_[at(begin) * at(max_span_) + at(end - begin - 1)] = {count(first), count(labels_.size() - first)};
}

void ChartSearcher::glue() {
  const ChartLabels& labels = model_.labels;
  for (int32_t end = 1; end <= n_words_; ++end) {
    cubes_.clear();
    tails_.clear();
    const auto first = [&](int32_t label) {
      const NodeList nodes = find(0, end, label);
      if (nodes.size == 0) return;
      cubes_.push_back({rules_.first_item(), 1, count(tails_.size()), 1});
      tails_.push_back(nodes);
    };
    for (const int32_t label : labels.glue) first(label);
    if (!std::binary_search(labels.glue.begin(), labels.glue.end(), labels.goal)) first(labels.goal);
    for (int32_t middle = std::max(1, end - max_span_); middle < end; ++middle) {
      if (rows_[at(middle)].size == 0) continue;
      for (const int32_t label : labels.glue) {
        const NodeList nodes = find(middle, end, label);
        if (nodes.size == 0) continue;
        cubes_.push_back({rules_.glue(), 1, count(tails_.size()), 2});
        tails_.insert(tails_.end(), {rows_[at(middle)], nodes});
      }
    }
    if (!cubes_.empty()) rows_[at(end)] = search(labels.goal, {0, end}, end == n_words_);
  }
}

// ---- cube pruning

// The ranks were put at the end of ranks_.
void ChartSearcher::push(uint32_t cube_id, double change) {
  const Cube& cube = cubes_[cube_id];
  const uint32_t first_rank = count(ranks_.size()) - 1 - cube.n_tails;
  const uint32_t* ranks = ranks_.data() + first_rank;
  const ChartRules::Choice& choice = rules_.choice(cube.first_choice + ranks[0]);
  const ChartRule& rule = rules_.rule(choice);
  double rest = choice.extra;
  for (uint32_t t = 0; t < cube.n_tails; ++t) rest += nodes_[tails_[cube.first_tail + t].first + ranks[t + 1]].score;
  heap_.push(rest + rule.estimate + change, count(candidates_.size()));
  candidates_.push_back({cube_id, first_rank, {}, 0, false, rest + rule.local, rest + rule.estimate});
}

// Those that differ in one place by one rank. Each is reached once: from the one that is smaller in its last place
// that is not zero.
void ChartSearcher::push_next(uint32_t id, double change) {
  const uint32_t cube_id = candidates_[id].cube, first_rank = candidates_[id].first_rank;
  const Cube& cube = cubes_[cube_id];
  const auto rank = [&](uint32_t i) { return ranks_[first_rank + i]; };
  uint32_t last = cube.n_tails;
  while (last > 0 && rank(last) == 0) --last;
  for (uint32_t i = last; i <= cube.n_tails; ++i) {
    const uint32_t size = i == 0 ? cube.n_choices : tails_[cube.first_tail + i - 1].size;
    if (rank(i) + 1 >= size) continue;
    for (uint32_t j = 0; j <= cube.n_tails; ++j) ranks_.push_back(rank(j) + (i == j ? 1 : 0));
    push(cube_id, change);
  }
}

void ChartSearcher::score(Candidate& candidate, bool is_end) {
  const Cube& cube = cubes_[candidate.cube];
  const uint32_t* ranks = ranks_.data() + candidate.first_rank;
  const ChartRule& rule = rules_.rule(rules_.choice(cube.first_choice + ranks[0]));
  lm::Piece piece = rule.lead;
  if (lm_)
    for (const int32_t symbol : rules_.symbols(rule).subspan(rule.n_lead)) {
      if (symbol >= 0) {
        lm_->word(piece, static_cast<uint32_t>(symbol));
      } else {
        const auto t = static_cast<uint32_t>(forest::tail_slot(symbol));
        lm_->add(piece, nodes_[tails_[cube.first_tail + t].first + ranks[t + 1]].state);
      }
    }
  candidate.state = piece.state;
  candidate.is_scored = true;
  candidate.lm = static_cast<float>(piece.score);
  candidate.score += lm_weight_ * piece.score;
  candidate.key = candidate.score;
  if (!is_end || !lm_) return;
  lm::State unused;
  candidate.key += lm_weight_ * static_cast<double>(lm_->score(piece.state.right, lm::kEos, unused));
}

ChartSearcher::NodeList ChartSearcher::search(int32_t label, forest::Forest::Span span, bool is_end) {
  heap_.clear();
  candidates_.clear();
  ranks_.clear();
  new_nodes_.clear();
  ++stamp_;
  for (uint32_t c = 0; c < cubes_.size(); ++c) {
    ranks_.resize(ranks_.size() + 1 + cubes_[c].n_tails);
    push(c, 0);
  }
  const int64_t pop_limit = int64_t{model_.settings.pop_limit} * std::min(span.end - span.begin, max_span_);
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t n_taken = 0; n_taken < pop_limit && !heap_.empty();) {
    const uint32_t id = heap_.top();
    if (!candidates_[id].is_scored) {
      const double estimate = candidates_[id].key;
      score(candidates_[id], is_end);
      heap_.replace_top(candidates_[id].key);
      push_next(id, expected(candidates_[id].score - estimate));
      continue;
    }
    heap_.pop();
    ++n_taken;
    best = std::max(best, candidates_[id].key);
    if (candidates_[id].key < best - model_.settings.beam) break;
    take(candidates_[id]);
  }
  std::sort(new_nodes_.begin(), new_nodes_.end(), [](const NewNode& a, const NewNode& b) {
    return std::tuple(-a.score, a.last_edge) < std::tuple(-b.score, b.last_edge);
  });
  const NodeList list{count(nodes_.size()), count(new_nodes_.size())};
  for (const NewNode& node : new_nodes_) nodes_.push_back({node.score, node.last_edge, node.state});
  items_.push_back({label, span, list});
  return list;
}

void ChartSearcher::take(const Candidate& candidate) {
  const Cube& cube = cubes_[candidate.cube];
  const uint32_t* ranks = ranks_.data() + candidate.first_rank;
  NewNode& node = new_nodes_[recombine(candidate.state)];
  node.score = std::max(node.score, candidate.score);
  const auto edge = static_cast<int32_t>(edges_.size());
  edges_.push_back({node.last_edge, cube.first_choice + ranks[0], count(edge_tails_.size()), candidate.lm});
  node.last_edge = edge;
  for (uint32_t t = 0; t < cube.n_tails; ++t) edge_tails_.push_back(tails_[cube.first_tail + t].first + ranks[t + 1]);
}

// The new node with this state.
uint32_t ChartSearcher::recombine(lm::PieceState state) {
  if (2 * new_nodes_.size() >= slots_.size()) {
    slots_.assign(2 * slots_.size(), {});
    for (uint32_t i = 0; i < new_nodes_.size(); ++i) {
      size_t slot = new_nodes_[i].state.hash() & (slots_.size() - 1);
      while (slots_[slot].stamp == stamp_) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = {stamp_, i};
    }
  }
  size_t slot = state.hash() & (slots_.size() - 1);
  for (; slots_[slot].stamp == stamp_; slot = (slot + 1) & (slots_.size() - 1))
    if (new_nodes_[slots_[slot].node].state == state) return slots_[slot].node;
  slots_[slot] = {stamp_, count(new_nodes_.size())};
  new_nodes_.push_back({-std::numeric_limits<double>::infinity(), -1, state});
  return slots_[slot].node;
}

// ---- the result

forest::Forest ChartSearcher::empty_sentence() const {
  forest::Forest forest;
  std::vector<forest::Feature> features;
  if (model_.lm != nullptr && model_.features.lm >= 0) {
    lm::State unused;
    features.push_back({model_.features.lm, model_.lm->score(model_.lm->begin_state(), lm::kEos, unused)});
  }
  const std::vector<int32_t> symbols{forest::kBosWord, forest::kEosWord};
  const int32_t instance = forest.add_instance({-1, {0, 0}}, symbols, {});
  forest.add_node({model_.labels.goal, {0, 0}, 0});
  forest.add_edge(instance, {}, features);
  return forest;
}

forest::Forest ChartSearcher::build_forest() const {
  forest::Forest forest;
  const NodeList whole = rows_[at(n_words_)];
  if (whole.size == 0) return forest;
  const auto n_tails = [&](size_t edge) {
    return (edge + 1 < edges_.size() ? edges_[edge + 1].first_tail : edge_tails_.size()) - edges_[edge].first_tail;
  };
  std::vector<char> is_needed(nodes_.size());
  std::fill_n(is_needed.begin() + whole.first, whole.size, 1);
  for (size_t v = nodes_.size(); v-- > 0;) {
    if (!is_needed[v]) continue;
    for (int32_t e = nodes_[v].last_edge; e >= 0; e = edges_[at(e)].next)
      for (size_t t = 0; t < n_tails(at(e)); ++t) is_needed[edge_tails_[edges_[at(e)].first_tail + t]] = 1;
  }
  std::vector<forest::Feature> features;
  std::vector<int32_t> symbols, chain, tails, node_of(nodes_.size(), -1);
  // A rule's instance at the span of the item whose edges are being added.
  std::vector<int32_t> instance_of(rules_.n_choices(), -1);
  const auto add_instance = [&](const ChartRules::Choice& choice, forest::Forest::Span span) {
    const ChartRule& rule = rules_.rule(choice);
    symbols.clear();
    features.clear();
    rules_.append_target(rule, symbols);
    rules_.append_features(choice, features);
    return forest.add_instance({rules_.grammar_id(rule), span}, symbols, features);
  };
  const auto add_lm = [&](float lm) {
    features.clear();
    if (model_.features.lm >= 0 && lm != 0) features.push_back({model_.features.lm, lm});
  };
  for (const Item& item : items_)
    for (uint32_t v = item.nodes.first; v < item.nodes.first + item.nodes.size; ++v) {
      if (!is_needed[v]) continue;
      node_of[v] = forest.add_node({item.label, item.span, item.span.end - item.span.begin});
      chain.clear();
      for (int32_t e = nodes_[v].last_edge; e >= 0; e = edges_[at(e)].next) chain.push_back(e);
      std::reverse(chain.begin(), chain.end());  // in the order they were found
      for (const int32_t e : chain) {
        const Edge& edge = edges_[at(e)];
        int32_t& instance = instance_of[edge.choice];
        if (instance < 0 || forest.instance(instance).span != item.span)
          instance = add_instance(rules_.choice(edge.choice), item.span);
        tails.clear();
        for (size_t t = 0; t < n_tails(at(e)); ++t) tails.push_back(node_of[edge_tails_[edge.first_tail + t]]);
        add_lm(edge.lm);
        forest.add_edge(instance, tails, features);
      }
    }
  const int32_t end = add_instance(rules_.choice(rules_.end()), {0, n_words_});
  forest.add_node({model_.labels.goal, {0, n_words_}, n_words_});
  for (uint32_t v = whole.first; v < whole.first + whole.size; ++v) {
    lm::State unused;
    add_lm(model_.lm == nullptr ? 0 : model_.lm->score(nodes_[v].state.right, lm::kEos, unused));
    forest.add_edge(end, std::span(&node_of[v], 1), features);
  }
  return forest;
}

}  // namespace dragoman::search
