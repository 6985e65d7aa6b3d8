// Rows of items and edits, and the forest of the best of them.
#include <algorithm>
#include <limits>

#include "core/base/at.hh"
#include "core/search/forced_chart.hh"

namespace dragoman::search {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

void ForcedChart::improve(size_t cell, double score, size_t from, int32_t node) {
  if (score > cells_[cell].score) cells_[cell] = {score, static_cast<int32_t>(from), node};
}

// The best row over everything. Without edits it is one that search could make.
bool ForcedChart::glue(bool may_edit) {
  const auto n_targets = static_cast<int32_t>(target_.size());
  cells_.assign(2 * (at(n_words_) + 1) * (target_.size() + 1), {kNever, -1, -1});
  cells_[cell(0, 0, false)].score = 0;
  for (int32_t source = 0; source <= n_words_; ++source) {
    control_.check();
    if (may_edit)
      for (int32_t target = 0; target <= n_targets; ++target)
        for (const bool has_item : {false, true}) edit(source, target, has_item);
    if (source < n_words_) glue_items(source, may_edit);
  }
  const bool is_empty = n_words_ == 0 && n_targets == 0;
  return cells_[cell(n_words_, n_targets, true)].score > kNever ||
         ((may_edit || is_empty) && cells_[cell(n_words_, n_targets, false)].score > kNever);
}

void ForcedChart::glue_items(int32_t begin, bool may_edit) {
  const ChartLabels& labels = model_.labels;
  const double glue = rules_.rule(rules_.choice(rules_.glue())).local;
  for (int32_t end = begin + 1; end <= std::min(n_words_, begin + max_span_); ++end) {
    const auto [first, size] = spans_[at(begin) * at(max_span_) + at(end - begin - 1)];
    for (uint32_t i = first; i < first + size; ++i) {
      const auto& [label, list] = labels_[i];
      const bool is_glued = std::binary_search(labels.glue.begin(), labels.glue.end(), label);
      if (!is_glued && label != labels.goal) continue;
      for (uint32_t v = list.first; v < list.first + list.size; ++v) {
        const Node& node = nodes_[v];
        const size_t none = cell(begin, node.target_begin, false), some = cell(begin, node.target_begin, true);
        const size_t to = cell(end, node.target_end, true);
        // An item of the goal's label comes first.
        if (is_glued ? may_edit || begin == 0 : begin == 0 && node.target_begin == 0)
          improve(to, cells_[none].score + node.score, none, static_cast<int32_t>(v));
        if (is_glued) improve(to, cells_[some].score + glue + node.score, some, static_cast<int32_t>(v));
      }
    }
  }
}

void ForcedChart::edit(int32_t source, int32_t target, bool has_item) {
  const size_t from = cell(source, target, has_item);
  const double score = cells_[from].score;
  if (score == kNever) return;
  const bool has_source = source < n_words_, has_target = at(target) < target_.size();
  const auto edited = [&](bool is_passed) {
    features_.clear();
    word_features(target_[at(target)], is_passed, features_);
    return score + local_of(features_) - kEditCost;
  };
  if (has_source) improve(cell(source + 1, target, has_item), score - kEditCost, from, -1);
  if (has_target) improve(cell(source, target + 1, has_item), edited(false), from, -1);
  if (has_source && has_target && copies_[at(source)] == target_[at(target)])
    improve(cell(source + 1, target + 1, has_item), edited(true), from, -1);
}

double ForcedChart::local_of(std::span<const forest::Feature> features) const {
  double sum = 0;
  for (const forest::Feature& f : features) sum += model_.weight(f.id) * static_cast<double>(f.value);
  return sum;
}

void ForcedChart::word_features(int32_t word, bool is_passed, std::vector<forest::Feature>& out) const {
  const ChartFeatures& features = model_.features;
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  add(features.words, 1);
  if (is_passed) add(features.unknown, 1);
  const bool is_known = at(word) < model_.lm_words.size() && model_.lm_words[at(word)] != lm::kUnk;
  add(features.lm_oov, model_.lm == nullptr || is_known ? 0 : 1);
}

// ---- writing

ForcedChart::Written ForcedChart::write_edge(const forest::Forest::Node& node, const forest::Forest::Instance& instance,
                                             std::span<const int32_t> symbols,
                                             std::span<const forest::Feature> features, std::span<const Written> tails,
                                             forest::Forest& forest) {
  Written written;
  std::vector<int32_t> numbers;
  std::vector<forest::Feature> own;
  for (const Written& tail : tails) numbers.push_back(tail.node);
  const int32_t with = forest.add_instance(instance, symbols, features);
  if (lm_) {
    double end = 0;
    for (const int32_t symbol : symbols) {
      lm::State unused;
      if (symbol < 0)
        lm_->add(written.piece, tails[at(forest::tail_slot(symbol))].piece.state);
      else if (symbol == forest::kBosWord)
        lm_->begin_sentence(written.piece);
      else if (symbol == forest::kEosWord)
        end = static_cast<double>(lm_->score(written.piece.state.right, lm::kEos, unused));
      else
        lm_->word(written.piece, at(symbol) < model_.lm_words.size() ? model_.lm_words[at(symbol)] : lm::kUnk);
    }
    const auto lm = static_cast<float>(written.piece.score + end);
    if (model_.features.lm >= 0 && lm != 0) own.push_back({model_.features.lm, lm});
  }
  written.node = forest.add_node(node);
  forest.add_edge(with, numbers, own);
  return written;
}

ForcedChart::Written ForcedChart::write_item(int32_t number, forest::Forest& forest) {
  // Trees of rules can be deep: nodes in an order with the tails first.
  std::vector<int32_t> order, open{number};
  while (!open.empty()) {
    const int32_t v = open.back();
    open.pop_back();
    order.push_back(v);
    const Node& node = nodes_[at(v)];
    for (uint32_t t = node.first_tail; t < node.first_tail + node.n_tails; ++t)
      open.push_back(static_cast<int32_t>(node_tails_[t]));
  }
  std::vector<Written> done, tails;
  std::vector<int32_t> symbols;
  for (size_t i = order.size(); i-- > 0;) {
    const Node& node = nodes_[at(order[i])];
    // The tails were written last.
    tails.assign(done.end() - node.n_tails, done.end());
    done.resize(done.size() - node.n_tails);
    symbols.clear();
    features_.clear();
    const ChartRules::Choice& choice = rules_.choice(node.choice);
    rules_.append_target(rules_.rule(choice), symbols);
    rules_.append_features(choice, features_);
    const forest::Forest::Span span{node.begin, node.end};
    done.push_back(write_edge({node.label, span, node.end - node.begin}, {rules_.grammar_id(rules_.rule(choice)), span},
                              symbols, features_, tails, forest));
  }
  return done.back();
}

void ForcedChart::write(size_t goal, bool may_edit, ForcedTranslation& out) {
  std::vector<size_t> chain{goal};
  while (cells_[chain.back()].from >= 0) chain.push_back(at(cells_[chain.back()].from));
  std::ranges::reverse(chain);
  const size_t width = 2 * (target_.size() + 1);
  const int32_t first = forest::tail_symbol(0), second = forest::tail_symbol(1), bos = forest::kBosWord;
  const auto row_of = [&](int32_t end, std::initializer_list<int32_t> symbols, std::initializer_list<Written> tails) {
    const forest::Forest::Span span{0, end};
    const std::vector<int32_t> s(symbols);
    const std::vector<Written> t(tails);
    return write_edge({model_.labels.goal, span, end}, {-1, span}, s, features_, t, out.forest);
  };
  Written row;
  // The row begins with <s> and an item, or where there are edits, with <s> alone.
  const bool is_plain = !may_edit && chain.size() > 1;
  features_.clear();
  if (!is_plain) row = row_of(0, {bos}, {});
  for (size_t i = 1; i < chain.size(); ++i) {
    const size_t before = chain[i - 1], here = chain[i];
    const auto source = static_cast<int32_t>(before / width), end = static_cast<int32_t>(here / width);
    const auto target = static_cast<int32_t>(before % width / 2), target_end = static_cast<int32_t>(here % width / 2);
    if (cells_[here].node >= 0) {
      const Written item = write_item(cells_[here].node, out.forest);
      features_.clear();
      const bool is_first = before % 2 == 0;
      if (!is_first) rules_.append_features(rules_.choice(rules_.glue()), features_);
      row = is_first && is_plain ? row_of(end, {bos, first}, {item}) : row_of(end, {first, second}, {row, item});
      continue;
    }
    features_.clear();
    if (target == target_end) {
      out.deleted.push_back(source);
      row = row_of(end, {first}, {row});
      continue;
    }
    const bool is_copied = source < end;
    word_features(target_[at(target)], is_copied, features_);
    if (!is_copied) {
      out.inserted.push_back(target);
      row = row_of(end, {first, target_[at(target)]}, {row});
      continue;
    }
    out.copied.insert(out.copied.end(), {source, target});
    const forest::Forest::Span span{source, end};
    const Written item = write_edge({model_.labels.goal, span, 1}, {-1, span}, target_.subspan(at(target), 1),
                                    features_, {}, out.forest);
    features_.clear();
    row = row_of(end, {first, second}, {row, item});
  }
  features_.clear();
  row_of(n_words_, {first, forest::kEosWord}, {row});
}

}  // namespace dragoman::search
