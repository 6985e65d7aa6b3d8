#include <algorithm>
#include <random>
#include <vector>

#include "core/metric/bleu.hh"
#include "core/metric/chrf.hh"
#include "core/metric/ribes.hh"
#include "core/metric/ter.hh"
#include "core/metric/ter_distance.hh"
#include "core/metric/wer.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

using Words = std::vector<int32_t>;

Words random_words(std::mt19937& random, size_t longest, int n_words) {
  Words words(random() % (longest + 1));
  for (auto& w : words) w = static_cast<int32_t>(random() % static_cast<unsigned>(n_words));
  return words;
}

// Owns what a MetricInput looks at.
struct Data {
  std::vector<int64_t> offsets{0}, ref_offsets{0}, ref_word_offsets{0};
  std::vector<int32_t> ids, sentence, ref_ids;

  void add_candidate(int32_t s, const Words& words) {
    ids.insert(ids.end(), words.begin(), words.end());
    offsets.push_back(static_cast<int64_t>(ids.size()));
    sentence.push_back(s);
  }
  void add_sentence(const std::vector<Words>& references) {
    for (const auto& words : references) {
      ref_ids.insert(ref_ids.end(), words.begin(), words.end());
      ref_word_offsets.push_back(static_cast<int64_t>(ref_ids.size()));
    }
    ref_offsets.push_back(ref_offsets.back() + static_cast<int64_t>(references.size()));
  }
  metric::MetricInput input() const { return {{offsets, ids}, sentence, ref_offsets, {ref_word_offsets, ref_ids}}; }
};

int plain_distance(const Words& a, const Words& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const int best = std::min({diagonal + (a[i] != b[j]), row[j] + 1, row[j + 1] + 1});
      diagonal = row[j + 1];
      row[j + 1] = best;
    }
  }
  return row.back();
}

template <int W>
void compare_distances(std::mt19937& random, size_t longest, int n_words) {
  const Words reference = random_words(random, longest, n_words), words = random_words(random, longest, n_words);
  std::vector<uint64_t> matches(static_cast<size_t>(n_words) * W, 0);
  for (size_t j = 0; j < reference.size(); ++j)
    matches[static_cast<size_t>(reference[j]) * W + j / 64] |= uint64_t{1} << (j % 64);
  const int n = static_cast<int>(words.size()), m = static_cast<int>(reference.size());
  metric::FullDistance<W> full;
  full.set_reference(matches.data(), m);
  metric::BandedDistance banded;
  banded.set_reference(reference, n);
  const int distance = full.set_base(words);
  CHECK(distance == plain_distance(words, reference));
  const int in_beam = banded.set_base(words);
  CHECK(in_beam >= distance);
  if (metric::beam_is_idle(distance, n, m)) {
    CHECK(in_beam == distance);
    int i = n, j = m;
    while (i > 0 && j > 0) {
      const metric::EditOp op = banded.op(i, j);
      CHECK(op == full.op(i, j, words[static_cast<size_t>(i) - 1] == reference[static_cast<size_t>(j) - 1]));
      i -= op != metric::EditOp::kInsert;
      j -= op != metric::EditOp::kDelete;
    }
  }
  const int same = n ? static_cast<int>(random() % (words.size() + 1)) : 0;
  Words variant = words;
  std::shuffle(variant.begin() + same, variant.end(), random);
  const auto rest = std::span<const int32_t>(variant).subspan(static_cast<size_t>(same));
  CHECK(full.variant(same, rest) == plain_distance(variant, reference));
  const int variant_in_beam = banded.variant(same, rest);
  CHECK(variant_in_beam == banded.set_base(variant));
}

}  // namespace

TEST(bleu_counts_clipped_matches) {
  Data data;
  data.add_sentence({{1, 2, 3, 1}, {1, 2}});
  data.add_candidate(0, {1, 1, 1, 2});
  data.add_candidate(0, {});
  Control control;
  const auto stats = metric::bleu_statistics(data.input(), 2, metric::ReferenceLength::kClosest, 1, control);
  CHECK((stats == std::vector<double>{4, 4, 3, 1, 4, 3, 0, 2, 0, 0, 0, 0}));
  const auto average = metric::bleu_statistics(data.input(), 1, metric::ReferenceLength::kAverage, 1, control);
  CHECK(average[1] == 3);
  const auto shortest = metric::bleu_statistics(data.input(), 1, metric::ReferenceLength::kShortest, 1, control);
  CHECK(shortest[1] == 2);
}

TEST(edit_distances_agree) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    compare_distances<1>(random, 8, 3);
    compare_distances<1>(random, 64, 12);
    compare_distances<2>(random, 128, 40);
  }
  for (int round = 0; round < 200; ++round) compare_distances<4>(random, 256, 100);
}

TEST(ter_counts_a_shift_as_one_edit) {
  Data data;
  data.add_sentence({{1, 2, 3, 4, 5}});
  data.add_candidate(0, {4, 5, 1, 2, 3});
  data.add_candidate(0, {});
  data.add_sentence({{}});
  data.add_candidate(1, {7, 7});
  Control control;
  CHECK((metric::ter_statistics(data.input(), 1, control) == std::vector<double>{1, 5, 5, 5, 2, 0}));
}

TEST(metrics_do_not_depend_on_threads_or_lengths) {
  std::mt19937 random(2);
  Data data;
  for (int32_t s = 0; s < 60; ++s) {
    std::vector<Words> references(1 + random() % 3);
    for (auto& words : references) words = random_words(random, s == 30 ? 400 : 40, 30);
    data.add_sentence(references);
    for (int c = 0; c < 3; ++c) data.add_candidate(s, random_words(random, s % 20 == 10 ? 400 : 40, 30));
  }
  std::vector<int64_t> spelling_offsets{0};
  std::vector<int32_t> spelling;
  for (int word = 0; word < 30; ++word) {
    for (int i = 0; i < word % 7; ++i) spelling.push_back('a' + (word + i) % 26);
    spelling_offsets.push_back(static_cast<int64_t>(spelling.size()));
  }
  const metric::SpellingTables tables{{spelling_offsets, spelling}, {spelling_offsets, spelling}};
  Control control;
  const auto input = data.input();
  CHECK(metric::bleu_statistics(input, 4, metric::ReferenceLength::kClosest, 1, control) ==
        metric::bleu_statistics(input, 4, metric::ReferenceLength::kClosest, 3, control));
  CHECK(metric::chrf_statistics(input, tables, 6, 2, 2, 1, control) ==
        metric::chrf_statistics(input, tables, 6, 2, 2, 3, control));
  CHECK(metric::ter_statistics(input, 1, control) == metric::ter_statistics(input, 3, control));
}

TEST(metrics_reject_what_does_not_fit) {
  Control control;
  Data data;
  data.add_sentence({{1, 2}});
  data.add_sentence({});
  data.add_candidate(1, {1});
  CHECK(test::throws<InputError>([&] { metric::ter_statistics(data.input(), 1, control); }));
  data.sentence[0] = 2;
  CHECK(test::throws<std::invalid_argument>([&] { metric::ter_statistics(data.input(), 1, control); }));
  data.sentence[0] = 0;
  const std::vector<int64_t> offsets{0, 1};
  const std::vector<int32_t> letters{'a'};
  const metric::SpellingTables tables{{offsets, letters}, {offsets, letters}};
  CHECK(
      test::throws<std::invalid_argument>([&] { metric::chrf_statistics(data.input(), tables, 6, 0, 2, 1, control); }));
  data.sentence.push_back(0);
  CHECK(test::throws<std::invalid_argument>([&] { metric::ter_statistics(data.input(), 1, control); }));
}

TEST(wer_and_ribes_of_random_words) {
  std::mt19937 random(11);
  Data data;
  std::vector<Words> references, candidates;
  for (int32_t s = 0; s < 40; ++s) {
    references.push_back(random_words(random, 80, 6));
    data.add_sentence({references.back()});
    candidates.push_back(random_words(random, 80, 6));
    data.add_candidate(s, candidates.back());
  }
  Control control;
  const auto one = metric::wer_statistics(data.input(), 1, control);
  CHECK(one == metric::wer_statistics(data.input(), 3, control));
  for (size_t s = 0; s < references.size(); ++s) {
    CHECK(one[2 * s] == plain_distance(candidates[s], references[s]));
    CHECK(one[2 * s + 1] == static_cast<double>(references[s].size()));
  }
  const auto scores = metric::ribes_scores(data.input(), {0.25, 0.1}, 1, control);
  CHECK(scores == metric::ribes_scores(data.input(), {0.25, 0.1}, 3, control));
  for (const double score : scores) CHECK(score >= 0 && score <= 1);
  CHECK(test::throws<std::invalid_argument>([&] { metric::ribes_scores(data.input(), {-1, 0.1}, 1, control); }));
}
