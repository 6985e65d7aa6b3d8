#include "core/chart_rules.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace dragoman {

namespace {

constexpr uint32_t kNotYet = std::numeric_limits<uint32_t>::max();

size_t at(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

void ChartRules::start(const RuleBatch& batch, int64_t sentence) {
  batch_ = &batch;
  sentence_ = sentence;
  rules_.clear();
  symbols_.clear();
  groups_.clear();
  const int64_t first = batch.first_pattern[at(sentence)], last = batch.first_pattern[at(sentence) + 1];
  pattern_groups_.assign(at(last - first), {kNotYet, 0});
  rules_.push_back(made(RuleKind::kFirst, 0));
  rules_.push_back(made(RuleKind::kGlue, 0));
  rules_.push_back(made(RuleKind::kEnd, 0));
  build_trie();
  order_labels();
}

void ChartRules::build_trie() {
  const auto& patterns = batch_->patterns;
  trie_.clear();
  ranges_.clear();
  trie_.push_back({0, -1, 0, 0, 0});
  ranges_.emplace_back(batch_->first_pattern[at(sentence_)], batch_->first_pattern[at(sentence_) + 1]);
  // Breadth first, so that the children of a node are neighbours; all patterns of a level have its length at least.
  for (size_t i = 0, depth = 0, level_end = 1; i < trie_.size(); ++i) {
    if (i == level_end) {
      ++depth;
      level_end = trie_.size();
    }
    auto [begin, end] = ranges_[i];
    if (begin < end && patterns[begin].size() == depth) trie_[i].pattern = static_cast<int32_t>(begin++);
    trie_[i].first_child = static_cast<uint32_t>(trie_.size());
    while (begin < end) {
      const int32_t symbol = patterns[begin][depth];
      int64_t next = begin + 1;
      while (next < end && patterns[next][depth] == symbol) ++next;
      trie_.push_back({symbol, -1, 0, 0, 0});
      ranges_.emplace_back(begin, next);
      ++trie_[i].n_children;
      if (symbol < 0) ++trie_[i].n_nonterminals;
      begin = next;
    }
  }
}

uint32_t ChartRules::child(const TrieNode& node, int32_t word) const {
  const auto end = trie_.begin() + static_cast<std::ptrdiff_t>(node.first_child + node.n_children);
  const auto found = std::lower_bound(end - static_cast<std::ptrdiff_t>(node.n_children - node.n_nonterminals), end,
                                      word, [](const TrieNode& child, int32_t w) { return child.symbol < w; });
  return found != end && found->symbol == word ? static_cast<uint32_t>(found - trie_.begin()) : 0;
}

std::span<const ChartRules::Group> ChartRules::groups(int32_t pattern) {
  auto& [first, size] = pattern_groups_[at(pattern - batch_->first_pattern[at(sentence_)])];
  if (first == kNotYet) {
    first = static_cast<uint32_t>(groups_.size());
    unsorted_.clear();
    order_.clear();
    for (int64_t r = batch_->first_rule[at(pattern)]; r < batch_->first_rule[at(pattern) + 1]; ++r) {
      order_.push_back(static_cast<uint32_t>(unsorted_.size()));
      unsorted_.push_back(made(RuleKind::kGrammar, r));
    }
    const auto lhs = [&](uint32_t i) { return batch_->lhs[at(unsorted_[i].place)]; };
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(lhs(a), -unsorted_[a].estimate, a) < std::tuple(lhs(b), -unsorted_[b].estimate, b);
    });
    const auto limit = static_cast<uint32_t>(model_.settings.rule_limit);
    for (const uint32_t i : order_) {
      if (groups_.size() == first || groups_.back().lhs != lhs(i))
        groups_.push_back({lhs(i), static_cast<uint32_t>(rules_.size()), 0});
      if (limit > 0 && groups_.back().size == limit) continue;
      ++groups_.back().size;
      rules_.push_back(unsorted_[i]);
    }
    size = static_cast<uint32_t>(groups_.size()) - first;
  }
  return {groups_.data() + first, size};
}

bool ChartRules::needs_pass(int32_t position) const {
  const uint32_t alone = child(trie_[0], batch_->words[sentence_][at(position)]);
  if (alone == 0 || trie_[alone].pattern < 0) return true;
  const auto pattern = at(trie_[alone].pattern);
  return batch_->first_rule[pattern] == batch_->first_rule[pattern + 1];
}

uint32_t ChartRules::pass(int32_t position) {
  rules_.push_back(made(RuleKind::kPass, position));
  return static_cast<uint32_t>(rules_.size() - 1);
}

void ChartRules::append_target(const ChartRule& rule, std::vector<int32_t>& out) const {
  switch (rule.kind) {
    case RuleKind::kGrammar: {
      const auto target = batch_->targets[rule.place];
      out.insert(out.end(), target.begin(), target.end());
      return;
    }
    case RuleKind::kPass:
      out.push_back(batch_->pass_through[at(batch_->words.offsets[at(sentence_)] + rule.place)]);
      return;
    case RuleKind::kFirst:
      out.insert(out.end(), {kBosWord, tail_symbol(0)});
      return;
    case RuleKind::kGlue:
      out.insert(out.end(), {tail_symbol(0), tail_symbol(1)});
      return;
    case RuleKind::kEnd:
      out.insert(out.end(), {tail_symbol(0), kEosWord});
      return;
  }
}

int32_t ChartRules::n_unknown_words(std::span<const int32_t> target) const {
  if (model_.lm == nullptr) return 0;
  return static_cast<int32_t>(std::count_if(target.begin(), target.end(), [&](int32_t symbol) {
    return symbol >= 0 && (at(symbol) >= model_.lm_words.size() || model_.lm_words[at(symbol)] == lm::kUnk);
  }));
}

void ChartRules::append_features(const ChartRule& rule, std::vector<Feature>& out) const {
  const ChartFeatures& features = model_.features;
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  if (rule.kind == RuleKind::kGlue) add(features.glue, 1);
  if (rule.kind == RuleKind::kPass) {
    std::vector<int32_t> word;
    append_target(rule, word);
    add(features.words, 1);
    add(features.unknown, 1);
    add(features.lm_oov, static_cast<float>(n_unknown_words(word)));
  }
  if (rule.kind != RuleKind::kGrammar) return;
  const auto target = batch_->targets[rule.place];
  const auto arity = at(std::count_if(target.begin(), target.end(), [](int32_t symbol) { return symbol < 0; }));
  add(features.words, static_cast<float>(target.size() - arity));
  add(features.rules, 1);
  if (arity < features.arities.size()) add(features.arities[arity], 1);
  if (features.lm_oov >= 0) add(features.lm_oov, static_cast<float>(n_unknown_words(target)));
  const size_t n_scores = features.scores.size();
  for (size_t i = 0; i < n_scores; ++i) add(features.scores[i], batch_->scores[at(rule.place) * n_scores + i]);
  const auto begin = at(batch_->feature_ids.offsets[at(rule.place)]);
  const auto end = at(batch_->feature_ids.offsets[at(rule.place) + 1]);
  for (size_t i = begin; i < end; ++i) add(batch_->feature_ids.values[i], batch_->feature_values[i]);
}

ChartRule ChartRules::made(RuleKind kind, int64_t place) {
  ChartRule rule{0, 0, 0, place, static_cast<uint32_t>(symbols_.size()), 0, 0, kind, {}};
  features_.clear();
  append_features(rule, features_);
  for (const Feature& f : features_) rule.local += model_.weight(f.id) * static_cast<double>(f.value);
  target_.clear();
  append_target(rule, target_);
  for (const int32_t symbol : target_) {
    uint32_t word = lm::kUnk;
    if (symbol == kEosWord && kind == RuleKind::kEnd)
      word = lm::kEos;
    else if (symbol >= 0 && at(symbol) < model_.lm_words.size())
      word = model_.lm_words[at(symbol)];
    symbols_.push_back(symbol < 0 ? symbol : static_cast<int32_t>(word));
  }
  rule.n_symbols = static_cast<uint32_t>(target_.size());
  const auto symbols = this->symbols(rule);
  const auto is_nonterminal = [](int32_t symbol) { return symbol < 0; };
  rule.n_lead = static_cast<uint32_t>(std::find_if(symbols.begin(), symbols.end(), is_nonterminal) - symbols.begin());
  rule.estimate = rule.local;
  // Nothing can be ordered by such scores.
  if (!std::isfinite(rule.local) || !std::isfinite(model_.weight(model_.features.lm)))
    throw std::invalid_argument("a weight of the rules' features is not finite");
  if (lm_ == nullptr) return rule;
  lm::BasicPieceScorer lead(*lm_);
  if (kind == RuleKind::kFirst)
    lead.begin_sentence();
  else
    for (const int32_t word : symbols.subspan(0, rule.n_lead)) lead.word(static_cast<uint32_t>(word));
  rule.lead_lm = lead.score();
  rule.lead = lead.state();
  double sum = rule.lead_lm;
  lm::State state;
  for (const int32_t symbol : symbols.subspan(rule.n_lead)) {
    if (symbol < 0)
      state = {};
    else
      sum += static_cast<double>(lm_->score(state, static_cast<uint32_t>(symbol), state));
  }
  rule.estimate += model_.weight(model_.features.lm) * sum;
  return rule;
}

// A unary rule is left out when it would close a cycle: from a label to itself, or, among labels that reach each other
// by unary rules, to one with a smaller number.
void ChartRules::order_labels() {
  const auto n = at(batch_->n_labels);
  unaries_.resize(n);
  for (auto& list : unaries_) list.clear();
  std::vector<std::vector<int32_t>> to(n);
  for (uint32_t c = 0; c < trie_[0].n_nonterminals; ++c) {
    const TrieNode& node = trie_[trie_[0].first_child + c];
    if (node.pattern < 0) continue;
    const int32_t from = symbol_label(node.symbol);
    for (const Group& group : groups(node.pattern)) {
      if (group.lhs == from) continue;
      unaries_[at(group.lhs)].push_back({from, group});
      to[at(from)].push_back(group.lhs);
    }
  }
  label_order_.clear();
  std::vector<char> reached(n);
  std::vector<int32_t> open;
  const auto reaches = [&](int32_t from, int32_t wanted) {
    std::fill(reached.begin(), reached.end(), 0);
    open.assign(1, from);
    while (!open.empty()) {
      const int32_t label = open.back();
      open.pop_back();
      if (label == wanted) return true;
      for (const int32_t next : to[at(label)])
        if (!std::exchange(reached[at(next)], 1)) open.push_back(next);
    }
    return false;
  };
  for (int32_t lhs = 0; lhs < batch_->n_labels; ++lhs)
    std::erase_if(unaries_[at(lhs)], [&](const Unary& unary) { return unary.from > lhs && reaches(lhs, unary.from); });
  // Depth first through what leads to a label: without cycles, everything before it is placed before it.
  std::vector<char> placed(n);
  for (int32_t label = 0; label < batch_->n_labels; ++label) {
    open.assign(1, label);
    while (!open.empty()) {
      const int32_t top = open.back();
      const auto& before = unaries_[at(top)];
      const auto missing =
          std::find_if(before.begin(), before.end(), [&](const Unary& unary) { return !placed[at(unary.from)]; });
      if (missing != before.end() && !placed[at(top)]) {
        open.push_back(missing->from);
        continue;
      }
      open.pop_back();
      if (!std::exchange(placed[at(top)], 1)) label_order_.push_back(top);
    }
  }
}

}  // namespace dragoman
