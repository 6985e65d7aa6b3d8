#include "core/search/rule_match.hh"

#include <algorithm>

namespace dragoman::search {

void SpanFilter::assign(int32_t n_source, int32_t n_target, std::span<const align::Link> links, int32_t max_span) {
  max_span_ = std::min(n_source, max_span);
  links_.assign(n_source, n_target, links);
  allowed_.assign(at(n_source) * at(max_span_), 0);
  first_begin_.assign(at(n_source) + 1, n_source + 1);
  for (int32_t begin = 0; begin < n_source; ++begin) {
    int32_t low = n_target, high = -1;
    for (int32_t end = begin + 1; end <= std::min(n_source, begin + max_span_); ++end) {
      low = std::min(low, links_.low[at(end) - 1]);
      high = std::max(high, links_.high[at(end) - 1]);
      if (high < 0 || links_.of_target(low, high + 1) != links_.of_source(begin, end)) continue;
      allowed_[at(begin) * at(max_span_) + at(end - begin - 1)] = 1;
      first_begin_[at(end)] = std::min(first_begin_[at(end)], begin);
    }
  }
}

bool RuleMatcher::is_allowed(size_t depth) const {
  if (filter_ == nullptr || depth == 1) return true;
  const Begins& begins = levels_[depth];
  for (int32_t end = 1; end <= length_; ++end)
    if (begins[at(end)] >= 0 && filter_->ends(begins[at(end)], end)) return true;
  return false;
}

void RuleMatcher::match(std::span<const grammar::Symbol> sentence, std::vector<int64_t>& sources,
                        const SpanFilter* filter) {
  filter_ = filter;
  length_ = static_cast<int32_t>(sentence.size());
  words_.clear();
  std::vector<std::pair<grammar::Symbol, int32_t>> places;
  for (int32_t i = 0; i < length_; ++i)
    if (sentence[static_cast<size_t>(i)] >= 0) places.emplace_back(sentence[static_cast<size_t>(i)], i);
  std::sort(places.begin(), places.end());
  for (const auto& [word, place] : places) {
    if (words_.empty() || words_.back().first != word) words_.push_back({word, {}});
    words_.back().second.push_back(place);
  }
  if (levels_.empty()) levels_.resize(1);
  levels_[0].resize(static_cast<size_t>(length_) + 1);
  for (int32_t i = 0; i <= length_; ++i) levels_[0][static_cast<size_t>(i)] = i;
  visit(0, 0, sources);
}

// Children are visited in the order of their symbols, nonterminals first.
void RuleMatcher::visit(int64_t node, size_t depth, std::vector<int64_t>& sources) {
  if (const int64_t source = tables_.trie_source[static_cast<size_t>(node)]; source >= 0 && is_allowed(depth))
    sources.push_back(source);
  if (levels_.size() < depth + 2) levels_.resize(depth + 2);
  const auto [begin, end] = tables_.children(node);
  if (begin == end) return;
  if (tables_.trie_symbols[static_cast<size_t>(begin)] < 0 && pass_gap(levels_[depth], levels_[depth + 1]))
    for (int64_t child = begin; child < end && tables_.trie_symbols[static_cast<size_t>(child)] < 0; ++child) {
      // The walk below a sibling has changed no level above its own.
      visit(child, depth + 1, sources);
    }
  for (size_t word = 0; word < words_.size(); ++word) {
    if (!pass_word(word, levels_[depth], levels_[depth + 1])) continue;
    if (const int64_t child = tables_.child(node, words_[word].first); child >= 0) visit(child, depth + 1, sources);
  }
}

bool RuleMatcher::pass_gap(const Begins& from, Begins& to) const {
  to.assign(from.size(), -1);
  bool any = false;
  for (int32_t at = 0; at < length_; ++at) {
    const int32_t begin = from[static_cast<size_t>(at)];
    if (begin < 0) continue;
    const int32_t end = std::min({length_, at + limits_.max_gap, begin + limits_.max_span});
    for (int32_t to_at = at + 1; to_at <= end; ++to_at) {
      if (filter_ != nullptr && !filter_->allows(at, to_at)) continue;
      to[static_cast<size_t>(to_at)] = std::max(to[static_cast<size_t>(to_at)], begin);
      any = true;
    }
  }
  return any;
}

bool RuleMatcher::pass_word(size_t word, const Begins& from, Begins& to) const {
  bool any = false;
  for (const int32_t place : words_[word].second) {
    const int32_t begin = from[static_cast<size_t>(place)];
    if (begin < 0 || place + 1 - begin > limits_.max_span) continue;
    if (!any) to.assign(from.size(), -1);
    to[static_cast<size_t>(place) + 1] = begin;
    any = true;
  }
  return any;
}

}  // namespace dragoman::search
