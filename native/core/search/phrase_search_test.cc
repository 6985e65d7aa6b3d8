#include "core/search/phrase_search.hh"

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/names/feature_table.hh"
#include "core/search/block_transitions.hh"
#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_searcher.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

// log p(word | the word before), made up; the state is the word plus one.
struct ToyLm {
  static constexpr uint32_t kUnk = 0, kEos = 2;
  uint32_t begin() const { return 2; }
  uint32_t empty() const { return 0; }
  float score(uint32_t state, uint32_t word, uint32_t& next) const {
    next = word + 1;
    return -0.1f * static_cast<float>((state * 7 + word * 3) % 11);
  }
  void prefetch(uint32_t, uint32_t) const {}
};

// Fires on (rule before, rule), and on the first word of the block beside it.
class PairTemplate final : public search::TransitionTemplate {
 public:
  int64_t state(const search::PhraseSight& phrase) const override { return phrase.rule; }
  bool uses_blocks() const override { return true; }
  void features(const search::Transition& t, std::vector<forest::Feature>& out) const override {
    if (t.is_first) return;
    out.push_back({static_cast<int32_t>(20 + (t.previous + 1) * 5 + t.phrase.rule + 1), 1.0f});
    out.push_back({static_cast<int32_t>(60 + t.top.first_word % 7), 1.0f});
  }
};

struct Toy {
  std::vector<int64_t> pass_offsets, first, target_offsets{0}, rules, feature_offsets{0};
  std::vector<int32_t> pass_through, begin, end, targets, feature_ids;
  std::vector<float> scores, orientations, feature_values;

  search::PhraseBatch batch() const {
    return {{pass_offsets, pass_through},
            first,
            begin,
            end,
            {target_offsets, targets},
            rules,
            scores,
            orientations,
            {feature_offsets, feature_ids},
            feature_values,
            1,
            6,
            {}};
  }
};

Toy toy(std::mt19937& random, int n_words, int n_options) {
  Toy t;
  t.pass_offsets = {0, n_words};
  for (int p = 0; p < n_words; ++p) t.pass_through.push_back(3 + p);
  for (int o = 0; o < n_options; ++o) {
    const int begin = static_cast<int>(random() % static_cast<unsigned>(n_words));
    const int end = begin + 1 + static_cast<int>(random() % static_cast<unsigned>(n_words - begin));
    t.begin.push_back(begin);
    t.end.push_back(end);
    for (unsigned n = random() % 3 + 1; n > 0; --n) t.targets.push_back(static_cast<int32_t>(3 + random() % 5));
    t.target_offsets.push_back(static_cast<int64_t>(t.targets.size()));
    t.rules.push_back(o);
    t.scores.push_back(-static_cast<float>(random() % 5));
    for (int c = 0; c < 6; ++c) t.orientations.push_back(-static_cast<float>(random() % 5));
    t.feature_offsets.push_back(0);
  }
  t.first = {0, n_options};
  return t;
}

search::PhraseFeatures features(bool hierarchical) {
  return {0, 1, 2, 3, 4, {5}, {{hierarchical, 3, {6, 7, 8}, {9, 10, 11}}}};
}

// Scores of all derivations by following every forest path: they must not depend on how much was recombined.
std::multiset<long> path_scores(const forest::Forest& forest, std::span<const double> weights) {
  forest::KBestLists lists;
  forest::append_kbest(forest, weights, 100000, false, lists);
  std::multiset<long> result;
  for (const double score : lists.scores) result.insert(std::lround(score * 1e3));
  return result;
}

}  // namespace

// Features over pairs of phrases are exact only if recombination keeps what they look at.
TEST(stateful_templates_see_what_they_ask_for) {
  std::mt19937 random(11);
  const std::vector<std::shared_ptr<const search::TransitionTemplate>> templates{std::make_shared<PairTemplate>()};
  std::vector<uint32_t> lm_words(10);
  for (uint32_t i = 0; i < 10; ++i) lm_words[i] = i;
  for (int round = 0; round < 200; ++round) {
    const Toy t = toy(random, 1 + round % 4, 1 + round % 4);
    const search::PhraseBatch batch = t.batch();
    std::vector<double> weights(70);
    for (double& w : weights) w = static_cast<double>(random() % 9) / 8 - 0.5;
    const search::PhraseFeatures f = features(round % 2 == 0);
    batch.check();
    const search::PhraseSettings cube{1 << 20, 1 << 20, 1e9, 0, round % 3 == 0 ? -1 : 2};
    search::PhraseSettings plain = cube;
    plain.pop_limit = 0;
    search::PhraseSearcher<ToyLm> a(cube, f, ToyLm(), lm_words, templates), b(plain, f, ToyLm(), lm_words, templates);
    const forest::Forest forest = a.run(batch, 0, weights);
    CHECK(path_scores(forest, weights) == path_scores(b.run(batch, 0, weights), weights));
    // Each derivation's transition features, recomputed from its phrases.
    forest::KBestLists lists;
    forest::append_kbest(forest, weights, 1000, false, lists);
    for (size_t c = 0; c < lists.scores.size(); ++c) {
      std::map<int32_t, float> wanted, found;
      search::BlockStacks stacks;
      uint32_t stack = 0;
      int64_t previous = -2;
      const auto first = lists.edges.begin() + lists.edge_offsets[c],
                 last = lists.edges.begin() + lists.edge_offsets[c + 1];
      for (auto e = std::make_reverse_iterator(last); e != std::make_reverse_iterator(first); ++e) {
        const int32_t i = forest.edge_instance(*e);
        const forest::Forest::Instance& instance = forest.instance(i);
        if (instance.span.begin == instance.span.end) continue;
        if (previous > -2) {
          wanted[static_cast<int32_t>(20 + (previous + 1) * 5 + instance.rule + 1)] += 1;
          wanted[60 + stacks.top(stack).first_word % 7] += 1;
        }
        previous = instance.rule;
        stack = stacks.shift(stack, {instance.span.begin, instance.span.end}, forest.symbols(i)[1]);
      }
      for (int64_t i = lists.feature_offsets[c]; i < lists.feature_offsets[c + 1]; ++i)
        if (lists.feature_ids[static_cast<size_t>(i)] >= 20)
          found[lists.feature_ids[static_cast<size_t>(i)]] = lists.feature_values[static_cast<size_t>(i)];
      CHECK(found == wanted);
    }
  }
}

// Search by a block orders as search by the weights it stands for. All numbers are multiples of small powers of 2 or
// floats, so that sums are exact.
TEST(transition_features_are_projected_on_blocks) {
  std::mt19937 random(13);
  names::FeatureIndex index;
  for (int i = 0; i < 70; ++i) index.intern("f" + std::to_string(i));
  const int32_t block = index.intern("block");
  std::vector<int32_t> ids;
  for (int32_t id = 20; id < 65; ++id) ids.push_back(id);
  const names::Sorted covered = names::sort_features(index, ids);
  std::vector<double> of_id(70), coefficients;
  for (const int32_t id : ids) of_id[static_cast<size_t>(id)] = 1 + static_cast<double>(random() % 1000) / (1 << 30);
  for (const int64_t i : covered.order) coefficients.push_back(of_id[static_cast<size_t>(ids[static_cast<size_t>(i)])]);
  const auto blocks = std::make_shared<const templates::Blocks>(
      std::vector<templates::Blocks::Vector>{{block, covered.table, coefficients}});
  using Templates = std::vector<std::shared_ptr<const search::TransitionTemplate>>;
  const auto pairs = std::make_shared<PairTemplate>();
  const Templates plain{pairs}, projected{std::make_shared<search::BlockTransitions>(pairs, blocks, index)};
  const std::vector<uint32_t> lm_words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (int round = 0; round < 100; ++round) {
    const search::PhraseBatch batch = toy(random, 1 + round % 5, 2 + round % 6).batch();
    std::vector<double> sparse(70), dense(71);
    for (size_t i = 0; i < 70; ++i) sparse[i] = dense[i] = static_cast<double>(random() % 9) / 8 - 0.5;
    dense[70] = 0.5;
    for (const int32_t id : ids) sparse[static_cast<size_t>(id)] = 0.5 * of_id[static_cast<size_t>(id)];
    const search::PhraseFeatures f = features(round % 2 == 0);
    const search::PhraseSettings settings{5, 8, 1e9, 0, -1};
    search::PhraseSearcher<ToyLm> a(settings, f, ToyLm(), lm_words, plain),
        b(settings, f, ToyLm(), lm_words, projected);
    forest::KBestLists one, other;
    forest::append_kbest(a.run(batch, 0, sparse), sparse, 50, false, one);
    forest::append_kbest(b.run(batch, 0, dense), dense, 50, false, other);
    CHECK(one.scores == other.scores && one.tokens == other.tokens && one.edges == other.edges);
    for (size_t c = 0; c < one.scores.size(); ++c) {
      std::map<int32_t, double> wanted, found;
      for (auto i = static_cast<size_t>(one.feature_offsets[c]); i < static_cast<size_t>(one.feature_offsets[c + 1]);
           ++i) {
        const int32_t id = one.feature_ids[i];
        const bool is_covered = id >= 20 && id < 65;
        wanted[is_covered ? block : id] +=
            static_cast<double>(one.feature_values[i]) * (is_covered ? of_id[static_cast<size_t>(id)] : 1);
      }
      for (auto i = static_cast<size_t>(other.feature_offsets[c]);
           i < static_cast<size_t>(other.feature_offsets[c + 1]); ++i)
        found[other.feature_ids[i]] = static_cast<double>(other.feature_values[i]);
      CHECK(wanted.size() == found.size());
      for (const auto& [id, value] : wanted) CHECK(static_cast<float>(value) == static_cast<float>(found[id]));
    }
  }
}

TEST(coverages_follow_a_plain_bitmap) {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 150);
    const std::vector<double> best(static_cast<size_t>(n), -1.0);
    search::FutureCosts costs;
    costs.compute(n, 1, best, n);
    search::Coverages coverages;
    coverages.start(n, -1, costs);
    std::vector<char> bitmap(static_cast<size_t>(n));
    uint32_t id = 0;
    std::map<std::vector<char>, uint32_t> seen{{bitmap, 0}};
    int n_covered = 0;
    while (n_covered < n) {
      int begin = static_cast<int>(random() % static_cast<unsigned>(n));
      while (bitmap[static_cast<size_t>(begin)]) begin = (begin + 1) % n;
      int end = begin;
      const int longest = 1 + static_cast<int>(random() % 5);
      while (end < n && !bitmap[static_cast<size_t>(end)] && end - begin < longest)
        bitmap[static_cast<size_t>(end++)] = 1;
      n_covered += end - begin;
      id = coverages.extend(id, {begin, end});
      CHECK(coverages.n_covered(id) == n_covered);
      CHECK(std::abs(coverages.future(id) + (n - n_covered)) < 1e-9);
      for (int p = 0; p < n; ++p) CHECK(coverages.is_covered(id, p) == (bitmap[static_cast<size_t>(p)] != 0));
      const auto [known, is_new] = seen.try_emplace(bitmap, id);
      CHECK(known->second == id);
    }
    CHECK(coverages.first_gap(id) == n);
  }
}
