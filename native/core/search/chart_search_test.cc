#include "core/search/chart_search.hh"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/kbest.hh"
#include "core/search/test_rules.hh"
#include "test/test.hh"

using namespace dragoman;

TEST(chart_search_covers_every_sentence) {
  search::TestRules rules;
  for (const int length : {0, 1, 2, 5, 9, 40}) rules.add_sentence(length);
  const std::vector<double> weights{0.1, -0.2, -0.3, -1, 1, 0.5};
  const search::ChartLabels labels{2, {0, 1}, {0}};
  Control control;
  const search::ChartDecoder decoder({20, 5, 3, 8}, search::test_features(), nullptr, {});
  const auto forests = decoder.decode(rules.batch(), labels, weights, 2, control);
  const auto lists = decoder.decode_kbest(rules.batch(), labels, weights, 10, true, 1, control);
  CHECK(forests.size() == 6 && lists.first.size() == 7);
  for (size_t s = 0; s < forests.size(); ++s) {
    const forest::Forest& forest = forests[s];
    CHECK(forest.n_nodes() > 0);
    const auto length = static_cast<int32_t>(rules.sentence_offsets[s + 1] - rules.sentence_offsets[s]);
    CHECK((forest.node(forest.goal()).span == forest::Forest::Span{0, length}));
    CHECK(lists.first[s] < lists.first[s + 1]);
    forest::KBestLists one;
    forest::append_kbest(forest, weights, 1, true, control, one);
    CHECK(one.scores[0] == lists.scores[static_cast<size_t>(lists.first[s])]);
  }
}

TEST(chart_search_scores_whole_strings) {
  Control control;
  const std::shared_ptr<const lm::Model> model = search::test_lm(4, control);
  search::TestRules rules;
  for (const int length : {0, 1, 4, 9}) rules.add_sentence(length);
  std::vector<uint32_t> lm_words;  // of the target ids 0 to 8: the model's own
  for (uint32_t word = 0; word < 9; ++word) lm_words.push_back(word);
  search::ChartFeatures with_lm = search::test_features();
  with_lm.lm = 6;
  const std::vector<double> weights{0.1, -0.2, -0.3, -1, 1, 0.5, 1};
  const search::ChartDecoder decoder({30, 1e9, 0, 20}, with_lm, model, lm_words);
  const auto lists = decoder.decode_kbest(rules.batch(), {2, {0, 1}, {0}}, weights, 20, false, 2, control);
  CHECK(lists.first.back() > 20);
  for (size_t c = 0; c < lists.scores.size(); ++c) {
    double sum = 0, found = 0;
    lm::State state = model->begin_state();
    for (auto i = lists.token_offsets[c]; i < lists.token_offsets[c + 1]; ++i) {
      const auto token = static_cast<uint32_t>(lists.tokens[static_cast<size_t>(i)]);
      sum += static_cast<double>(model->score(state, token < 9 ? token : lm::kUnk, state));
    }
    sum += static_cast<double>(model->score(state, lm::kEos, state));
    for (auto i = lists.feature_offsets[c]; i < lists.feature_offsets[c + 1]; ++i)
      if (lists.feature_ids[static_cast<size_t>(i)] == 6)
        found = static_cast<double>(lists.feature_values[static_cast<size_t>(i)]);
    CHECK(std::fabs(sum - found) < 1e-4);
  }
}

// Every word of a rule has feature 6 (for each run of them, wherever it stands), every nonterminal feature 7 as often
// as it has words: so candidates have 6 by the words that rules cover, and their scores hold it.
TEST(chart_search_weighs_features_of_places) {
  search::TestRules rules;
  for (const int length : {0, 1, 4, 9, 30}) rules.add_sentence(length);
  std::vector<int64_t> first_place{0}, first_row{0}, offsets{0}, first_class{0}, gap_offsets{0};
  std::vector<int32_t> symbols, positions, ids, classes, gap_ids;
  std::vector<float> values, gap_values;
  search::RuleBatch batch = rules.batch();
  constexpr int32_t kMaxLength = 40;
  for (int64_t s = 0; s < batch.size(); ++s)
    for (auto p = batch.first_pattern[static_cast<size_t>(s)]; p < batch.first_pattern[static_cast<size_t>(s) + 1];
         ++p) {
      const auto pattern = batch.patterns[p];
      const auto n_rules = batch.first_rule[static_cast<size_t>(p) + 1] - batch.first_rule[static_cast<size_t>(p)];
      for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] < 0) classes.insert(classes.end(), static_cast<size_t>(n_rules), 0);
        for (size_t w = 0; pattern[i] >= 0 && w < batch.words[s].size(); ++w) {
          if (batch.words[s][w] != pattern[i]) continue;
          symbols.push_back(static_cast<int32_t>(i));
          positions.push_back(static_cast<int32_t>(w));
          first_row.push_back(first_row.back() + n_rules);
          for (int64_t r = 0; r < n_rules; ++r) {
            ids.push_back(6);
            values.push_back(1);
            offsets.push_back(static_cast<int64_t>(ids.size()));
          }
        }
      }
      first_place.push_back(static_cast<int64_t>(symbols.size()));
      first_class.push_back(static_cast<int64_t>(classes.size()));
    }
  for (int32_t length = 1; length <= kMaxLength; ++length) {
    gap_ids.push_back(7);
    gap_values.push_back(static_cast<float>(length));
    gap_offsets.push_back(length);
  }
  batch.contexts = search::RuleContexts{first_place, symbols, positions, first_row, {offsets, ids}, values};
  batch.gaps = search::RuleGaps{first_class, classes, kMaxLength, {gap_offsets, gap_ids}, gap_values};
  const std::vector<double> weights{0.1, -0.2, -0.3, -1, 1, 0.5, 0.75, -0.25};
  Control control;
  const search::ChartDecoder decoder({20, 5, 3, 8}, search::test_features(), nullptr, {});
  const auto lists = decoder.decode_kbest(batch, {2, {0, 1}, {0}}, weights, 30, false, 2, control);
  CHECK(lists.first.back() > 60);
  for (size_t s = 0; s + 1 < lists.first.size(); ++s)
    for (auto c = static_cast<size_t>(lists.first[s]); c < static_cast<size_t>(lists.first[s + 1]); ++c) {
      double sum = 0, covered = 0;
      for (auto i = static_cast<size_t>(lists.feature_offsets[c]);
           i < static_cast<size_t>(lists.feature_offsets[c + 1]); ++i) {
        const auto value = static_cast<double>(lists.feature_values[i]);
        sum += weights[static_cast<size_t>(lists.feature_ids[i])] * value;
        if (lists.feature_ids[i] == 6 || lists.feature_ids[i] == 3) covered += value;  // 3: words passed through
      }
      CHECK(std::fabs(sum - lists.scores[c]) < 1e-4);
      CHECK(covered == static_cast<double>(batch.words[static_cast<int64_t>(s)].size()));
    }
  batch.check();
  batch.gaps->classes[0] = 1;
  CHECK(test::throws<std::invalid_argument>([&] { batch.check(); }));
}

TEST(chart_search_refuses_what_does_not_fit) {
  search::TestRules rules;
  rules.add_sentence(4);
  const search::ChartLabels labels{2, {0, 1}, {0}};
  Control control;
  const search::ChartDecoder decoder({20, 5, 3, 8}, search::test_features(), nullptr, {});
  const auto refused = [&](const search::RuleBatch& batch, const search::ChartLabels& meaning) {
    return test::throws<std::invalid_argument>([&] {
      batch.check();
      decoder.decode(batch, meaning, {}, 1, control);
    });
  };
  CHECK(!refused(rules.batch(), labels));
  CHECK(refused(rules.batch(), {3, {0}, {0}}));
  CHECK(refused(rules.batch(), {2, {1, 0}, {0}}));
  CHECK(refused(rules.batch(), {2, {0}, {2}}));
  search::RuleBatch batch = rules.batch();
  batch.labels.pop_back();
  CHECK(refused(batch, labels));
  search::TestRules other = rules;
  std::swap(other.first_rule[1], other.first_rule[2]);
  CHECK(refused(other.batch(), labels));
  other = rules;
  other.targets[0] = -2;
  CHECK(refused(other.batch(), labels));
  other = rules;
  other.symbols.back() = -1;
  CHECK(refused(other.batch(), labels));
  CHECK(test::throws<std::invalid_argument>(
      [] { search::ChartDecoder({0, 5, 3, 8}, search::test_features(), nullptr, {}); }));
}
