#include "core/forest/forest.hh"

#include <random>
#include <stdexcept>
#include <string>

#include "core/base/errors.hh"
#include "core/forest/inside.hh"
#include "core/forest/kbest.hh"
#include "core/forest/text.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

names::WordTable marked_words() {
  names::WordTable words;
  for (const char* word : {"<unk>", "<s>", "</s>"}) words.intern(word);
  return words;
}

}  // namespace

TEST(random_hypergraph_text_never_crashes) {
  const std::string good =
      "# target ||| features ||| source-covered\n3 4\n1\n<s> ||| ||| 0\n2\n[0] the ||| LM0=-1.5 ||| 1\n[0] a ||| "
      "LM0=-1 ||| "
      "1\n1\n[1] [0] </s> ||| LM0=-2 x=1 ||| 2\n";
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (unsigned n = random() % 4 + 1; n > 0; --n) {
      const size_t place = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[place] = "0129[]|= \n\\<>-.ea\xff"[random() % 18];
          break;
        case 1:
          text.erase(place, random() % 5 + 1);
          break;
        default:
          text.insert(place, std::string(random() % 3 + 1, "09[]\n| "[random() % 7]));
      }
      if (text.empty()) text = "\n";
    }
    names::WordTable words = marked_words();
    names::FeatureIndex features;
    try {
      const forest::Forest forest = forest::read_hypergraph(text, words, features);
      const std::vector<double> weights(static_cast<size_t>(features.size()), 0.5);
      forest::KBestLists lists;
      forest::append_kbest(forest, weights, 20, round % 2 == 0, Control(), lists);
      forest::expected_features(forest, forest.edge_scores(weights));
      names::WordTable again = marked_words();
      names::FeatureIndex names;
      CHECK(forest::read_hypergraph(forest::write_hypergraph(forest, words, {}, features), again, names).n_edges() ==
            forest.n_edges());
    } catch (const InputError& error) {
      CHECK(error.line >= 1);
    }
  }
}

TEST(a_forest_refuses_edges_that_do_not_fit) {
  forest::Forest forest;
  const int32_t words[] = {3, forest::tail_symbol(0)}, twice[] = {forest::tail_symbol(0), forest::tail_symbol(0)},
                none[] = {4};
  const int32_t one = forest.add_instance({}, words, {}), two = forest.add_instance({}, twice, {});
  const int32_t leaf = forest.add_instance({}, none, {});
  const int32_t tail[] = {0}, tails[] = {0, 0}, itself[] = {1};
  CHECK(test::throws<std::invalid_argument>([&] { forest.add_edge(leaf, {}, {}); }));
  forest.add_node({});
  forest.add_edge(leaf, {}, {});
  forest.add_node({});
  CHECK(test::throws<std::invalid_argument>([&] { forest.add_edge(one, {}, {}); }));
  CHECK(test::throws<std::invalid_argument>([&] { forest.add_edge(leaf, tail, {}); }));
  CHECK(test::throws<std::invalid_argument>([&] { forest.add_edge(two, tails, {}); }));
  CHECK(test::throws<std::invalid_argument>([&] { forest.add_edge(one, itself, {}); }));
  CHECK(test::throws<std::invalid_argument>([&] { forest.add_edge(7, {}, {}); }));
  forest.add_edge(one, tail, {});
  CHECK(forest.n_edges() == 2);
  const int32_t edges[] = {1, 0}, lacking[] = {1}, extra[] = {1, 0, 0};
  std::vector<int32_t> tokens;
  forest::append_yield(forest, edges, tokens);
  CHECK((tokens == std::vector<int32_t>{3, 4}));
  CHECK(test::throws<std::invalid_argument>([&] { forest::append_yield(forest, lacking, tokens); }));
  CHECK(test::throws<std::invalid_argument>([&] { forest::append_yield(forest, extra, tokens); }));
}
