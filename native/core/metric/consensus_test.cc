// Matches of all pairs, and expected gains, beside the metrics' own kernels.
#include "core/metric/consensus.hh"

#include <cmath>
#include <map>
#include <random>

#include "core/metric/bleu.hh"
#include "core/metric/pair_matches.hh"
#include "core/metric/ter.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

using Words = std::vector<int32_t>;

std::vector<Words> random_texts(size_t n, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<Words> texts(n);
  for (Words& text : texts)
    for (unsigned i = random() % 14; i > 0; --i) text.push_back(static_cast<int32_t>(random() % 5));
  return texts;
}

uint32_t common(const Words& a, const Words& b, size_t order) {
  std::map<Words, int> grams;
  for (size_t i = 0; i + order <= a.size(); ++i)
    ++grams[Words(a.begin() + static_cast<long>(i), a.begin() + static_cast<long>(i + order))];
  uint32_t n = 0;
  for (size_t i = 0; i + order <= b.size(); ++i)
    n += grams[Words(b.begin() + static_cast<long>(i), b.begin() + static_cast<long>(i + order))]-- > 0;
  return n;
}

struct Lists {
  std::vector<int64_t> offsets{0}, lists{0};
  std::vector<int32_t> words;
  std::vector<double> mass;

  void add(const std::vector<Words>& texts) {
    for (const Words& text : texts) {
      words.insert(words.end(), text.begin(), text.end());
      offsets.push_back(static_cast<int64_t>(words.size()));
      mass.push_back(0.1 + static_cast<double>(mass.size() % 7));
    }
    lists.push_back(static_cast<int64_t>(mass.size()));
  }
  metric::ConsensusInput input() const { return {{offsets, words}, lists, mass}; }
};

}  // namespace

TEST(pair_matches_are_clipped_counts) {
  metric::PairMatches pairs;
  for (int seed = 0; seed < 5; ++seed) {  // the same object, so that nothing of a list before may stay
    const auto texts = random_texts(static_cast<size_t>(1 + 9 * seed), seed);
    const auto others = random_texts(texts.size(), 100 + seed);
    pairs.reset(texts.size());
    pairs.add(texts, 4, 0);
    pairs.add(others, 2, 4);
    size_t n_pairs = 0;
    pairs.for_each_pair([&](size_t a, size_t b, const auto& matches) {
      ++n_pairs;
      for (size_t n = 0; n < 4; ++n) CHECK(matches[n] == common(texts[a], texts[b], n + 1));
      for (size_t n = 0; n < 2; ++n) CHECK(matches[4 + n] == common(others[a], others[b], n + 1));
    });
    CHECK(n_pairs == texts.size() * (texts.size() - 1) / 2);
  }
}

TEST(expected_gains_do_not_depend_on_threads) {
  Lists lists;
  for (int l = 0; l < 9; ++l) lists.add(random_texts(static_cast<size_t>(l * 3), l));
  Control control;
  const auto input = lists.input();
  CHECK(metric::expected_bleu(input, 4, 1, control) == metric::expected_bleu(input, 4, 3, control));
  CHECK(metric::expected_ter(input, 1, control) == metric::expected_ter(input, 3, control));
  const auto matches = metric::expected_matches(input, 4, 1, control);
  CHECK(matches == metric::expected_matches(input, 4, 3, control));
  // The second candidate of the second list against all of it.
  double expected = 0;
  const auto texts = random_texts(3, 1);
  for (size_t r = 0; r < 3; ++r) expected += lists.mass[r] * common(texts[1], texts[r], 2);
  CHECK(std::abs(matches[1 * 4 + 1] - expected) < 1e-9);
}

TEST(consensus_rejects_what_does_not_fit) {
  Control control;
  Lists lists;
  lists.add({{1, 2}, {3}});
  lists.mass[1] = -1;
  CHECK(test::throws<std::invalid_argument>([&] { metric::expected_bleu(lists.input(), 4, 1, control); }));
  lists.mass[1] = std::numeric_limits<double>::infinity();
  CHECK(test::throws<std::invalid_argument>([&] { metric::expected_ter(lists.input(), 1, control); }));
  lists.mass[1] = 1;
  CHECK(test::throws<std::invalid_argument>([&] { metric::expected_bleu(lists.input(), 9, 1, control); }));
  lists.lists.back() = 1;
  CHECK(test::throws<std::invalid_argument>([&] { metric::expected_bleu(lists.input(), 4, 1, control); }));
}
