#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/control.hh"
#include "core/base/random.hh"
#include "core/optim/reference_store.hh"
#include "core/search/chart_search.hh"
#include "core/search/rule_match.hh"
#include "core/search/test_rules.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

// Translations of a batch that its own rules make, some with a word changed, and links at random.
struct Pairs {
  RaggedVector<int32_t> targets;
  std::vector<int64_t> link_offsets{0};
  std::vector<align::Link> links;

  search::ReferencePairs view() const { return {targets, {link_offsets, links}}; }
};

Pairs random_pairs(const search::RuleBatch& batch, const forest::KBestLists& lists, uint64_t seed) {
  Pairs pairs;
  uint64_t state = seed;
  const auto draw = [&](int64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int32_t>((state >> 33) % static_cast<uint64_t>(n));
  };
  for (int64_t s = 0; s < batch.size(); ++s) {
    const int64_t first = lists.first[static_cast<size_t>(s)], last = lists.first[static_cast<size_t>(s) + 1];
    const int64_t c = first + draw(last - first);
    for (int64_t t = lists.token_offsets[static_cast<size_t>(c)]; t < lists.token_offsets[static_cast<size_t>(c) + 1];
         ++t)
      pairs.targets.values.push_back(draw(9) == 0 ? 3 + draw(5) : lists.tokens[static_cast<size_t>(t)]);
    pairs.targets.offsets.push_back(static_cast<int64_t>(pairs.targets.values.size()));
    const auto n = static_cast<int64_t>(batch.words[s].size()), m = static_cast<int64_t>(pairs.targets[s].size());
    std::vector<align::Link> own;
    for (int64_t i = 0; i < n && m > 0; ++i)
      if (draw(4) > 0) own.push_back({static_cast<int32_t>(i), static_cast<int32_t>(draw(3) ? (i * m) / n : draw(m))});
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    pairs.links.insert(pairs.links.end(), own.begin(), own.end());
    pairs.link_offsets.push_back(static_cast<int64_t>(pairs.links.size()));
  }
  return pairs;
}

}  // namespace

TEST(a_span_filter_allows_the_spans_that_links_make_phrase_pairs) {
  const std::vector<align::Link> links{{0, 1}, {1, 0}, {3, 2}, {3, 3}, {4, 3}};
  search::SpanFilter filter;
  filter.assign(6, 4, links, 4);
  for (int32_t begin = 0; begin < 6; ++begin)
    for (int32_t end = begin + 1; end <= 6; ++end) {
      bool has_link = false, is_closed = true;
      int32_t low = 4, high = -1;
      for (const align::Link& link : links)
        if (begin <= link.source && link.source < end) {
          has_link = true;
          low = std::min(low, link.target);
          high = std::max(high, link.target);
        }
      for (const align::Link& link : links)
        if ((link.source < begin || link.source >= end) && low <= link.target && link.target <= high) is_closed = false;
      const bool is_allowed = has_link && is_closed && end - begin <= 4;
      CHECK(filter.allows(begin, end) == is_allowed);
      if (is_allowed) CHECK(filter.ends(begin, end));
    }
  CHECK(!filter.ends(3, 4));
}

TEST(forests_around_references_fit_together_whatever_the_links) {
  Control control;
  const std::shared_ptr<const lm::Model> model = search::test_lm(3, control);
  search::TestRules rules;
  for (int i = 0; i < 24; ++i) rules.add_sentence(i % 9);
  std::vector<uint32_t> lm_words;
  for (uint32_t word = 0; word < 9; ++word) lm_words.push_back(word);
  search::ChartFeatures features = search::test_features();
  features.lm = 6;
  const std::vector<double> weights{0.1, -0.2, -0.3, -1, 1, 0.5, 1};
  const search::ChartLabels labels{2, {0, 1}, {0}};
  const search::ChartDecoder decoder({30, 1e9, 0, 6}, features, model, lm_words);
  const search::RuleBatch batch = rules.batch();
  const auto lists = decoder.decode_kbest(batch, labels, weights, 10, true, 1, control);
  int64_t n_forests = 0, n_wrong = 0;
  for (uint64_t seed = 1; seed <= 32; ++seed) {
    const Pairs pairs = random_pairs(batch, lists, seed);
    search::ReferenceSettings settings;
    settings.tight = seed % 2 == 0;
    settings.wide = seed % 3 == 0;
    settings.holes = seed % 4 != 0;
    settings.max_wrong = static_cast<int32_t>(seed % 5);
    if (seed > 24) settings.beam = settings.wrong_beam = 2;
    const auto found = decoder.references(batch, nullptr, labels, weights, pairs.view(), settings, 2, control);
    found.check();
    CHECK(found.size() == batch.size());
    optim::ReferenceStore store(7);
    const std::vector<int32_t> ids{0, 1, 2, 3, 4, 5, 6};
    store.add(found, ids, found.gains);
    std::vector<int64_t> order;
    for (int64_t s = 0; s < store.size(); ++s) order.push_back(s);
    n_forests += store.size();
    n_wrong += store.n_edges();
    const optim::ReferenceModel loss{};
    const auto value = store.value(loss, order, weights, 2, control);
    CHECK(std::isfinite(value.loss) && value.loss >= 0 && value.share >= 0 && value.share <= 1);
    optim::GreedyDerivations greedy;
    optim::Learner learner(weights, {0.01, 0, 0, false, true}, {}, std::max<int64_t>(1, store.size()));
    for (int epoch = 0; epoch < 3; ++epoch) {
      CHECK(std::isfinite(store.epoch(learner, loss, order, 4, 2, control)));
      if (!settings.wide) CHECK(std::isfinite(store.epoch(learner, loss, order, 1, 1, control, &greedy)));
    }
  }
  CHECK(n_forests > 40 && n_wrong > 300);
}
