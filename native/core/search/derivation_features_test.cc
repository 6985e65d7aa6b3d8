// Derivations that come from anywhere: those of other sentences, and wild numbers. (That features equal the decoders'
// is tested in Python.)
#include "core/search/derivation_features.hh"

#include <random>
#include <vector>

#include "core/base/errors.hh"
#include "core/search/derivation_tokens.hh"
#include "test/test.hh"

namespace {

using namespace dragoman;

constexpr int32_t kA = 3, kB = 4, kX = 3, kY = 4;

// Rules in the order of their source sides: X1 b X2 → X2 y X1; a → x; a X1 → X1 y.
struct Grammar {
  std::vector<int64_t> source_offsets{0, 3, 4, 6}, target_offsets{0, 4, 6, 9}, pair_offsets{0, 1, 2, 3};
  std::vector<grammar::Symbol> sources{-1, kB, -1, kA, kA, -1}, targets{-1, -2, kY, -1, -1, kX, -1, -1, kY};
  std::vector<int32_t> pair_targets{0, 1, 2};
  std::vector<int64_t> no_events{0, 0, 0, 0};
  grammar::GrammarTables tables;

  Grammar() {
    tables.sources = {source_offsets, sources};
    tables.targets = {target_offsets, targets};
    tables.pair_targets = {pair_offsets, pair_targets};
    tables.pair_events.offsets = no_events;
    tables.n_given_scores = 0;
    tables.is_rules = true;
  }
};

// The sentence "a a b ?": the first rule over "a → x" inside "a X1", and a word passed through.
struct Numbers {
  std::vector<int64_t> offsets{0, 4}, first_candidate{0, 2}, first_application{0, 4}, rules{0, 2, 1, -1}, rows{0, 4, 8};
  std::vector<int32_t> words{kA, kA, kB, 0}, begins{0, 0, 1, 3}, ends{4, 2, 2, 4}, applications{0, 1, 2, 3, 0, 1, 2, 3};
  std::vector<int16_t> folds{-1};

  search::DerivationBatch batch() const {
    return {{offsets, words}, folds, first_candidate, first_application, rules, begins, ends, {rows, applications}};
  }
};

struct Computer {
  names::WordTable words;
  search::DerivationFeatures features;

  explicit Computer(const grammar::GrammarTables& tables) : words(named()), features(tables, set(tables)) {}
  static names::WordTable named() {
    names::WordTable words;
    for (const char* word : {"<unk>", "<s>", "</s>", "a", "b"}) words.intern(word);
    return words;
  }
  templates::TemplateSet set(const grammar::GrammarTables& tables) const {
    const std::vector<templates::TemplateChoice> choices{
        {"rule_id", {0}}, {"structural_distortion", {10}}, {"word_context", {0, 0}}};
    return {{{&words, {}, {"[X]"}}, {&words, {}, {"[1]", "[2]"}}, &tables}, choices};
  }
  search::CandidateFeatures compute(const search::DerivationBatch& batch, names::FeatureIndex& index) const {
    Control control;
    const auto interned = search::DerivationFeatures::intern(features.draft(batch, 2, control), index, true, nullptr);
    return features.sum(batch, interned, {}, 2, control);
  }
};

}  // namespace

TEST(derivations_have_features_and_words) {
  const Grammar grammar;
  const Computer computer(grammar.tables);
  const Numbers numbers;
  names::FeatureIndex index;
  const auto found = computer.compute(numbers.batch(), index);
  CHECK(found.offsets == (std::vector<int64_t>{0, 6, 12}));
  CHECK(index.find("rule_id:[X],a\\s[X],[1]\\sb") >= 0);
  CHECK(index.find("structural_distortion:reordered,2") >= 0);
  Control control;
  const std::vector<int32_t> passed{-1, -1, -1, 9};
  const auto tokens = search::derivation_tokens(grammar.tables, numbers.batch(), passed, 1, control);
  CHECK(tokens.values == (std::vector<int32_t>{9, kY, kX, kY, 9, kY, kX, kY}));
}

TEST(wild_derivations_are_refused_or_used) {
  const Grammar grammar;
  const Computer computer(grammar.tables);
  std::mt19937 random(5);
  int n_refused = 0, n_used = 0;
  for (int round = 0; round < 20000; ++round) {
    Numbers numbers;
    const auto damage = [&](auto& values) {
      const int64_t wild[] = {-2, -1, 0, 1, 2, 3, 4, 5, 100, INT32_MAX};
      values[random() % values.size()] =
          static_cast<typename std::remove_reference_t<decltype(values)>::value_type>(wild[random() % 10]);
    };
    for (unsigned k = 1 + random() % 3; k > 0; --k) {
      switch (random() % 8) {
        case 0:
          damage(numbers.first_candidate);
          break;
        case 1:
          damage(numbers.first_application);
          break;
        case 2:
          damage(numbers.rules);
          break;
        case 3:
          damage(numbers.rows);
          break;
        case 4:
          damage(numbers.begins);
          break;
        case 5:
          damage(numbers.ends);
          break;
        case 6:
          damage(numbers.applications);
          break;
        default:
          damage(numbers.words);
      }
    }
    try {
      names::FeatureIndex index;
      const auto found = computer.compute(numbers.batch(), index);
      CHECK(found.offsets.back() == static_cast<int64_t>(found.ids.size()));
      Control control;
      const std::vector<int32_t> passed(4, 9);
      CHECK(search::derivation_tokens(grammar.tables, numbers.batch(), passed, 1, control).size() == 2);
      ++n_used;
    } catch (const InputError&) {
      ++n_refused;
    }
  }
  CHECK(n_refused > 10000 && n_used > 100);
}
