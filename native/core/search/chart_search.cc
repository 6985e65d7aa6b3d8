#include "core/search/chart_search.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/parallel.hh"
#include "core/search/chart_searcher.hh"

namespace dragoman::search {

namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

[[noreturn]] void fail(const std::string& why) { throw std::invalid_argument("translation rules: " + why); }

int64_t arity_of(std::span<const int32_t> source) {
  return std::count_if(source.begin(), source.end(), [](int32_t symbol) { return symbol < 0; });
}

void check_features(const Ragged<int32_t>& ids, std::span<const float> values) {
  if (values.size() != ids.values.size()) fail("a feature has no value");
  if (!std::all_of(ids.values.begin(), ids.values.end(), [](int32_t id) { return id >= 0; }))
    fail("feature ids must not be negative");
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
    fail("a feature value is not finite");
}

}  // namespace

void RuleBatch::check(const ChartFeatures& features) const {
  const auto n_patterns = at(patterns.size()), n = lhs.size();
  if (pass_through.size() != words.values.size()) fail("every source word needs a word to be passed through as");
  if (first_pattern.size() != at(size()) + 1) fail("one offset more than there are sentences is needed");
  if (first_rule.size() != n_patterns + 1) fail("one offset more than there are source sides is needed");
  Ragged<int64_t>{first_pattern, first_rule.subspan(0, n_patterns)}.check("source sides of sentences");
  Ragged<int32_t>{first_rule, lhs}.check("rules of source sides");
  if (at(targets.size()) != n || rules.size() != n || at(feature_ids.size()) != n)
    fail("the arrays have different lengths");
  if (scores.size() != n * features.scores.size()) fail("every rule needs a value for each score");
  check_features(feature_ids, feature_values);
  const auto all = [](const auto& values, auto&& good) { return std::all_of(values.begin(), values.end(), good); };
  const auto is_id = [](int32_t id) { return id >= 0; };
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!all(words.values, is_id)) fail("source words must not be negative");
  if (!all(pass_through, is_id)) fail("target words must not be negative");
  if (!all(scores, is_finite)) fail("a score is not finite");
  if (n_labels < 1) fail("there must be a label");
  if (!all(lhs, [&](int32_t label) { return label >= 0 && label < n_labels; })) fail("a left-hand side has no label");
  if (!all(patterns.values, [&](int32_t symbol) { return symbol >= grammar::label_symbol(n_labels - 1); }))
    fail("a nonterminal has no label");
  std::vector<char> seen;
  for (int64_t p = 0; p < patterns.size(); ++p) {
    const auto source = patterns[p];
    if (source.empty()) fail("a source side is empty");
    const auto arity = at(arity_of(source));
    for (int64_t r = first_rule[at(p)]; r < first_rule[at(p) + 1]; ++r) {
      seen.assign(arity, 0);
      size_t n_seen = 0;
      for (const int32_t symbol : targets[r]) {
        if (symbol >= 0) continue;
        const auto slot = at(forest::tail_slot(symbol));
        if (slot >= arity || seen[slot]) fail("a target side must name each nonterminal of its source side once");
        seen[slot] = 1;
        ++n_seen;
      }
      if (n_seen != arity) fail("a target side must name each nonterminal of its source side once");
    }
  }
  for (int64_t s = 0; s < size(); ++s)
    for (int64_t p = first_pattern[at(s)] + 1; p < first_pattern[at(s) + 1]; ++p) {
      const auto a = patterns[p - 1], b = patterns[p];
      if (!std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()))
        fail("the source sides of a sentence must be distinct and in order");
    }
  if (contexts) check_contexts();
  if (gaps) check_gaps();
}

void RuleBatch::check_contexts() const {
  const auto n_patterns = at(patterns.size());
  const size_t n_places = contexts->symbols.size();
  if (contexts->first_place.size() != n_patterns + 1 || contexts->positions.size() != n_places ||
      contexts->first_row.size() != n_places + 1)
    fail("the arrays of contexts have different lengths");
  Ragged<int32_t>{contexts->first_place, contexts->symbols}.check("places of source sides");
  if (contexts->first_row[0] != 0) fail("rows of contexts must start with 0");
  for (size_t p = 0; p < n_patterns; ++p)
    for (auto k = at(contexts->first_place[p]); k < at(contexts->first_place[p + 1]); ++k)
      if (contexts->first_row[k + 1] - contexts->first_row[k] != first_rule[p + 1] - first_rule[p])
        fail("a place needs a row for each rule of its source side");
  if (contexts->feature_ids.size() != contexts->first_row.back()) fail("contexts need as many rows as places say");
  check_features(contexts->feature_ids, contexts->feature_values);
}

void RuleBatch::check_gaps() const {
  const auto n_patterns = at(patterns.size());
  if (gaps->first_class.size() != n_patterns + 1) fail("every source side needs the classes of its nonterminals");
  Ragged<int32_t>{gaps->first_class, gaps->classes}.check("classes of nonterminals");
  for (size_t p = 0; p < n_patterns; ++p)
    if (gaps->first_class[p + 1] - gaps->first_class[p] !=
        arity_of(patterns[static_cast<int64_t>(p)]) * (first_rule[p + 1] - first_rule[p]))
      fail("every nonterminal of a rule needs a class");
  if (gaps->max_length < 1) fail("nonterminals cover at least one word");
  const int64_t n_classes = gaps->feature_ids.size() / gaps->max_length;
  for (const int32_t c : gaps->classes)
    if (c < 0 || c >= n_classes) fail("a nonterminal's class has no features");
  check_features(gaps->feature_ids, gaps->feature_values);
}

void ChartLabels::check(int32_t n_labels) const {
  if (goal < 0 || goal > n_labels) fail("the goal has no label");
  for (const auto* labels : {&glue, &unknown}) {
    for (const int32_t label : *labels)
      if (label < 0 || label >= n_labels) fail("a label of glue or of unknown words is not there");
    if (std::adjacent_find(labels->begin(), labels->end(), std::greater_equal<>()) != labels->end())
      fail("labels of glue and of unknown words must be distinct and in order");
  }
}

ChartDecoder::ChartDecoder(ChartSettings settings, ChartFeatures features, std::shared_ptr<const lm::Model> lm,
                           std::vector<uint32_t> lm_words)
    : settings_(settings), features_(std::move(features)), lm_(std::move(lm)), lm_words_(std::move(lm_words)) {
  if (settings_.pop_limit < 1) throw std::invalid_argument("the pop limit must be at least 1");
  if (settings_.rule_limit < 0) throw std::invalid_argument("the rule limit must not be negative");
  if (settings_.max_span < 1) throw std::invalid_argument("rules must be allowed to cover a word");
  if (!(settings_.beam >= 0)) throw std::invalid_argument("the beam must not be negative");
  for (const uint32_t word : lm_words_)
    if (lm_ && word >= lm_->n_words()) throw std::invalid_argument("a word is not in the language model");
}

template <typename Take>
void ChartDecoder::run(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                       int n_threads, Control& control, Take&& take) const {
  batch.check(features_);
  labels.check(batch.n_labels);
  const ChartModel model{settings_, features_, lm_.get(), lm_words_, labels, weights};
  std::vector<std::unique_ptr<ChartSearcher>> searchers(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(batch.size(), 1, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    auto& searcher = searchers[static_cast<size_t>(worker)];
    if (!searcher) searcher = std::make_unique<ChartSearcher>(model);
    for (int64_t s = begin; s < end; ++s) take(s, searcher->run(batch, s, control));
  });
}

std::vector<forest::Forest> ChartDecoder::decode(const RuleBatch& batch, const ChartLabels& labels,
                                                 std::span<const double> weights, int n_threads,
                                                 Control& control) const {
  std::vector<forest::Forest> forests(at(batch.size()));
  run(batch, labels, weights, n_threads, control,
      [&](int64_t s, forest::Forest&& forest) { forests[at(s)] = std::move(forest); });
  return forests;
}

forest::KBestLists ChartDecoder::decode_kbest(const RuleBatch& batch, const ChartLabels& labels,
                                              std::span<const double> weights, int64_t k, bool distinct, int n_threads,
                                              Control& control) const {
  std::vector<forest::KBestLists> parts(at(batch.size()));
  run(batch, labels, weights, n_threads, control,
      [&](int64_t s, forest::Forest&& forest) { forest::append_kbest(forest, weights, k, distinct, parts[at(s)]); });
  return forest::concatenated(std::move(parts));
}

}  // namespace dragoman::search
