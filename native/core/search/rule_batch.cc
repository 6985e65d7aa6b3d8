#include "core/search/rule_batch.hh"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "core/forest/forest.hh"
#include "core/grammar/key.hh"
#include "core/search/batch.hh"

namespace dragoman::search {

namespace {

[[noreturn]] void fail(const std::string& why) { throw std::invalid_argument("translation rules: " + why); }

int64_t arity_of(std::span<const int32_t> source) {
  return std::count_if(source.begin(), source.end(), [](int32_t symbol) { return symbol < 0; });
}

void check_features(const RaggedVector<int32_t>& ids, const std::vector<float>& values) {
  if (values.size() != ids.values.size()) fail("a feature has no value");
  if (!all_ids(ids.values)) fail("feature ids must not be negative");
  if (!all_finite(values)) fail("a feature value is not finite");
}

}  // namespace

void RuleBatch::check() const {
  words.check("words");
  patterns.check("symbols");
  targets.check("targets");
  feature_ids.check("features");
  const auto n_patterns = at(patterns.size()), n = lhs.size();
  if (pass_through.size() != words.values.size()) fail("every source word needs a word to be passed through as");
  if (first_pattern.size() != at(size()) + 1) fail("one offset more than there are sentences is needed");
  if (first_rule.size() != n_patterns + 1) fail("one offset more than there are source sides is needed");
  Ragged<int64_t>{first_pattern, std::span(first_rule).first(n_patterns)}.check("source sides of sentences");
  Ragged<int32_t>{first_rule, lhs}.check("rules of source sides");
  if (at(targets.size()) != n || rules.size() != n || at(feature_ids.size()) != n)
    fail("the arrays have different lengths");
  if (scores.size() != n * at(n_scores)) fail("every rule needs a value for each score");
  check_features(feature_ids, feature_values);
  const auto all = [](const auto& values, auto&& good) { return std::all_of(values.begin(), values.end(), good); };
  if (!all_ids(words.values)) fail("source words must not be negative");
  if (!all_ids(pass_through)) fail("target words must not be negative");
  if (!all_finite(scores)) fail("a score is not finite");
  if (labels.empty()) fail("there must be a label");
  if (!all(lhs, [&](int32_t label) { return label >= 0 && label < n_labels(); })) fail("a left-hand side has no label");
  if (!all(patterns.values, [&](int32_t symbol) { return symbol >= grammar::label_symbol(n_labels() - 1); }))
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
  contexts->feature_ids.check("features of contexts");
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
  gaps->feature_ids.check("features of nonterminals");
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

}  // namespace dragoman::search
