#include "core/search/forced_chart.hh"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/base/at.hh"
#include "core/grammar/key.hh"

namespace dragoman::search {

namespace {

uint32_t count(size_t n) { return static_cast<uint32_t>(n); }

}  // namespace

ForcedChart::ForcedChart(const RuleBatch& batch, const ChartModel& model, const ForcedSettings& settings,
                         const Control& control)
    : batch_(batch),
      model_(model),
      settings_(settings),
      control_(control),
      lm_(model.lm == nullptr ? nullptr : std::make_unique<lm::Pieces>(*model.lm)),
      rules_(model, nullptr) {}

ForcedTranslation ForcedChart::run(int64_t sentence, std::span<const int32_t> target, std::span<const int32_t> copies) {
  sentence_ = sentence;
  words_ = batch_.words[sentence];
  target_ = target;
  copies_ = copies;
  n_words_ = static_cast<int32_t>(words_.size());
  max_span_ = std::min(n_words_, model_.settings.max_span);
  is_complete_ = true;
  places_.start(target);
  if (lm_) lm_->clear();
  rules_.start(batch_, sentence, [this](int64_t rule) { return places_.has_all(batch_.targets[rule]); });
  find_rules();
  nodes_.clear();
  node_tails_.clear();
  labels_.clear();
  spans_.assign(at(n_words_) * at(max_span_), {0, 0});
  if (pending_.size() <= at(n_words_)) pending_.resize(at(n_words_) + 1);
  fill_chart();

  ForcedTranslation found;
  found.is_complete = is_complete_;
  for (const bool may_edit : {false, true}) {
    if (may_edit && !settings_.may_edit) break;
    if (!glue(may_edit)) continue;
    const auto end = static_cast<int32_t>(target_.size());
    size_t goal = cell(n_words_, end, true);
    if (const size_t without = cell(n_words_, end, false); cells_[without].score > cells_[goal].score) goal = without;
    write(goal, may_edit, found);
    break;
  }
  return found;
}

// ---- the chart

void ForcedChart::find_rules() {
  is_live_.assign(rules_.n_nodes(), 0);
  for (uint32_t i = rules_.n_nodes(); i-- > 0;) {  // children come after their parents
    const ChartRules::TrieNode& node = rules_.node(i);
    for (uint32_t c = node.first_child; c < node.first_child + node.n_children; ++c)
      if (is_live_[c] != 0) is_live_[i] = 1;
    if (node.pattern < 0) continue;
    for (int64_t r = batch_.first_rule[at(node.pattern)]; r < batch_.first_rule[at(node.pattern) + 1]; ++r)
      if (is_live_[i] == 0 && places_.has_all(batch_.targets[r])) is_live_[i] = 1;
  }
}

void ForcedChart::fill_chart() {
  for (begin_ = n_words_ - 1; begin_ >= 0; --begin_) {
    control_.check();
    limit_ = std::min(n_words_, begin_ + max_span_);
    for (auto& list : pending_) list.clear();
    pending_tails_.clear();
    n_tries_ = 0;
    open_tails_.clear();
    ends_.clear();
    if (const uint32_t first = rules_.child(rules_.node(0), words_[at(begin_)])) match(first, begin_ + 1);
    if (rules_.needs_pass(begin_)) add_pass(begin_);
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
      ends_.clear();
    }
  }
}

void ForcedChart::add_pass(int32_t begin) {
  const uint32_t pass = rules_.pass(begin);
  const int32_t word = batch_.pass_through[at(batch_.words.offsets[at(sentence_)] + begin)];
  const double score = rules_.rule(rules_.choice(pass)).local;
  for (const auto& [_, position] : places_.of(word))
    for (const int32_t label : model_.labels.unknown)
      pending_[at(begin) + 1].push_back({label, begin, begin + 1, position, position + 1, score, pass, 0, 0});
}

void ForcedChart::match(uint32_t trie_node, int32_t end) {
  if (is_live_[trie_node] == 0) return;
  ends_.push_back(end);
  if (const int32_t pattern = rules_.node(trie_node).pattern; pattern >= 0) complete(pattern, end, ends_, -1);
  extend(trie_node, end);
  ends_.pop_back();
}

void ForcedChart::extend(uint32_t trie_node, int32_t end) {
  const ChartRules::TrieNode node = rules_.node(trie_node);
  if (end == limit_ || node.n_children == 0 || is_live_[trie_node] == 0) return;
  if (const uint32_t next = rules_.child(node, words_[at(end)])) match(next, end + 1);
  if (n_tries_ > kMaxTries) {
    is_complete_ = false;
    return;
  }
  for (uint32_t c = node.first_child; c < node.first_child + node.n_nonterminals; ++c) {
    if (is_live_[c] == 0) continue;
    for (int32_t next = end + 1; next <= limit_; ++next) {
      ++n_tries_;
      const NodeList nodes = find(end, next, grammar::symbol_label(rules_.node(c).symbol));
      if (nodes.size == 0) continue;
      open_tails_.push_back(nodes);
      match(c, next);
      open_tails_.pop_back();
    }
  }
}

// A source side matches from begin_ to `end`, its nonterminals over open_tails_: all places of its rules in the
// translation. With `lhs` only rules with that left-hand side.
void ForcedChart::complete(int32_t pattern, int32_t end, std::span<const int32_t> ends, int32_t lhs) {
  for (const ChartRules::Group& group : rules_.groups(pattern, begin_, ends))
    if (lhs < 0 || group.lhs == lhs)
      for (uint32_t c = group.first; c < group.first + group.size; ++c) {
        if (n_tries_ > kMaxTries && !open_tails_.empty()) {
          is_complete_ = false;
          return;
        }
        placed_ = {group.lhs, begin_, end, 0, 0, 0, c, 0, count(open_tails_.size())};
        const ChartRules::Choice& choice = rules_.choice(c);
        placed_.score = choice.extra + rules_.rule(choice).local;
        symbols_ = batch_.targets[rules_.rule(choice).place];
        placed_into_ = &pending_[at(end)];
        chosen_.assign(open_tails_.size(), 0);
        if (symbols_.empty() || symbols_[0] < 0) {
          // From wherever the first nonterminal, or nothing, may be.
          if (symbols_.empty())
            for (int32_t t = 0; at(t) <= target_.size(); ++t) place_rest(0, placed_.target_begin = t);
          else {
            const NodeList list = open_tails_[at(forest::tail_slot(symbols_[0]))];
            int32_t last = -1;
            for (uint32_t v = list.first; v < list.first + list.size; ++v)
              if (nodes_[v].target_begin != last) place_rest(0, placed_.target_begin = last = nodes_[v].target_begin);
          }
        } else {
          for (const auto& [_, position] : places_.of(symbols_[0])) place_rest(0, placed_.target_begin = position);
        }
      }
}

// The symbols from one on at a position of the translation.
void ForcedChart::place_rest(size_t symbol, int32_t position) {
  ++n_tries_;
  for (; symbol < symbols_.size() && symbols_[symbol] >= 0; ++symbol, ++position)
    if (at(position) >= target_.size() || target_[at(position)] != symbols_[symbol]) return;
  if (symbol == symbols_.size()) {
    Node node = placed_;
    node.target_end = position;
    node.first_tail = count(pending_tails_.size());
    for (const uint32_t tail : chosen_) node.score += nodes_[tail].score;
    pending_tails_.insert(pending_tails_.end(), chosen_.begin(), chosen_.end());
    placed_into_->push_back(node);
    return;
  }
  const auto slot = at(forest::tail_slot(symbols_[symbol]));
  const NodeList list = open_tails_[slot];
  const auto begin = nodes_.begin() + list.first, end = begin + list.size;
  auto v =
      std::lower_bound(begin, end, position, [](const Node& n, int32_t wanted) { return n.target_begin < wanted; });
  for (; v != end && v->target_begin == position; ++v) {
    chosen_[slot] = count(static_cast<size_t>(v - nodes_.begin()));
    place_rest(symbol + 1, v->target_end);
  }
}

ForcedChart::NodeList ForcedChart::find(int32_t begin, int32_t end, int32_t label) const {
  if (end - begin > max_span_) return {};
  const auto [first, size] = spans_[at(begin) * at(max_span_) + at(end - begin - 1)];
  const auto* from = labels_.data() + first;
  const auto* found = std::lower_bound(from, from + size, label,
                                       [](const auto& entry, int32_t wanted) { return entry.first < wanted; });
  return found != from + size && found->first == label ? found->second : NodeList{};
}

void ForcedChart::finish_span(int32_t begin, int32_t end) {
  const size_t first = labels_.size();
  for (const int32_t label : rules_.label_order()) {
    for (const ChartRules::Unary& unary : rules_.unaries(label))
      for (size_t i = first; i < labels_.size(); ++i) {
        if (labels_[i].first != unary.from) continue;
        open_tails_.assign(1, labels_[i].second);
        complete(unary.pattern, end, std::span(&end, 1), label);
        open_tails_.clear();
      }
    keep_best(label, end);
  }
  std::sort(labels_.begin() + static_cast<std::ptrdiff_t>(first), labels_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  spans_[at(begin) * at(max_span_) + at(end - begin - 1)] = {count(first), count(labels_.size() - first)};
}

// Of the nodes found for a label, the best of each target span; of those the best of all, by target span.
void ForcedChart::keep_best(int32_t label, int32_t end) {
  new_nodes_.clear();
  for (const Node& node : pending_[at(end)])
    if (node.label == label) new_nodes_.push_back(node);
  if (new_nodes_.empty()) return;
  const auto by_target = [](const Node& a, const Node& b) {
    return std::tuple(a.target_begin, a.target_end, -a.score, a.first_tail, a.choice) <
           std::tuple(b.target_begin, b.target_end, -b.score, b.first_tail, b.choice);
  };
  std::sort(new_nodes_.begin(), new_nodes_.end(), by_target);
  const auto same = std::unique(new_nodes_.begin(), new_nodes_.end(), [](const Node& a, const Node& b) {
    return a.target_begin == b.target_begin && a.target_end == b.target_end;
  });
  new_nodes_.erase(same, new_nodes_.end());
  if (const auto width = at(settings_.width); new_nodes_.size() > width) {
    is_complete_ = false;
    const auto better = [&](const Node& a, const Node& b) {
      return a.score != b.score ? a.score > b.score : by_target(a, b);
    };
    std::nth_element(new_nodes_.begin(), new_nodes_.begin() + static_cast<std::ptrdiff_t>(width), new_nodes_.end(),
                     better);
    new_nodes_.resize(width);
    std::sort(new_nodes_.begin(), new_nodes_.end(), by_target);
  }
  labels_.emplace_back(label, NodeList{count(nodes_.size()), count(new_nodes_.size())});
  for (Node node : new_nodes_) {
    const auto tails = std::span(pending_tails_).subspan(node.first_tail, node.n_tails);
    node.first_tail = count(node_tails_.size());
    node_tails_.insert(node_tails_.end(), tails.begin(), tails.end());
    nodes_.push_back(node);
  }
}

}  // namespace dragoman::search
