#include "core/search/chart_rules.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/base/at.hh"
#include "core/grammar/key.hh"
#include "core/search/batch.hh"

namespace dragoman::search {

namespace {

constexpr uint32_t kNotYet = std::numeric_limits<uint32_t>::max();

}  // namespace

void ChartRules::start(const RuleBatch& batch, int64_t sentence, std::function<bool(int64_t)> wanted) {
  batch_ = &batch;
  wanted_ = std::move(wanted);
  sentence_ = sentence;
  if (lm_ != nullptr) lm_->clear();
  rules_.clear();
  symbols_.clear();
  choices_.clear();
  groups_.clear();
  parts_.clear();
  places_.assign(1, {});
  place_slots_.assign(1 << 10, kNowhere);
  const int64_t first = batch.first_pattern[at(sentence)], last = batch.first_pattern[at(sentence) + 1];
  pattern_rules_.assign(at(last - first), {kNotYet, 0});
  add_special(ChartRuleKind::kFirst, 0);
  add_special(ChartRuleKind::kGlue, 0);
  add_special(ChartRuleKind::kEnd, 0);
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

void ChartRules::add_special(ChartRuleKind kind, int64_t place) {
  choices_.push_back({0, static_cast<uint32_t>(rules_.size()), kNowhere});
  rules_.push_back(made(kind, place));
}

std::pair<uint32_t, uint32_t> ChartRules::rules_of(int32_t pattern) {
  auto& [first, size] = pattern_rules_[at(pattern - batch_->first_pattern[at(sentence_)])];
  if (first == kNotYet) {
    first = static_cast<uint32_t>(rules_.size());
    for (int64_t r = batch_->first_rule[at(pattern)]; r < batch_->first_rule[at(pattern) + 1]; ++r)
      if (!wanted_ || wanted_(r)) rules_.push_back(made(ChartRuleKind::kGrammar, r));
    size = static_cast<uint32_t>(rules_.size()) - first;
  }
  return {first, size};
}

uint32_t ChartRules::places_of(int32_t pattern, int32_t begin, std::span<const int32_t> ends) {
  Places places{pattern, static_cast<uint32_t>(parts_.size()), 0, 0, kNotYet, 0};
  const auto symbols = batch_->patterns[pattern];
  if (const auto& contexts = batch_->contexts) {
    const auto from = at(contexts->first_place[at(pattern)]), to = at(contexts->first_place[at(pattern) + 1]);
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i] < 0 || (i > 0 && symbols[i - 1] >= 0)) continue;
      const int32_t position = i == 0 ? begin : ends[i - 1];
      for (size_t k = from; k < to; ++k)
        if (contexts->symbols[k] == static_cast<int32_t>(i) && contexts->positions[k] == position)
          parts_.push_back(contexts->first_row[k]);
    }
    places.n_rows = static_cast<uint32_t>(parts_.size()) - places.first_part;
  }
  if (const auto& gaps = batch_->gaps) {
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i] < 0) parts_.push_back(std::min(gaps->max_length, ends[i] - (i == 0 ? begin : ends[i - 1])));
    places.n_lengths = static_cast<uint32_t>(parts_.size()) - places.first_part - places.n_rows;
  }
  const auto parts = [&](const Places& p) {
    return std::span<const int64_t>(parts_).subspan(p.first_part, p.n_rows + p.n_lengths);
  };
  const auto slot_of = [&](const Places& wanted) {
    uint64_t hash = grammar::hash_extend(grammar::kHashStart, wanted.pattern);
    for (const int64_t part : parts(wanted)) hash = grammar::mix64(hash ^ static_cast<uint64_t>(part));
    const size_t mask = place_slots_.size() - 1;
    for (size_t slot = grammar::mix64(hash) & mask;; slot = (slot + 1) & mask) {
      if (place_slots_[slot] == kNowhere) return slot;
      const Places& known = places_[place_slots_[slot]];
      if (known.pattern == wanted.pattern && known.n_rows == wanted.n_rows &&
          std::ranges::equal(parts(known), parts(wanted)))
        return slot;
    }
  };
  if (2 * places_.size() >= place_slots_.size()) {
    place_slots_.assign(4 * place_slots_.size(), kNowhere);
    for (uint32_t id = 1; id < places_.size(); ++id) place_slots_[slot_of(places_[id])] = id;
  }
  uint32_t& id = place_slots_[slot_of(places)];
  if (id != kNowhere) {
    parts_.resize(places.first_part);
    return id;
  }
  id = static_cast<uint32_t>(places_.size());
  places_.push_back(places);
  return id;
}

template <typename Body>
void ChartRules::each_placed(const Places& places, int64_t rule, Body&& body) const {
  const int64_t number = rule - batch_->first_rule[at(places.pattern)];
  const auto row = [&](const Ragged<int32_t>& ids, std::span<const float> values, int64_t i) {
    const auto begin = at(ids.offsets[at(i)]), end = at(ids.offsets[at(i) + 1]);
    for (size_t f = begin; f < end; ++f) body(ids.values[f], values[f]);
  };
  for (uint32_t i = 0; i < places.n_rows; ++i)
    row(batch_->contexts->feature_ids, batch_->contexts->feature_values, parts_[places.first_part + i] + number);
  if (places.n_lengths == 0) return;
  const RuleGaps& gaps = *batch_->gaps;
  const int64_t first_class = gaps.first_class[at(places.pattern)] + number * places.n_lengths;
  for (uint32_t slot = 0; slot < places.n_lengths; ++slot) {
    const int64_t length = parts_[places.first_part + places.n_rows + slot];
    const int64_t gap_class = gaps.classes[at(first_class + slot)];
    row(gaps.feature_ids, gaps.feature_values, gap_class * gaps.max_length + length - 1);
  }
}

void ChartRules::make_groups(Places& places, uint32_t id) {
  const auto [first, size] = rules_of(places.pattern);
  unsorted_.clear();
  for (uint32_t r = first; r < first + size; ++r) {
    double extra = 0;
    each_placed(places, rules_[r].place,
                [&](int32_t f, float value) { extra += model_.weight(f) * static_cast<double>(value); });
    if (!std::isfinite(extra)) throw std::invalid_argument("a weight of the rules' features is not finite");
    unsorted_.push_back({extra, r, id});
  }
  const auto lhs = [&](const Choice& choice) { return batch_->lhs[at(rule(choice).place)]; };
  const auto order = [&](const Choice& choice) {
    return std::tuple(lhs(choice), -(rule(choice).estimate + choice.extra), choice.rule);
  };
  std::sort(unsorted_.begin(), unsorted_.end(), [&](const Choice& a, const Choice& b) { return order(a) < order(b); });
  places.first_group = static_cast<uint32_t>(groups_.size());
  const auto limit = static_cast<uint32_t>(model_.settings.rule_limit);
  for (const Choice& choice : unsorted_) {
    if (groups_.size() == places.first_group || groups_.back().lhs != lhs(choice))
      groups_.push_back({lhs(choice), static_cast<uint32_t>(choices_.size()), 0});
    if (limit > 0 && groups_.back().size == limit) continue;
    ++groups_.back().size;
    choices_.push_back(choice);
  }
  places.n_groups = static_cast<uint32_t>(groups_.size()) - places.first_group;
}

std::span<const ChartRules::Group> ChartRules::groups(int32_t pattern, int32_t begin, std::span<const int32_t> ends) {
  const uint32_t id = places_of(pattern, begin, ends);
  if (places_[id].first_group == kNotYet) make_groups(places_[id], id);
  return {groups_.data() + places_[id].first_group, places_[id].n_groups};
}

bool ChartRules::needs_pass(int32_t position) const {
  const uint32_t alone = child(trie_[0], batch_->words[sentence_][at(position)]);
  if (alone == 0 || trie_[alone].pattern < 0) return true;
  const auto pattern = at(trie_[alone].pattern);
  return batch_->first_rule[pattern] == batch_->first_rule[pattern + 1];
}

uint32_t ChartRules::pass(int32_t position) {
  add_special(ChartRuleKind::kPass, position);
  return static_cast<uint32_t>(choices_.size() - 1);
}

void ChartRules::append_target(const ChartRule& rule, std::vector<int32_t>& out) const {
  switch (rule.kind) {
    case ChartRuleKind::kGrammar: {
      const auto target = batch_->targets[rule.place];
      out.insert(out.end(), target.begin(), target.end());
      return;
    }
    case ChartRuleKind::kPass:
      out.push_back(batch_->pass_through[at(batch_->words.offsets[at(sentence_)] + rule.place)]);
      return;
    case ChartRuleKind::kFirst:
      out.insert(out.end(), {forest::kBosWord, forest::tail_symbol(0)});
      return;
    case ChartRuleKind::kGlue:
      out.insert(out.end(), {forest::tail_symbol(0), forest::tail_symbol(1)});
      return;
    case ChartRuleKind::kEnd:
      out.insert(out.end(), {forest::tail_symbol(0), forest::kEosWord});
      return;
  }
}

int32_t ChartRules::n_unknown_words(std::span<const int32_t> target) const {
  if (model_.lm == nullptr) return 0;
  return static_cast<int32_t>(std::count_if(target.begin(), target.end(), [&](int32_t symbol) {
    return symbol >= 0 && (at(symbol) >= model_.lm_words.size() || model_.lm_words[at(symbol)] == lm::kUnk);
  }));
}

void ChartRules::append_features(const Choice& choice, std::vector<forest::Feature>& out) const {
  const size_t first = out.size();
  append_local(rule(choice), out);
  if (choice.places == kNowhere) return;
  each_placed(places_[choice.places], rule(choice).place, [&](int32_t id, float value) {
    const auto known = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                    [&](const forest::Feature& f) { return f.id == id; });
    if (known == out.end() || !add_exactly(known->value, value)) out.push_back({id, value});
  });
}

void ChartRules::append_local(const ChartRule& rule, std::vector<forest::Feature>& out) const {
  const ChartFeatures& features = model_.features;
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  if (rule.kind == ChartRuleKind::kGlue) add(features.glue, 1);
  if (rule.kind == ChartRuleKind::kPass) {
    std::vector<int32_t> word;
    append_target(rule, word);
    add(features.words, 1);
    add(features.unknown, 1);
    add(features.lm_oov, static_cast<float>(n_unknown_words(word)));
  }
  if (rule.kind != ChartRuleKind::kGrammar) return;
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

ChartRule ChartRules::made(ChartRuleKind kind, int64_t place) {
  ChartRule rule{0, 0, place, static_cast<uint32_t>(symbols_.size()), 0, 0, kind, {}};
  features_.clear();
  append_local(rule, features_);
  for (const forest::Feature& f : features_) rule.local += model_.weight(f.id) * static_cast<double>(f.value);
  target_.clear();
  append_target(rule, target_);
  for (const int32_t symbol : target_) {
    uint32_t word = lm::kUnk;
    if (symbol == forest::kEosWord && kind == ChartRuleKind::kEnd)
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
  if (kind == ChartRuleKind::kFirst)
    lm_->begin_sentence(rule.lead);
  else
    for (const int32_t word : symbols.subspan(0, rule.n_lead)) lm_->word(rule.lead, static_cast<uint32_t>(word));
  double sum = rule.lead.score;
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
  const auto n = at(batch_->n_labels());
  unaries_.resize(n);
  for (auto& list : unaries_) list.clear();
  std::vector<std::vector<int32_t>> to(n);
  for (uint32_t c = 0; c < trie_[0].n_nonterminals; ++c) {
    const TrieNode& node = trie_[trie_[0].first_child + c];
    if (node.pattern < 0) continue;
    const int32_t from = grammar::symbol_label(node.symbol);
    for (int64_t r = batch_->first_rule[at(node.pattern)]; r < batch_->first_rule[at(node.pattern) + 1]; ++r) {
      const int32_t lhs = batch_->lhs[at(r)];
      auto& known = unaries_[at(lhs)];
      if (lhs == from || (!known.empty() && known.back().from == from)) continue;
      known.push_back({from, node.pattern});
      to[at(from)].push_back(lhs);
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
  for (int32_t lhs = 0; lhs < batch_->n_labels(); ++lhs)
    std::erase_if(unaries_[at(lhs)], [&](const Unary& unary) { return unary.from > lhs && reaches(lhs, unary.from); });
  // Depth first through what leads to a label: without cycles, everything before it is placed before it.
  std::vector<char> placed(n);
  for (int32_t label = 0; label < batch_->n_labels(); ++label) {
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

}  // namespace dragoman::search
