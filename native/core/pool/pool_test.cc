#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/random.hh"
#include "core/names/feature_index.hh"
#include "core/optim/line_search.hh"
#include "core/optim/logistic.hh"
#include "core/optim/mert.hh"
#include "core/optim/pairs.hh"
#include "core/pool/candidates.hh"
#include "core/pool/nbest.hh"
#include "core/pool/nbest_format.hh"
#include "core/pool/oracle.hh"
#include "test/test.hh"

using namespace dragoman;
using dragoman::test::throws;

namespace {

// Random candidates with statistics of an external metric.
struct Made {
  std::vector<int64_t> sentences{0}, rows{0};
  std::vector<int32_t> ids, sentence_ids;
  std::vector<float> values;
  std::vector<double> stats, gains;

  Made(uint64_t seed, int n_sentences, int n_features) {
    Random random({seed});
    for (int s = 0; s < n_sentences; ++s) {
      const int n = static_cast<int>(random.below(9));
      for (int c = 0; c < n; ++c) {
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
      sentence_ids.push_back(s);
    }
  }
  pool::Candidates candidates() const { return {sentences, rows, ids, values}; }
};

}  // namespace

TEST(random_bytes_never_crash_the_list_readers) {
  std::mt19937 random(1);
  const std::string alphabet = "0123 ||| a=b:.-e\n{}[]\"\\u,:idtexfaurscon";
  for (int round = 0; round < 20000; ++round) {
    std::string data(random() % 60, '\0');
    for (char& c : data) c = round % 3 ? alphabet[random() % alphabet.size()] : static_cast<char>(random() % 256);
    for (const bool json : {false, true}) {
      names::FeatureIndex index;
      names::WordTable words;
      pool::NbestReader reader(index, words);
      try {
        if (json)
          reader.read_json(data, 1);
        else
          reader.read_fields(data, 1, {});
        const pool::NbestRows rows = reader.take();
        CHECK(rows.feature_offsets.size() == rows.sentences.size() + 1);
        CHECK(rows.feature_offsets.back() == static_cast<int64_t>(rows.feature_ids.size()));
      } catch (const InputError& error) {
        CHECK(error.line >= 1);
      }
    }
  }
}

TEST(lists_survive_writing_and_reading) {
  names::FeatureIndex index;
  names::WordTable words;
  pool::NbestReader reader(index, words);
  reader.read_fields("0 ||| a b ||| x= 1 y= 2 3 ||| -1\n0 |||  ||| x= -0.25 y= 0 1e-3 z= 4\n", 1, {});
  const pool::NbestRows rows = reader.take();
  const std::vector<int64_t> sentences{0, 2};
  const std::vector<int32_t> ids{0};
  const pool::NbestTable table{{sentences, rows.feature_offsets, rows.feature_ids, rows.feature_values},
                               {rows.token_offsets, rows.tokens},
                               ids,
                               rows.totals,
                               {},
                               {},
                               {{"x", {0}}, {"y", {1, 2}}}};
  const std::string text = pool::format_nbest(table, index, words, pool::NbestStyle::kMoses);
  CHECK(text == "0 ||| a b ||| x= 1 y= 2 3 ||| -1\n0 |||  ||| x= -0.25 y= 0 0.001 z= 4\n");
}

TEST(line_searches_improve_and_agree_with_their_scores) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Made made(seed, 12, 4);
    Control control;
    const std::vector<int32_t> chosen{0, 1, 2, 3};
    const std::vector<double> weights{0.5, -1, 0.25, 1};
    const optim::Surface surface({{made.candidates(), made.stats}}, chosen, weights, metric::mean_scorer(), 2, control);
    optim::Point point(surface, weights);
    Random random({seed, 7});
    for (int step = 0; step < 20; ++step) {
      const double before = point.rank();
      std::vector<double> direction(4, 0.0);
      for (double& d : direction) d = random.normal();
      if (step % 2)
        point.move(direction, point.search(direction, {}));
      else
        point.move(step / 2 % 4, point.search(step / 2 % 4, {-3, 3}));
      CHECK(point.rank() >= before);
      optim::Point fresh(surface, point.weights());
      CHECK(std::abs(fresh.rank() - point.rank()) < 1e-9 || step % 2);
    }
  }
}

TEST(climbs_do_not_depend_on_threads) {
  const Made made(3, 20, 4);
  Control control;
  const std::vector<int32_t> chosen{0, 1, 2, 3};
  const std::vector<double> weights{0.5, -1, 0.25, 1}, starts{1, 1, 1, 1, -1, 1, 0, 1, 0, 0, 0, 1};
  const optim::Surface surface({{made.candidates(), made.stats}}, chosen, weights, metric::mean_scorer(), 2, control);
  const optim::ClimbSettings settings{10, 5, 1, std::vector<optim::Interval>(4)};
  const auto one = optim::climb(surface, starts, settings, 1, control),
             many = optim::climb(surface, starts, settings, 3, control);
  for (size_t i = 0; i < one.size(); ++i) CHECK(one[i].weights == many[i].weights);
}

TEST(pairs_differences_and_regression) {
  const Made made(5, 30, 4);
  Control control;
  optim::PairSettings settings;
  settings.logistic = true;
  const optim::Pairs pairs = optim::sample_pairs(made.sentences, made.sentence_ids, made.gains, settings, 2, control);
  CHECK(!pairs.better.empty());
  const pool::SparseRows rows = optim::difference_rows(made.candidates(), pairs.better, pairs.worse);
  const std::vector<double> values(rows.values.begin(), rows.values.end()), offsets(pairs.better.size(), 0.0);
  const optim::LogisticProblem problem{rows.rows, rows.ids, values, offsets, 4, 2.0, 1.0};
  const auto one = optim::fit_logistic(problem, {}, 1, control), many = optim::fit_logistic(problem, {}, 3, control);
  CHECK(one.converged);
  CHECK(one.point == many.point);
}

TEST(kernels_refuse_arrays_that_do_not_fit) {
  const Made made(6, 5, 3);
  Control control;
  const std::vector<double> two{1, 1};
  CHECK(throws<InputError>([&] { pool::best_candidates(made.candidates(), two, 1, control); }));
  pool::Candidates broken = made.candidates();
  broken.values = broken.values.subspan(1);
  CHECK(throws<std::invalid_argument>([&] { pool::best_candidates(broken, two, 1, control); }));
  const std::vector<pool::OracleShard> shards{{made.sentences, made.stats, two}};
  CHECK(throws<std::invalid_argument>([&] { pool::oracle(shards, *metric::mean_scorer(), control); }));
}

TEST(feature_index_grows_and_detects_collisions) {
  names::FeatureIndex index;
  for (int i = 0; i < 5000; ++i) CHECK(index.intern("f" + std::to_string(i)) == i);
  for (int i = 0; i < 5000; ++i) CHECK(index.find("f" + std::to_string(i)) == i);
  names::FeatureIndex narrow(4);
  CHECK(throws<InputError>([&] {
    for (int i = 0; i < 20; ++i) narrow.intern(std::to_string(i));
  }));
}
