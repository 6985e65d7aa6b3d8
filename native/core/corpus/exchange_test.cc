#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/corpus/exchange.hh"
#include "test/test.hh"

namespace {

using namespace dragoman;

struct Text {
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> ids;
  Sentences sentences() const { return {offsets, ids}; }
};

// Sentences of 0 to 6 words, some of which stand beside themselves; words below 3 do not occur.
Text random_text(int64_t n_sentences, int32_t n_ids, uint32_t seed) {
  Text text;
  const auto draw = [&](uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
  };
  for (int64_t s = 0; s < n_sentences; ++s) {
    for (uint32_t length = draw(7); length > 0; --length) {
      const auto a = static_cast<int32_t>(draw(static_cast<uint32_t>(n_ids - 3)));
      const auto b = static_cast<int32_t>(draw(static_cast<uint32_t>(n_ids - 3)));
      text.ids.push_back(3 + std::min(a, b));  // low ids are frequent
    }
    text.offsets.push_back(static_cast<int64_t>(text.ids.size()));
  }
  return text;
}

double product(double n) { return n > 0 ? n * std::log(n) : 0; }

// The log likelihood from the text itself.
double likelihood(const Text& text, const std::vector<int32_t>& by_id, int32_t n_classes) {
  const size_t n = at(n_classes) + 1;
  std::vector<double> pairs(n * n), totals(n), words(by_id.size() + 1);
  for (int64_t s = 0; s < text.sentences().size(); ++s) {
    size_t last = n - 1;
    const auto sentence = text.sentences()[s];
    if (sentence.empty()) continue;
    for (const int32_t id : sentence) {
      const size_t next = at(by_id[at(id)]);
      ++pairs[last * n + next], ++totals[next], ++words[at(id)];
      last = next;
    }
    ++pairs[last * n + n - 1], ++totals[n - 1], ++words.back();
  }
  double sum = 0;
  for (const double pair : pairs) sum += product(pair);
  for (const double total : totals) sum -= 2 * product(total);
  for (const double word : words) sum += product(word);
  return sum;
}

}  // namespace

TEST(bigrams_are_those_of_the_text) {
  const Text text{{0, 3, 3, 5}, {3, 4, 4, 4, 6}};  // 4 is the most frequent; the second sentence is empty
  Control control;
  const corpus::WordBigrams bigrams(text.sentences(), 8, control);
  CHECK(bigrams.n_words() == 3);
  CHECK(bigrams.id(0) == 4 && bigrams.id(1) == 3 && bigrams.id(2) == 6);
  CHECK(bigrams.word_of(5) == -1 && bigrams.word_of(6) == 2);
  CHECK(bigrams.count(0) == 3 && bigrams.count(bigrams.boundary()) == 2);
  const auto after = bigrams.after(0);  // 4 4, 4 6, 4 </s>
  CHECK(after.size() == 3);
  CHECK(after[0].word == 0 && after[0].count == 1 && after[1].word == 2 && after[2].word == 3);
  const auto before = bigrams.before(0);  // 4 4, 3 4, <s> 4
  CHECK(before.size() == 3);
  CHECK(before[0].word == 0 && before[1].word == 1 && before[2].word == 3);
  CHECK(test::throws<std::invalid_argument>([&] { corpus::WordBigrams(text.sentences(), 6, control); }));
}

TEST(every_gain_is_the_difference_of_recomputed_likelihoods) {
  Control control;
  for (uint32_t seed = 1; seed < 6; ++seed) {
    const Text text = random_text(60, 15, seed);
    const corpus::WordBigrams bigrams(text.sentences(), 15, control);
    for (const int32_t n_classes : {1, 2, 5}) {
      corpus::Exchange exchange(bigrams, n_classes,
                                corpus::starting_classes(bigrams.n_words(), n_classes, corpus::Start::ALONE));
      for (int32_t step = 0; step < 40; ++step) {
        const int32_t word = (step * 7) % bigrams.n_words(), to = (step * 3 + step / 5) % n_classes;
        const double before = likelihood(text, exchange.by_id(), n_classes);
        std::vector<double> gains(at(n_classes));
        exchange.gains(word, gains);
        exchange.move(word, to);
        const double after = likelihood(text, exchange.by_id(), n_classes);
        CHECK(std::abs(after - before - gains[at(to)]) < 1e-9);
        CHECK(std::abs(exchange.likelihood() - after) < 1e-9);
      }
    }
  }
}

TEST(classes_to_start_with_go_by_frequency) {
  using Classes = std::vector<int32_t>;
  CHECK(corpus::starting_classes(5, 3, corpus::Start::ALONE) == Classes({0, 1, 2, 2, 2}));
  CHECK(corpus::starting_classes(5, 3, corpus::Start::DEALT) == Classes({0, 1, 2, 0, 1}));
}

TEST(classes_are_the_same_for_any_number_of_threads) {
  Control control;
  const Text text = random_text(3000, 300, 9);
  const corpus::WordBigrams bigrams(text.sentences(), 300, control);
  const std::vector<int32_t> sizes{4, 40, 12};
  const auto one = corpus::cluster(bigrams, sizes, 50, 1, control);
  const auto three = corpus::cluster(bigrams, sizes, 50, 3, control);
  for (size_t i = 0; i < sizes.size(); ++i) {
    CHECK(one[i].classes == three[i].classes);
    CHECK(one[i].likelihood == three[i].likelihood && one[i].likelihood > one[i].start);
    CHECK(one[i].classes[0] == -1 && one[i].classes[3] >= 0);
    CHECK(std::abs(one[i].likelihood - likelihood(text, one[i].classes, sizes[i])) < 1e-6);
  }
  CHECK(test::throws<std::invalid_argument>([&] {
    const std::vector<int32_t> too_many{1000};
    corpus::cluster(bigrams, too_many, 1, 1, control);
  }));
}
