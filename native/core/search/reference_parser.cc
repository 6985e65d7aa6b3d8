#include "core/search/reference_parser.hh"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/at.hh"
#include "core/grammar/key.hh"

namespace dragoman::search {

using forest::ReferenceEdge;

namespace {

constexpr uint32_t kNoChoice = std::numeric_limits<uint32_t>::max();
constexpr int32_t kMaxFree = 16;  // unaligned target words at either end of a span

uint32_t count(size_t n) { return static_cast<uint32_t>(n); }

}  // namespace

ReferenceParser::ReferenceParser(const ChartModel& model, const ReferenceSettings& settings)
    : model_(model),
      settings_(settings),
      lm_(model.lm == nullptr ? nullptr : std::make_unique<lm::Pieces>(*model.lm)),
      minimal_lm_(model.lm == nullptr ? nullptr : std::make_unique<lm::Pieces>(*model.lm)),
      rules_(model, lm_.get()),
      minimal_rules_(model, minimal_lm_.get()),
      text_(model.lm, model.lm_words) {}

void ReferenceParser::run(const RuleBatch& batch, const RuleBatch* minimal, int64_t sentence,
                          std::span<const int32_t> target, std::span<const align::Link> links, const Control& control,
                          forest::ReferenceForests& out) {
  start(batch, minimal, sentence, target, links);
  if (n_words_ > 0 && n_target_ > 0) {
    fill_chart(control);
    glue();
  }
  write(out);
}

void ReferenceParser::start(const RuleBatch& batch, const RuleBatch* minimal, int64_t sentence,
                            std::span<const int32_t> target, std::span<const align::Link> links) {
  batch_ = &batch;
  minimal_ = minimal;
  words_ = batch.words[sentence];
  reference_ = target;
  n_words_ = static_cast<int32_t>(words_.size());
  n_target_ = static_cast<int32_t>(target.size());
  max_span_ = std::min(n_words_, model_.settings.max_span);
  rules_.start(batch, sentence);
  if (has_minimal()) minimal_rules_.start(*minimal, sentence);
  nodes_.clear();
  edges_.clear();
  tails_.clear();
  spans_.assign(at(n_words_) * (at(n_words_) + 1), {});
  rows_.assign(at(n_words_) + 1, {});
  if (pending_.size() <= at(n_words_)) pending_.resize(at(n_words_) + 1);
  if (targets_.size() <= at(n_words_)) targets_.resize(at(n_words_) + 1);
  if (settings_.wide) matches_.assign(spans_.size(), {});

  links_.assign(n_words_, n_target_, links);
  free_before_.assign(at(n_target_) + 1, 0);
  free_after_.assign(at(n_target_) + 1, 0);
  for (int32_t t = 0; t < n_target_; ++t)
    free_before_[at(t) + 1] = links_.has_target(t) ? 0 : std::min(kMaxFree, free_before_[at(t)] + 1);
  for (int32_t t = n_target_ - 1; t >= 0; --t)
    free_after_[at(t)] = links_.has_target(t) ? 0 : std::min(kMaxFree, free_after_[at(t) + 1] + 1);

  tree_.clear();
  if (settings_.holes || has_minimal()) trees_.build(n_words_, n_target_, links, tree_);
  tree_children_.assign(tree_.size(), {});
  node_of_tree_.assign(tree_.size(), -1);
  for (size_t i = 0; i < tree_.size(); ++i)
    if (tree_[i].parent >= 0) tree_children_[at(tree_[i].parent)].push_back(static_cast<int32_t>(i));

  text_.start(reference_);
}

// ---- the chart

// Of every span from `begin` on the target spans that the alignment allows.
void ReferenceParser::find_targets(int32_t begin) {
  int32_t low = n_target_, high = -1;
  for (int32_t end = begin + 1; end <= limit_; ++end) {
    low = std::min(low, links_.low[at(end) - 1]);
    high = std::max(high, links_.high[at(end) - 1]);
    auto& found = targets_[at(end)];
    found.clear();
    if (high < 0) continue;
    if (links_.of_target(low, high + 1) != links_.of_source(begin, end)) continue;
    if (settings_.tight) {
      if (links_.has_source(begin) && links_.has_source(end - 1)) found.push_back({low, high + 1});
      continue;
    }
    for (int32_t before = 0; before <= free_before_[at(low)]; ++before)
      for (int32_t after = 0; after <= free_after_[at(high) + 1]; ++after)
        found.push_back({low - before, high + 1 + after});
  }
}

void ReferenceParser::fill_chart(const Control& control) {
  for (begin_ = n_words_ - 1; begin_ >= 0; --begin_) {
    control.check();
    limit_ = std::min(n_words_, begin_ + max_span_);
    for (int32_t end = begin_ + 1; end <= limit_; ++end) pending_[at(end)].clear();
    find_targets(begin_);
    open_tails_.clear();
    ends_.clear();
    if (const uint32_t first = rules_.child(rules_.node(0), words_[at(begin_)])) match(first, begin_ + 1);
    if (rules_.needs_pass(begin_)) {
      const uint32_t pass = rules_.pass(begin_);
      std::vector<int32_t> word;
      rules_.append_target(rules_.rule(rules_.choice(pass)), word);
      for (const Range& target : targets_[at(begin_) + 1])
        if (fits(word, {}, target))
          for (const int32_t label : model_.labels.unknown)
            pending_[at(begin_) + 1].push_back(
                {target, label, {0, ReferenceEdge::kReference, pass, pass, 0, count(tails_.size()), 0}});
    }
    for (int32_t end = begin_ + 1; end <= limit_; ++end) {
      finish_span(end);
      const NodeList here = nodes_of(begin_, end);
      if (here.size == 0) continue;
      const ChartRules::TrieNode root = rules_.node(0);
      for (uint32_t c = root.first_child; c < root.first_child + root.n_nonterminals; ++c) {
        const NodeList nodes = with_label(here, grammar::symbol_label(rules_.node(c).symbol));
        if (nodes.size == 0) continue;
        open_tails_.assign(1, nodes);
        ends_.assign(1, end);
        extend(c, end);
      }
      open_tails_.clear();
    }
  }
  // Minimal phrase pairs that are longer than rules may be.
  for (size_t i = 0; i < tree_.size(); ++i)
    if (node_of_tree_[i] < 0) add_tree_node(i);
}

void ReferenceParser::match(uint32_t trie_node, int32_t end) {
  ends_.push_back(end);
  if (const int32_t pattern = rules_.node(trie_node).pattern; pattern >= 0) complete(pattern, end);
  extend(trie_node, end);
  ends_.pop_back();
}

void ReferenceParser::extend(uint32_t trie_node, int32_t end) {
  const ChartRules::TrieNode node = rules_.node(trie_node);
  if (end == limit_ || node.n_children == 0) return;
  if (const uint32_t next = rules_.child(node, words_[at(end)])) match(next, end + 1);
  for (uint32_t c = node.first_child; c < node.first_child + node.n_nonterminals; ++c)
    for (int32_t next = end + 1; next <= limit_; ++next) {
      const NodeList nodes = with_label(nodes_of(end, next), grammar::symbol_label(rules_.node(c).symbol));
      if (nodes.size == 0) continue;
      open_tails_.push_back(nodes);
      match(c, next);
      open_tails_.pop_back();
    }
}

ReferenceParser::NodeList ReferenceParser::with_label(NodeList nodes, int32_t label) const {
  // Nodes of a span are in the order of their labels.
  while (nodes.size > 0 && nodes_[at(nodes.first)].label != label) ++nodes.first, --nodes.size;
  while (nodes.size > 0 && nodes_[at(nodes.first + nodes.size - 1)].label != label) --nodes.size;
  return nodes;
}

// A source side matches from begin_ to `end`: all ways to choose target spans of its nonterminals.
void ReferenceParser::complete(int32_t pattern, int32_t end) {
  if (targets_[at(end)].empty()) return;
  const auto groups = rules_.groups(pattern, begin_, ends_);
  chosen_.assign(open_tails_.size(), 0);
  for (size_t t = 0; t < chosen_.size(); ++t) chosen_[t] = open_tails_[t].first;
  for (bool is_first = true;; is_first = false) {
    const uint32_t first_tail = count(tails_.size());
    bool is_used = false;
    if (settings_.wide && is_first)
      for (const ChartRules::Group& group : groups) {
        matches_[at(begin_) * (at(n_words_) + 1) + at(end)].push_back(
            {group.lhs, group.first, group.size, first_tail, count(chosen_.size())});
        is_used = true;
      }
    Range around{n_target_, 0};
    for (const int32_t node : chosen_) {
      around.begin = std::min(around.begin, nodes_[at(node)].target.begin);
      around.end = std::max(around.end, nodes_[at(node)].target.end);
    }
    for (const Range& target : targets_[at(end)]) {
      if (target.begin > around.begin || target.end < around.end) continue;
      for (const ChartRules::Group& group : groups)
        for (uint32_t c = group.first; c < group.first + group.size; ++c) {
          const int64_t place = rules_.rule(rules_.choice(c)).place;
          if (!fits(batch_->targets[place], chosen_, target)) continue;
          pending_[at(end)].push_back(
              {target,
               group.lhs,
               {0, ReferenceEdge::kReference, c, group.first, group.size, first_tail, count(chosen_.size())}});
          is_used = true;
        }
    }
    if (is_used) tails_.insert(tails_.end(), chosen_.begin(), chosen_.end());
    size_t t = 0;
    while (t < chosen_.size() && ++chosen_[t] == open_tails_[t].first + open_tails_[t].size) {
      chosen_[t] = open_tails_[t].first;
      ++t;
    }
    if (t == chosen_.size()) return;
  }
}

bool ReferenceParser::fits(std::span<const int32_t> symbols, std::span<const int32_t> tails, Range target) const {
  int32_t place = target.begin;
  for (const int32_t symbol : symbols) {
    if (symbol < 0) {
      const Range& inner = nodes_[at(tails[at(forest::tail_slot(symbol))])].target;
      if (inner.begin != place) return false;
      place = inner.end;
    } else {
      if (place >= target.end || reference_[at(place)] != symbol) return false;
      ++place;
    }
  }
  return place == target.end;
}

bool ReferenceParser::has_same_words(std::span<const int32_t> symbols, std::span<const int32_t> tails,
                                     Range target) const {
  int32_t place = target.begin;
  const auto take = [&](int32_t word) { return place < target.end && reference_[at(place++)] == word; };
  for (const int32_t symbol : symbols) {
    if (symbol >= 0) {
      if (!take(symbol)) return false;
      continue;
    }
    const Range& inner = nodes_[at(tails[at(forest::tail_slot(symbol))])].target;
    for (int32_t t = inner.begin; t < inner.end; ++t)
      if (!take(reference_[at(t)])) return false;
  }
  return place == target.end;
}

void ReferenceParser::finish_span(int32_t end) {
  auto& pending = pending_[at(end)];
  const auto key = [](const Pending& p) { return std::tuple(p.label, p.target.begin, p.target.end); };
  std::stable_sort(pending.begin(), pending.end(), [&](const Pending& a, const Pending& b) { return key(a) < key(b); });
  const auto first = static_cast<int32_t>(nodes_.size());
  const Range source{begin_, end};
  for (Pending& p : pending) {
    if (at(first) == nodes_.size() || nodes_.back().label != p.label || nodes_.back().target != p.target)
      nodes_.push_back({p.label, source, p.target});
    p.edge.head = static_cast<int32_t>(nodes_.size()) - 1;
    edges_.push_back(p.edge);
    update_reach(p.edge);
  }
  auto& list = spans_[at(begin_) * (at(n_words_) + 1) + at(end)];
  list = {first, static_cast<int32_t>(nodes_.size()) - first};
  if (!tree_.empty()) add_tree_nodes(source);
}

// What an edge of the reference says of its node.
void ReferenceParser::update_reach(const Edge& edge) {
  const auto tails = tails_of(edge);
  const auto all = [&](bool Node::* is) {
    return std::all_of(tails.begin(), tails.end(), [&](int32_t t) { return nodes_[at(t)].*is; });
  };
  Node& head = nodes_[at(edge.head)];
  if (edge.kind == ReferenceEdge::kHole) return;
  if (all(&Node::is_grammatical)) head.is_grammatical = true;
  if (edge.table == Table::kChart && all(&Node::is_charted)) head.is_charted = true;
}

// ---- the minimal tree

void ReferenceParser::add_tree_nodes(Range source) {
  for (size_t i = 0; i < tree_.size(); ++i)
    if (Range{tree_[i].source_begin, tree_[i].source_end} == source) add_tree_node(i);
}

// A node gets its minimal rule, where the grammar has it and the chart did not match it; one that no rule makes is a
// hole.
void ReferenceParser::add_tree_node(size_t tree_node) {
  const align::TreeNode& node = tree_[tree_node];
  const Range source{node.source_begin, node.source_end}, target{node.target_begin, node.target_end};
  const int32_t label = model_.labels.glue.empty() ? 0 : model_.labels.glue.front();
  auto& list = spans_[at(source.begin) * (at(n_words_) + 1) + at(source.end)];
  int32_t v = -1;
  for (int32_t known = list.first; known < list.first + list.size; ++known)
    if (nodes_[at(known)].label == label && nodes_[at(known)].target == target) v = known;
  const bool is_new = v < 0;
  if (is_new) v = static_cast<int32_t>(nodes_.size());
  const uint32_t first_tail = count(tails_.size());
  for (const int32_t child : tree_children_[tree_node]) {
    if (node_of_tree_[at(child)] < 0) {  // there are no holes
      tails_.resize(first_tail);
      if (!is_new) node_of_tree_[tree_node] = v;
      return;
    }
    tails_.push_back(node_of_tree_[at(child)]);
  }
  const size_t n_edges = edges_.size();
  if (has_minimal()) add_minimal_rules(tree_node, v, first_tail);
  if (is_new && edges_.size() == n_edges) {
    if (!settings_.holes) {
      tails_.resize(first_tail);
      return;
    }
    edges_.push_back(
        {v, ReferenceEdge::kHole, kNoChoice, kNoChoice, 0, first_tail, count(tree_children_[tree_node].size())});
  }
  node_of_tree_[tree_node] = v;
  if (is_new) nodes_.push_back({label, source, target});
  for (size_t e = n_edges; e < edges_.size(); ++e) update_reach(edges_[e]);
  if (!is_new) return;
  // Nodes of a span follow each other in the order of their labels; a hole that would break it is for other holes only.
  if (list.size == 0)
    list = {v, 1};
  else if (list.first + list.size == v && nodes_[at(v) - 1].label == label)
    ++list.size;
}

int32_t ReferenceParser::minimal_pattern(size_t tree_node, std::vector<int32_t>& ends) const {
  const align::TreeNode& whole = tree_[tree_node];
  uint32_t node = 0;
  int32_t place = whole.source_begin;
  const auto take_words = [&](int32_t end) {
    for (; place < end; ++place) {
      node = minimal_rules_.child(minimal_rules_.node(node), words_[at(place)]);
      if (node == 0) return false;
      ends.push_back(place + 1);
    }
    return true;
  };
  const int32_t label = model_.labels.glue.empty() ? 0 : model_.labels.glue.front();
  for (const int32_t child : tree_children_[tree_node]) {
    if (!take_words(tree_[at(child)].source_begin)) return -1;
    const ChartRules::TrieNode& here = minimal_rules_.node(node);
    node = 0;
    for (uint32_t c = here.first_child; c < here.first_child + here.n_nonterminals; ++c)
      if (grammar::symbol_label(minimal_rules_.node(c).symbol) == label) node = c;
    if (node == 0) return -1;
    place = tree_[at(child)].source_end;
    ends.push_back(place);
  }
  if (!take_words(whole.source_end)) return -1;
  return minimal_rules_.node(node).pattern;
}

// Edges by the minimal rule of a tree's node, unless the chart has them; `head` is its node, which may be new.
void ReferenceParser::add_minimal_rules(size_t tree_node, int32_t head, uint32_t first_tail) {
  const align::TreeNode& node = tree_[tree_node];
  ends_of_tree_.clear();
  const int32_t pattern = minimal_pattern(tree_node, ends_of_tree_);
  if (pattern < 0) return;
  const Range target{node.target_begin, node.target_end};
  const std::span<const int32_t> tails(tails_.data() + first_tail, tree_children_[tree_node].size());
  const int32_t label = model_.labels.glue.empty() ? 0 : model_.labels.glue.front();
  const auto is_known = [&](int64_t rule) {
    for (size_t e = edges_.size(); e-- > 0 && edges_[e].head >= head;) {
      const Edge& edge = edges_[e];
      if (edge.head == head && edge.kind == ReferenceEdge::kReference && edge.table == Table::kChart &&
          rules_.grammar_id(rules_.rule(rules_.choice(edge.choice))) == rule &&
          std::ranges::equal(tails_of(edge), tails))
        return true;
    }
    return false;
  };
  for (const ChartRules::Group& group : minimal_rules_.groups(pattern, node.source_begin, ends_of_tree_)) {
    if (group.lhs != label) continue;
    for (uint32_t c = group.first; c < group.first + group.size; ++c) {
      const ChartRule& rule = minimal_rules_.rule(minimal_rules_.choice(c));
      if (!fits(minimal_->targets[rule.place], tails, target) || is_known(minimal_rules_.grammar_id(rule))) continue;
      edges_.push_back({head, ReferenceEdge::kReference, c, group.first, group.size, first_tail, count(tails.size()),
                        Table::kMinimal});
      if (!settings_.wide) continue;
      // Where the chart matched the same source side, its rules compete already.
      auto& matches = matches_[at(node.source_begin) * (at(n_words_) + 1) + at(node.source_end)];
      if (std::ranges::none_of(matches, [&](const Match& match) {
            return std::ranges::equal(std::span(tails_.data() + match.first_tail, match.n_tails), tails);
          }))
        matches.push_back({label, group.first, group.size, first_tail, count(tails.size()), Table::kMinimal});
    }
  }
}

// ---- glue

void ReferenceParser::add_row(int32_t end, Range target, uint32_t choice, std::span<const int32_t> tails) {
  auto& rows = rows_[at(end)];
  const auto found = std::find_if(rows.begin(), rows.end(), [&](int32_t v) { return nodes_[at(v)].target == target; });
  int32_t head = found == rows.end() ? -1 : *found;
  if (head < 0) {
    head = static_cast<int32_t>(nodes_.size());
    nodes_.push_back({model_.labels.goal, {0, end}, target});
    rows.push_back(head);
  }
  edges_.push_back({head, ReferenceEdge::kReference, choice, choice, 0, count(tails_.size()), count(tails.size())});
  tails_.insert(tails_.end(), tails.begin(), tails.end());
  update_reach(edges_.back());
}

void ReferenceParser::glue() {
  const ChartLabels& labels = model_.labels;
  const auto is_glue = [&](int32_t label) { return std::binary_search(labels.glue.begin(), labels.glue.end(), label); };
  for (int32_t end = 1; end <= n_words_; ++end) {
    const NodeList from_start = nodes_of(0, end);
    for (int32_t v = from_start.first; v < from_start.first + from_start.size; ++v) {
      const Node node = nodes_[at(v)];
      if (node.target.begin == 0 && (is_glue(node.label) || node.label == labels.goal))
        add_row(end, node.target, rules_.first_item(), std::span(&v, 1));
    }
    for (int32_t middle = 1; middle < end; ++middle) {
      const NodeList nodes = nodes_of(middle, end);
      for (int32_t v = nodes.first; v < nodes.first + nodes.size; ++v) {
        const Node node = nodes_[at(v)];
        if (!is_glue(node.label)) continue;
        for (const int32_t row : rows_[at(middle)])
          if (nodes_[at(row)].target.end == node.target.begin) {
            const int32_t pair[2] = {row, v};
            add_row(end, {0, node.target.end}, rules_.glue(), pair);
          }
      }
    }
  }
  for (const int32_t row : rows_[at(n_words_)])
    if (nodes_[at(row)].target.end == n_target_) {
      const auto goal = static_cast<int32_t>(nodes_.size());
      nodes_.push_back({labels.goal, {0, n_words_}, {0, n_target_}});
      edges_.push_back({goal, ReferenceEdge::kReference, rules_.end(), rules_.end(), 0, count(tails_.size()), 1});
      tails_.push_back(row);
      update_reach(edges_.back());
      return;
    }
}

}  // namespace dragoman::search
