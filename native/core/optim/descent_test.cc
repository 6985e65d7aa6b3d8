#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/base/random.hh"
#include "core/optim/learner.hh"
#include "core/optim/list_gradient.hh"
#include "core/optim/list_store.hh"
#include "test/test.hh"

using namespace dragoman;
using dragoman::test::throws;

namespace {

constexpr int kFeatures = 50;

struct Made {
  std::vector<int64_t> sentences{0}, rows{0};
  std::vector<int32_t> ids;
  std::vector<float> values;
  std::vector<double> gains;

  Made(uint64_t seed, int n_sentences, bool extreme = false) {
    Random random({seed});
    for (int s = 0; s < n_sentences; ++s) {
      const auto n = random.below(12);
      for (uint32_t c = 0; c < n; ++c) {
        for (int f = 0; f < kFeatures; ++f) {
          if (f > 3 && random.below(4)) continue;  // the first features are in all candidates
          ids.push_back(f);
          const auto value = static_cast<float>(random.below(3)) + (f > 1 ? 1.0f : 0.5f);
          values.push_back(extreme ? value * (std::numeric_limits<float>::max() / 4) : value);
        }
        rows.push_back(static_cast<int64_t>(ids.size()));
        gains.push_back(random.uniform());
      }
      sentences.push_back(static_cast<int64_t>(gains.size()));
    }
  }
  pool::Candidates candidates() const { return {sentences, rows, ids, values}; }
};

std::vector<optim::ListLoss> losses() {
  std::vector<optim::ListLoss> all;
  for (const auto& name : optim::list_loss_names()) all.push_back(optim::list_loss(name, 2));
  return all;
}

// A loss that fails on lists of some sizes, after it has worked for a while.
double failing_loss(double, optim::Scores scores, optim::Scores, optim::Slopes slopes) {
  std::ranges::fill(slopes, 0.0);
  if (scores.size() % 5 == 3) throw std::runtime_error("this loss fails");
  return static_cast<double>(scores.size());
}

}  // namespace

TEST(learning_by_batches_ends_when_a_worker_fails) {
  const Made made(5, 300);
  Control control;
  optim::ListStore store(kFeatures, int64_t{1} << 30, ".");
  store.add(made.candidates(), made.gains, {}, 1, control);
  store.seal();
  std::vector<int64_t> order(static_cast<size_t>(store.size()));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> start(kFeatures, 0.01);
  optim::Learner learner(start, {}, {}, store.size());
  for (int i = 0; i < 2000; ++i)
    CHECK(throws<std::runtime_error>([&] { learner.epoch(store, order, {failing_loss, 0}, 64, 4, control); }));
}

TEST(descent_is_the_same_for_any_threads_and_any_place) {
  const Made made(1, 300);
  Control control;
  const std::vector<double> start(kFeatures, 0.01), rates(kFeatures, 0.5);
  for (const optim::ListLoss& loss : losses()) {
    std::vector<double> first;
    for (const int64_t memory : {int64_t{1} << 30, int64_t{10000}, int64_t{0}}) {
      for (const int n_threads : {1, 3}) {
        optim::ListStore store(kFeatures, memory, ".");
        std::vector<uint8_t> fixed(kFeatures);
        fixed[7] = 1;
        store.add(made.candidates(), made.gains, {fixed, start}, n_threads, control);
        store.seal();
        std::vector<int64_t> order(static_cast<size_t>(store.size()));
        std::iota(order.begin(), order.end(), 0);
        optim::Learner learner(start, {0.1, 0.1, 0.5, true, true}, {rates, rates}, store.size());
        for (int epoch = 0; epoch < 3; ++epoch) learner.epoch(store, order, loss, 8, n_threads, control);
        const auto average = learner.average();
        for (const double weight : average) CHECK(std::isfinite(weight));
        CHECK(std::isfinite(store.loss(loss, order, average, n_threads, control)));
        if (first.empty()) first = average;
        CHECK(first == average);
      }
    }
  }
}

TEST(extreme_features_and_repeated_ids_do_no_harm) {
  Made made(2, 50, true);
  Control control;
  for (size_t i = 1; i < made.ids.size(); i += 7) made.ids[i] = made.ids[i - 1];
  std::vector<double> weights(kFeatures);
  Random random({3});
  for (double& weight : weights) weight = random.normal() * 1e6;
  for (const optim::ListLoss& loss : losses()) {
    const auto gradient = optim::list_gradient(made.candidates(), made.gains, weights, loss, 2, control);
    CHECK(std::isfinite(gradient.value));
    for (const double value : gradient.values) CHECK(std::isfinite(value));
  }
}

TEST(lists_that_no_pool_may_have_are_refused) {
  Control control;
  Made bad(4, 20);
  bad.ids[5] = kFeatures;
  optim::ListStore store(kFeatures, 1 << 20, ".");
  CHECK(throws<InputError>([&] { store.add(bad.candidates(), bad.gains, {}, 2, control); }));
  Made infinite(4, 20);
  infinite.values[5] = std::numeric_limits<float>::infinity();
  CHECK(throws<InputError>([&] { store.add(infinite.candidates(), infinite.gains, {}, 2, control); }));
  Made unknown(4, 20);
  unknown.gains[0] = std::nan("");
  CHECK(throws<InputError>([&] { store.add(unknown.candidates(), unknown.gains, {}, 1, control); }));
}

TEST(stored_lists_have_the_entries_of_their_columns_in_every_form) {
  Control control;
  struct Case {
    uint32_t n_candidates;
    float factor, most;  // of values
  };
  size_t n_short_rows = 0, n_short_values = 0, n_lists = 0;
  for (const Case& each : {Case{256, 1, 127}, Case{257, 1, 127}, Case{3, 1, 128}, Case{3, -1, 128}, Case{3, -1, 129},
                           Case{256, 0.5f, 9}, Case{300, 0.5f, 9}, Case{1, 1, 1}}) {
    Made made(1, 0);
    Random random({uint64_t{each.n_candidates}, static_cast<uint64_t>(each.most)});
    for (int s = 0; s < 5; ++s) {  // lists of several sizes, so that a form must not disturb the next list
      for (uint32_t c = 0; c < each.n_candidates; ++c) {
        for (int f = 0; f < kFeatures; ++f) {
          if (random.below(3)) continue;
          made.ids.push_back(f);
          made.values.push_back(each.factor * (random.below(4) ? 1.0f : each.most));
        }
        made.rows.push_back(static_cast<int64_t>(made.ids.size()));
        made.gains.push_back(random.uniform());
      }
      made.sentences.push_back(static_cast<int64_t>(made.gains.size()));
    }
    optim::ListStore store(kFeatures, int64_t{1} << 30, "");
    store.add(made.candidates(), made.gains, {}, 1, control);
    store.seal();
    optim::ListColumns columns;
    for (int64_t list = 0; list < store.size(); ++list, ++n_lists) {
      columns.build(made.candidates(), store.sentences()[static_cast<size_t>(list)], kFeatures, {});
      const optim::ListView view = store[list];
      CHECK(std::ranges::equal(view.ids, columns.ids));
      CHECK(std::ranges::equal(view.ends, columns.ends));
      n_short_rows += !view.short_rows.empty();
      n_short_values += !view.short_values.empty();
      CHECK(view.short_rows.empty() == (each.n_candidates > 256));
      view.with_entries([&](const auto* rows, const auto* values) {
        for (size_t i = 0; i < columns.rows.size(); ++i) {
          CHECK(static_cast<int32_t>(rows[i]) == columns.rows[i]);
          CHECK(static_cast<float>(values[i]) == columns.values[i]);
        }
      });
    }
  }
  CHECK(0 < n_short_rows && n_short_rows < n_lists && 0 < n_short_values && n_short_values < n_lists);
}
