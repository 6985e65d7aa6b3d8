#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/envelope.hh"
#include "core/forest/kbest.hh"
#include "core/forest/node_envelope.hh"
#include "core/forest/oracle.hh"
#include "core/forest/prune.hh"
#include "core/forest/translations.hh"
#include "test/test.hh"

namespace dragoman {

namespace {

// S -> A A with A in {word 10, word 11}; the same node twice.
forest::Forest twice() {
  forest::Forest forest;
  const std::vector<int32_t> ten{10}, eleven{11}, pair{forest::tail_symbol(0), forest::tail_symbol(1)};
  const std::vector<forest::Feature> up{{0, 1.0F}}, down{{1, 1.0F}};
  const int32_t a = forest.add_instance({0, {0, 1}}, ten, up), b = forest.add_instance({1, {0, 1}}, eleven, down);
  const int32_t join = forest.add_instance({2, {0, 2}}, pair, {});
  forest.add_node({0, {0, 1}, 1});
  forest.add_edge(a, {}, {});
  forest.add_edge(b, {}, {});
  forest.add_node({0, {0, 2}, 2});
  const std::vector<int32_t> tails{0, 0};
  forest.add_edge(join, tails, {});
  return forest;
}

// Each node has two words or twice the node before: 2^2^(n - 1) derivations.
forest::Forest tower(int n) {
  forest::Forest forest;
  const std::vector<int32_t> ten{10}, eleven{11}, pair{forest::tail_symbol(0), forest::tail_symbol(1)};
  const int32_t a = forest.add_instance({}, ten, {}), b = forest.add_instance({}, eleven, {});
  const int32_t join = forest.add_instance({}, pair, {});
  for (int32_t v = 0; v < n; ++v) {
    forest.add_node({0, {0, v + 1}, v + 1});
    const std::vector<int32_t> tails{v - 1, v - 1};
    if (v > 0) {
      forest.add_edge(join, tails, {});
      continue;
    }
    forest.add_edge(a, {}, {});
    forest.add_edge(b, {}, {});
  }
  return forest;
}

// Whether work that would take for ever ends when it is asked to.
template <typename Work>
bool stops(Work&& work) {
  Control control;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    control.request_stop();
  });
  const bool stopped = test::throws<Interrupted>([&] { work(control); });
  user.join();
  return stopped;
}

}  // namespace

TEST(work_on_one_forest_stops_when_it_is_asked_to) {
  const forest::Forest forest = tower(8);
  const std::vector<double> weights{1.0};
  const std::vector<int32_t> reference{10, 11, 10, 10, 11, 10, 11, 11, 11};
  CHECK(stops([&](Control& control) { forest::forest_oracles({&forest}, {{reference}}, 4, 0, 1, control); }));
  for (const bool distinct : {true, false})
    CHECK(stops([&](Control& control) {
      forest::KBestLists lists;
      forest::append_kbest(forest, weights, int64_t{1} << 31, distinct, control, lists);
    }));
  Control control;
  control.request_stop();
  forest::NodeEnvelopes envelopes;
  CHECK(test::throws<Interrupted>([&] { envelopes.of_goal(forest, weights, weights, control); }));
  CHECK(test::throws<Interrupted>([&] { forest::pruned_to_density(forest, weights, 1, control); }));
}

TEST(envelope_of_a_node_used_twice) {
  const forest::Forest forest = twice(), empty;
  const std::vector<double> weights{0.0, 0.5}, direction{1.0, 0.0};
  Control control;
  const auto lines = forest::forest_envelopes({{&forest}, {&empty}, {}}, weights, direction, 2, control);
  CHECK(lines.first == std::vector<int64_t>({0, 2, 2, 2}));
  CHECK(std::isinf(lines.from[0]) && std::abs(lines.from[1] - 0.5) < 1e-12);
  CHECK(lines.tokens == std::vector<int32_t>({11, 11, 10, 10}));
  CHECK(lines.edges == std::vector<int32_t>({2, 1, 1, 2, 0, 0}));
}

TEST(pruning_keeps_the_best_derivation) {
  const forest::Forest forest = twice(), empty;
  const std::vector<double> weights{0.0, 0.5};
  Control control;
  const auto pruned = forest::prune_forests({&forest, &empty}, weights, 0.1, 2, control);
  CHECK(pruned[0].n_edges() == 2 && pruned[0].symbols(0)[0] == 11);
  CHECK(pruned[1].n_edges() == 0);
  CHECK(forest::pruned_to_density(forest, weights, 1.5, control).n_edges() == 3);
  CHECK(test::throws<std::invalid_argument>([&] { forest::pruned_to_density(forest, weights, 0, control); }));
}

TEST(translations_are_numbered_as_they_come) {
  forest::Translations translations;
  const std::vector<int32_t> ab{10, 11}, a{10};
  const auto number = [&](int64_t sentence, int32_t forest, std::span<const int32_t> words) {
    return translations.of(sentence, forest, words).number;
  };
  CHECK(number(0, 0, ab) == 0 && number(0, 0, a) == 1 && number(2, 0, ab) == 2 && number(0, 1, ab) == 3);
  CHECK(number(0, 0, ab) == 0 && !translations.of(2, 0, ab).is_new);
}

TEST(oracle_mixes_what_search_would_not) {
  const forest::Forest forest = twice(), empty;
  const std::vector<int32_t> reference{11, 10};
  Control control;
  const auto best = forest::forest_oracles({&forest, &empty}, {{reference}, {reference}}, 4, 0, 1, control);
  CHECK(std::abs(best[0].gain - 1.0) < 1e-12);
  CHECK(best[0].edges == std::vector<int32_t>({2, 1, 0}));
  CHECK(best[1].edges.empty());
  CHECK(test::throws<std::invalid_argument>([&] { forest::forest_oracles({&forest}, {}, 4, 0, 1, control); }));
}

}  // namespace dragoman
