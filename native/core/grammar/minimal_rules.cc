#include "core/grammar/minimal_rules.hh"

#include <algorithm>

#include "core/base/parallel.hh"
#include "core/grammar/extract_text.hh"

namespace dragoman::grammar {

void MinimalRules::assign(std::span<const Symbol> source, std::span<const Symbol> target,
                          std::span<const align::Link> links) {
  source_ = source;
  target_ = target;
  links_ = links;
  nodes_.clear();
  builder_.build(static_cast<int32_t>(source.size()), static_cast<int32_t>(target.size()), links, nodes_);
  first_link_.assign(source.size() + 1, 0);
  target_linked_.assign(target.size(), 0);
  for (const align::Link& link : links) {
    ++first_link_[at(link.source) + 1];
    target_linked_[at(link.target)] = 1;
  }
  for (size_t i = 0; i < source.size(); ++i) first_link_[i + 1] += first_link_[i];
  places_.resize(target.size());
  // Nodes come from left to right, and so do the children of each.
  first_child_.assign(nodes_.size() + 1, 0);
  for (const align::TreeNode& node : nodes_)
    if (node.parent >= 0) ++first_child_[at(node.parent) + 1];
  for (size_t i = 0; i < nodes_.size(); ++i) first_child_[i + 1] += first_child_[i];
  children_.resize(nodes_.empty() ? 0 : nodes_.size() - 1);
  std::vector<int32_t>& next = order_;
  next.assign(first_child_.begin(), first_child_.end());
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].parent >= 0) children_[at(next[at(nodes_[i].parent)]++)] = static_cast<int32_t>(i);
}

MinimalRule MinimalRules::rule(size_t node) {
  const align::TreeNode& whole = nodes_[node];
  const auto children = std::span<const int32_t>(children_).subspan(at(first_child_[node]),
                                                                    at(first_child_[node + 1] - first_child_[node]));
  const auto child = [&](int32_t number) -> const align::TreeNode& { return nodes_[at(children[at(number)])]; };
  order_.resize(children.size());
  for (size_t i = 0; i < children.size(); ++i) order_[i] = static_cast<int32_t>(i);
  std::sort(order_.begin(), order_.end(),
            [&](int32_t a, int32_t b) { return child(a).target_begin < child(b).target_begin; });
  target_side_.assign(1, label_symbol(0));
  int32_t at_word = whole.target_begin;
  const auto take_target_words = [&](int32_t end) {
    for (; at_word < end; ++at_word) {
      places_[at(at_word)] = static_cast<int32_t>(target_side_.size()) - 1;
      target_side_.push_back(target_[at(at_word)]);
    }
  };
  for (const int32_t number : order_) {
    take_target_words(child(number).target_begin);
    target_side_.push_back(-1 - number);
    at_word = child(number).target_end;
  }
  take_target_words(whole.target_end);

  source_side_.clear();
  inner_.clear();
  const size_t n_words = at(whole.source_end - whole.source_begin);
  MinimalRule rule{};
  at_word = whole.source_begin;
  const auto take_source_words = [&](int32_t end) {
    for (; at_word < end; ++at_word) {
      for (int32_t l = first_link_[at(at_word)]; l < first_link_[at(at_word) + 1]; ++l)
        inner_.push_back(
            {static_cast<uint8_t>(source_side_.size()), static_cast<uint8_t>(places_[at(links_[at(l)].target)])});
      source_side_.push_back(source_[at(at_word)]);
      ++rule.n_source_words;
    }
  };
  source_side_.reserve(n_words);
  for (size_t i = 0; i < children.size(); ++i) {
    take_source_words(child(static_cast<int32_t>(i)).source_begin);
    source_side_.push_back(label_symbol(0));
    at_word = child(static_cast<int32_t>(i)).source_end;
  }
  take_source_words(whole.source_end);
  rule.is_too_long = source_side_.size() > kMaxSymbols || target_side_.size() - 1 > kMaxSymbols;
  if (rule.is_too_long) inner_.clear();
  rule.source = source_side_;
  rule.target = target_side_;
  rule.links = inner_;
  rule.children = children;
  return rule;
}

bool MinimalRules::is_within(size_t node, const MinimalRule& rule, const RuleLimits& limits) const {
  const align::TreeNode& whole = nodes_[node];
  if (whole.source_end - whole.source_begin > limits.max_length ||
      whole.target_end - whole.target_begin > limits.max_length)
    return false;
  if (links_.empty() || static_cast<int>(rule.children.size()) > limits.max_gaps ||
      static_cast<int>(rule.source.size()) > limits.max_symbols)
    return false;
  // The top may have been widened.
  const auto linked = [&](int32_t i) { return first_link_[at(i)] < first_link_[at(i) + 1]; };
  if (limits.tight && !(linked(whole.source_begin) && linked(whole.source_end - 1) &&
                        target_linked_[at(whole.target_begin)] && target_linked_[at(whole.target_end) - 1]))
    return false;
  if (limits.aligned && rule.links.empty()) return false;
  for (size_t i = 0; i < rule.children.size(); ++i) {
    const align::TreeNode& gap = nodes_[at(rule.children[i])];
    if (gap.source_end - gap.source_begin < limits.min_source_gap ||
        gap.target_end - gap.target_begin < limits.min_target_gap)
      return false;
  }
  return limits.adjacent || std::adjacent_find(rule.source.begin(), rule.source.end(),
                                               [](Symbol a, Symbol b) { return a < 0 && b < 0; }) == rule.source.end();
}

std::vector<int64_t> find_minimal_rules(const GrammarTables& tables, const Sentences& source, const Sentences& target,
                                        const align::Links& links, int n_threads, Control& control) {
  constexpr int64_t kChunk = 64;
  const int64_t n = links.size();
  std::vector<std::vector<int64_t>> parts(static_cast<size_t>((n + kChunk - 1) / kChunk));
  parallel_chunks(n, kChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    MinimalRules rules;
    std::vector<int64_t>& part = parts[static_cast<size_t>(begin / kChunk)];
    for (int64_t i = begin; i < end; ++i) {
      check_links(links[i], source[i].size(), target[i].size(), i);
      rules.assign(source[i], target[i], links[i]);
      for (size_t node = 0; node < rules.nodes().size(); ++node) {
        const MinimalRule rule = rules.rule(node);
        part.push_back(rule.is_too_long ? -1 : tables.find_pair(rule.source, rule.target));
      }
    }
  });
  std::vector<int64_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace dragoman::grammar
