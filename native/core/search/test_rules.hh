// Rules by hand, for tests of the chart and of what is built on it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/control.hh"
#include "core/lm/estimate.hh"
#include "core/names/vocab.hh"
#include "core/search/chart_search.hh"
#include "core/search/rule_batch.hh"

namespace dragoman::search {

struct TestRules {
  std::vector<int64_t> sentence_offsets{0}, first_pattern{0}, symbol_offsets{0}, first_rule{0}, target_offsets{0};
  std::vector<int32_t> words, pass_through, symbols, lhs, targets, feature_ids;
  std::vector<int64_t> rules, feature_offsets{0};
  std::vector<float> scores, feature_values;

  void add_pattern(const std::vector<int32_t>& pattern,
                   const std::vector<std::pair<int32_t, std::vector<int32_t>>>& list) {
    symbols.insert(symbols.end(), pattern.begin(), pattern.end());
    symbol_offsets.push_back(static_cast<int64_t>(symbols.size()));
    for (const auto& [label, target] : list) {
      lhs.push_back(label);
      targets.insert(targets.end(), target.begin(), target.end());
      target_offsets.push_back(static_cast<int64_t>(targets.size()));
      scores.push_back(-0.25f * static_cast<float>(rules.size() % 7));
      rules.push_back(static_cast<int64_t>(rules.size()));
      feature_ids.push_back(5);
      feature_values.push_back(1);
      feature_offsets.push_back(static_cast<int64_t>(feature_ids.size()));
    }
    first_rule.push_back(static_cast<int64_t>(lhs.size()));
  }
  // Words 0 and 1 have rules, 2 has none; gaps are adjacent, reordered, labelled, alone; one target is empty.
  void add_sentence(int length) {
    for (int i = 0; i < length; ++i) {
      words.push_back(i % 3);
      pass_through.push_back(90);
    }
    sentence_offsets.push_back(static_cast<int64_t>(words.size()));
    add_pattern({-2}, {{0, {-1, 7}}});
    add_pattern({-1}, {{1, {-1}}, {0, {-1, 8}}});
    add_pattern({-1, -2, -1}, {{0, {-3, -1, -2}}});
    add_pattern({-1, 1}, {{0, {4, -1}}, {1, {-1, 5}}});
    add_pattern({0}, {{0, {3}}, {0, {}}, {1, {4, 4}}});
    add_pattern({0, -1, 2, -2}, {{0, {-2, 6, -1}}});
    add_pattern({1}, {{0, {5}}});
    first_pattern.push_back(static_cast<int64_t>(symbol_offsets.size()) - 1);
  }
  RuleBatch batch() const {
    return {{sentence_offsets, words},
            pass_through,
            first_pattern,
            {symbol_offsets, symbols},
            first_rule,
            lhs,
            {target_offsets, targets},
            rules,
            scores,
            {feature_offsets, feature_ids},
            feature_values,
            1,
            {"X", "Y"}};
  }
};

inline ChartFeatures test_features() { return {-1, -1, 0, 1, 2, 3, {}, {4}}; }

// A language model of a few lines over the target ids 0 to 8, which are its own.
inline std::shared_ptr<const lm::Model> test_lm(int order, Control& control) {
  names::WordTable words;
  for (const char* symbol : {"<unk>", "<s>", "</s>"}) words.intern(symbol);
  names::EncodedLines lines;
  names::encode_lines("a b c a b\na b d\nc a b a c e f\nb a b c d\nd d d a b c\na f e d\n", words, 1, lines);
  lm::TrainingText text;
  text.add({lines.offsets, lines.ids}, words.size(), {}, -1);
  const std::vector<int64_t> least(static_cast<size_t>(order), 0);
  return std::move(lm::estimate(text, words, {order, least, true, {0.5, 1, 1.5}}, control).model);
}

}  // namespace dragoman::search
