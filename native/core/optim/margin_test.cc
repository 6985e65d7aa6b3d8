#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/random.hh"
#include "core/optim/list_spread.hh"
#include "core/optim/margin.hh"
#include "core/optim/margin_loss.hh"
#include "core/optim/ramp.hh"
#include "test/test.hh"

using namespace dragoman;
using dragoman::test::throws;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Random lists, some of them empty or of one candidate, with small whole numbers as features.
struct Made {
  std::vector<int64_t> sentences{0}, rows{0};
  std::vector<int32_t> ids;
  std::vector<float> values;
  std::vector<double> stats, gains, lengths;

  Made(uint64_t seed, int n_sentences, int n_features) {
    Random random({seed});
    for (int s = 0; s < n_sentences; ++s) {
      const auto n = random.below(9);
      for (uint32_t c = 0; c < n; ++c) {
        for (int f = 0; f < n_features; ++f) {
          if (random.below(3) == 0) continue;
          ids.push_back(f);
          values.push_back(static_cast<float>(static_cast<int>(random.below(5)) - 2));
        }
        rows.push_back(static_cast<int64_t>(ids.size()));
        gains.push_back(random.uniform());
        stats.push_back(gains.back());
        stats.push_back(1);
      }
      sentences.push_back(static_cast<int64_t>(gains.size()));
      lengths.push_back(1);
    }
  }
  pool::ListShard shard() const { return {{sentences, rows, ids, values}, stats, gains, lengths}; }
  std::shared_ptr<const pool::Lists> lists() const {
    return std::make_shared<const pool::Lists>(std::vector<pool::ListShard>{shard(), shard()}, 2);
  }
};

std::vector<int64_t> all(const pool::Lists& lists) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < lists.size(); ++i) positions.push_back(i);
  return positions;
}

optim::MarginSettings settings_of(bool cutting_plane, bool exact, double bound, int64_t batch) {
  return {.limit = 0.1,
          .bound = {bound, batch % 2 == 0, 0.1, 0.5},
          .bound_limit = 0.1,
          .cutting_plane = cutting_plane,
          .exact = exact,
          .hope = optim::Hope::kCostBased,
          .local_size = 3,
          .fear = optim::Fear::kCostBased,
          .hope_background = false,
          .gain_scale = 1,
          .max_iterations = 50,
          .tolerance = 1e-6,
          .bound_tolerance = 1e-6,
          .batch = batch};
}

}  // namespace

TEST(margin_learners_are_the_same_for_any_number_of_threads) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Made made(seed, 12, 6);
    const auto lists = made.lists();
    const auto positions = all(*lists);
    for (const bool cutting_plane : {false, true})
      for (const bool exact : {false, true})
        for (const double bound : {kInfinity, 0.5}) {
          std::vector<std::vector<double>> results;
          for (const int n_threads : {1, 3}) {
            const std::vector<double> rates{1, 0, 1, 1, 0.25, 4};
            std::optional<metric::PseudoCorpus> context;
            if (seed % 2)
              context = metric::PseudoCorpus{
                  std::shared_ptr<const metric::Scorer>(metric::mean_scorer()), {1, 2}, {0, 0}, 3, 0.9};
            optim::MarginLearner learner(lists, std::vector<double>(6, 0.25), rates, context,
                                         settings_of(cutting_plane, exact, bound, 4));
            Control control;
            for (int epoch = 0; epoch < 3; ++epoch) learner.visit(positions, n_threads, control);
            CHECK(learner.weights()[1] == 0.25 && learner.average()[1] == 0.25);
            for (const double w : learner.weights()) CHECK(std::isfinite(w));
            results.push_back(learner.average());
          }
          CHECK(results[0] == results[1]);
        }
  }
}

TEST(a_budget_is_never_overdrawn) {
  Random random({7});
  for (int round = 0; round < 200; ++round) {
    optim::Dual dual;
    optim::Budget budget;
    budget.clear(0.3);
    const auto n = 1 + random.below(6);
    for (uint32_t m = 0; m < n; ++m) {
      pool::SparseDifference omega;
      for (int32_t f = 0; f < 3; ++f)
        if (random.below(2)) {
          omega.ids.push_back(f);
          omega.values.push_back(random.normal());
        }
      CHECK(budget.add(dual.add({omega, {}}, random.normal()), random.below(2) ? 1 : -1, random.normal()));
    }
    budget.optimise(dual, 1000, 1e-9);
    double total = 0;
    for (size_t m = 0; m < dual.size(); ++m) total += std::abs(dual.shift(m));
    CHECK(total <= 0.3 + 1e-12);
    CHECK(budget.slack(dual) >= 0);
  }
}

TEST(budgets_that_pull_in_opposite_directions_are_solved_in_few_sweeps) {
  // A margin of 1.01 and a bound of 1 on the same difference: a thousandth of the budgets a sweep, without a line
  // search.
  optim::Dual dual;
  optim::Budget margin, upper;
  margin.clear(10);
  upper.clear(8);
  const size_t m = dual.add({{{0}, {1.0}}, {}}, 0);
  margin.add(m, 1, 1.01);
  upper.add(m, -1, -1);
  const std::array<optim::Solved, 2> budgets{{{&margin, 1e-9}, {&upper, 1e-9}}};
  optim::solve(dual, budgets, 10);
  CHECK(std::abs(dual.projection(m) - 1.01) < 1e-9);  // the bound gives way: D is less than C
  CHECK(std::abs(upper.constraints()[0].mass - 8) < 1e-9);
  CHECK(std::abs(margin.constraints()[0].mass - 9.01) < 1e-9);
}

TEST(the_spread_of_features_is_their_mean_square_distance_within_lists) {
  const Made made(5, 12, 4);
  const auto lists = made.lists();
  Control control;
  const auto spread = optim::list_spread(*lists, all(*lists), 4, control);
  for (int32_t f = 0; f < 4; ++f) {
    double sum = 0;
    int64_t count = 0;
    for (size_t s = 0; s + 1 < made.sentences.size(); ++s) {
      std::vector<double> column;
      for (auto c = made.sentences[s]; c < made.sentences[s + 1]; ++c) {
        column.push_back(0);
        for (auto i = made.rows[static_cast<size_t>(c)]; i < made.rows[static_cast<size_t>(c) + 1]; ++i)
          if (made.ids[static_cast<size_t>(i)] == f) column.back() = made.values[static_cast<size_t>(i)];
      }
      double mean = 0, square = 0;
      for (const double value : column) mean += value / static_cast<double>(column.size());
      for (const double value : column) square += (value - mean) * (value - mean) / static_cast<double>(column.size());
      sum += 2 * square;
      count += square > 1e-12 ? 2 : 0;  // every list is there twice
    }
    CHECK(count > 0 && spread.counts[static_cast<size_t>(f)] == count);
    CHECK(std::abs(spread.variances[static_cast<size_t>(f)] - sum / static_cast<double>(count)) < 1e-12);
  }
  CHECK(optim::list_spread(*lists, {}, 4, control).counts == std::vector<int64_t>(4));
}

TEST(rates_are_a_diagonal_metric) {
  const std::vector<double> rates{4, 0, 1};
  const optim::Direction a({{0, 1, 2}, {1, 5, 2}}, rates), b({{0, 2}, {3, -1}}, rates), plain({{0, 2}, {3, -1}}, {});
  CHECK((a.ids == std::vector<int32_t>{0, 2} && a.step == std::vector<double>{4, 2}));
  CHECK(optim::dot(a, a) == 8 && optim::dot(a, b) == 10 && optim::dot(b, a) == 10);
  CHECK(optim::dot(plain, plain) == 10);
}

TEST(ramp_learners_and_losses_visit_any_list) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Made made(seed, 12, 6);
    const auto lists = made.lists();
    const auto positions = all(*lists);
    const std::vector<double> start(6, 0.5);
    optim::RampLearner learner(lists, start, std::vector<double>{1, 1, 0, 1, 4, 1},
                               {optim::Hope::kCostBased, optim::Fear::kCostBased, 0.1, 0.5});
    Control control;
    CHECK(throws<std::invalid_argument>([&] { learner.descend(positions, control); }) || made.gains.empty());
    for (int round = 0; round < 30; ++round) {
      learner.fix_hopes(positions, 2, control);
      CHECK(std::isfinite(learner.descend(positions, control)));
    }
    CHECK(learner.weights()[2] == 0.5);
    for (const double w : learner.weights()) CHECK(std::isfinite(w));
    for (const bool ramp : {false, true}) {
      const auto result =
          optim::margin_loss(made.shard().candidates, made.gains, start,
                             {optim::Hope::kLocal, optim::Fear::kMaxCost, 2, ramp, {0.5, ramp, 0.1, 1}, 2});
      CHECK(std::is_sorted(result.ids.begin(), result.ids.end()));
      CHECK(result.ids.size() == result.values.size() && result.ids.size() == result.n_lists.size());
    }
  }
}

TEST(lists_that_do_not_fit_are_refused) {
  const Made made(3, 8, 4);
  pool::ListShard shard = made.shard();
  shard.gains = shard.gains.first(1);
  CHECK(throws<std::invalid_argument>([&] { pool::Lists({shard}, 2); }));
  CHECK(throws<std::invalid_argument>([&] { pool::Lists({made.shard()}, 3); }));
  const auto lists = made.lists();
  CHECK(throws<std::invalid_argument>([&] { (*lists)[lists->size()]; }));
  Control control;
  optim::MarginLearner learner(lists, std::vector<double>(2), std::vector<double>(2, 1.0), std::nullopt,
                               settings_of(false, false, 1, 1));
  const auto positions = all(*lists);
  CHECK(throws<InputError>([&] { learner.visit(positions, 1, control); }));
  CHECK(throws<InputError>([&] { lists->totals(positions, std::vector<double>(2), 1, control); }));
  CHECK(!lists->vary(std::vector<uint8_t>(4, 1)));
  CHECK(lists->vary(std::vector<uint8_t>(4, 0)));
}
