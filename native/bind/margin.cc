#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/optim/list_spread.hh"
#include "core/optim/margin.hh"
#include "core/optim/margin_loss.hh"
#include "core/optim/ramp.hh"

namespace dragoman::bind {

namespace {

// Keeps the NumPy arrays alive that the lists look into.
struct BoundLists {
  std::vector<nb::object> owners;
  std::shared_ptr<const pool::Lists> lists;
};

std::shared_ptr<BoundLists> make_lists(const nb::list& shards, size_t n_stats) {
  auto bound = std::make_shared<BoundLists>();
  std::vector<pool::ListShard> views;
  for (const nb::handle shard : shards) {
    const auto [sentences, rows, ids, values, stats, gains, lengths] =
        nb::cast<std::tuple<In<int64_t>, In<int64_t>, In<int32_t>, In<float>, In2<double>, In<double>, In<double>>>(
            shard, false);
    views.push_back({{span_of(sentences), span_of(rows), span_of(ids), span_of(values)},
                     {stats.data(), stats.size()},
                     span_of(gains),
                     span_of(lengths)});
    bound->owners.push_back(nb::borrow(shard));
  }
  bound->lists = std::make_shared<const pool::Lists>(std::move(views), n_stats);
  return bound;
}

template <typename T>
std::vector<T> vector_of(const In<T>& array) {
  return {array.data(), array.data() + array.size()};
}

struct BoundMargin {
  std::shared_ptr<BoundLists> lists;
  std::unique_ptr<optim::MarginLearner> learner;
};

// Sums by name: what Python adds up over passes and processes.
nb::dict sums_of(const optim::Pass& pass) {
  nb::dict sums;
  sums["n_lists"] = pass.n_lists;
  sums["n_updates"] = pass.n_updates;
  sums["n_margin"] = pass.n_margin;
  sums["n_upper"] = pass.n_upper;
  sums["n_lower"] = pass.n_lower;
  sums["loss"] = pass.loss;
  sums["spread"] = pass.spread;
  sums["spread_square"] = pass.spread_square;
  sums["score_range"] = pass.score_range;
  sums["gain_range"] = pass.gain_range;
  return sums;
}

nb::dict sums_of(const optim::Survey& survey) {
  nb::dict sums;
  sums["n_lists"] = survey.n_lists;
  sums["n_fear"] = survey.n_fear;
  sums["n_worst"] = survey.n_worst;
  sums["score_range"] = survey.score_range;
  sums["gain_range"] = survey.gain_range;
  sums["fear_square"] = survey.fear_square;
  sums["worst_square"] = survey.worst_square;
  return sums;
}

// So few are visited in no time, without a thread that could be stopped: learners that decode have one at a time.
constexpr size_t kFewLists = 16;

struct BoundRamp {
  std::shared_ptr<BoundLists> lists;
  std::unique_ptr<optim::RampLearner> learner;
};

void bind_lists(nb::module_& m) {
  nb::enum_<optim::Hope>(m, "Hope")
      .value("COST_BASED", optim::Hope::kCostBased)
      .value("MAX_BLEU", optim::Hope::kMaxBleu)
      .value("LOCAL", optim::Hope::kLocal)
      .value("MODEL", optim::Hope::kModel);
  nb::enum_<optim::Fear>(m, "Fear")
      .value("COST_BASED", optim::Fear::kCostBased)
      .value("MAX_COST", optim::Fear::kMaxCost)
      .value("PREDICTION", optim::Fear::kPrediction);
  nb::class_<BoundLists>(m, "CandidateLists", "Lists of all shards, counted through.")
      .def("__len__", [](const BoundLists& b) { return b.lists->size(); })
      .def(
          "vary", [](const BoundLists& b, In<uint8_t> frozen) { return b.lists->vary(span_of(frozen)); },
          nb::arg("frozen").noconvert())
      .def(
          "spread",
          [](const BoundLists& b, In<int64_t> positions, int64_t n_features) {
            auto spread = watch([&](Control& control) {
              return optim::list_spread(*b.lists, span_of(positions), n_features, control);
            });
            return nb::make_tuple(to_numpy(std::move(spread.variances)), to_numpy(std::move(spread.counts)));
          },
          nb::arg("positions").noconvert(), nb::arg("n_features"))
      .def(
          "totals",
          [](const BoundLists& b, In<int64_t> positions, In<double> weights, int n_threads) {
            return to_numpy(watch([&](Control& control) {
              return b.lists->totals(span_of(positions), span_of(weights), n_threads, control);
            }));
          },
          nb::arg("positions").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_threads") = 1);
  m.def("candidate_lists", &make_lists, nb::arg("shards"), nb::arg("n_stats"));
}

void bind_learners(nb::module_& m) {
  nb::class_<metric::PseudoCorpus>(m, "PseudoCorpus", "What was translated before, for gains in context.")
      .def(
          "__init__",
          [](metric::PseudoCorpus* self, std::shared_ptr<metric::Scorer> scorer, In<double> background,
             In<double> prior, double length, double decay) {
            new (self) metric::PseudoCorpus{std::move(scorer), vector_of(background), vector_of(prior), length, decay};
          },
          nb::arg("scorer"), nb::arg("background").noconvert(), nb::arg("prior").noconvert(), nb::arg("length"),
          nb::arg("decay"))
      .def(
          "gains",
          [](const metric::PseudoCorpus& corpus, In2<double> statistics, double length) {
            return to_numpy(released([&] { return corpus.gains({statistics.data(), statistics.size()}, length); }));
          },
          nb::arg("statistics").noconvert(), nb::arg("length"));
  nb::class_<BoundMargin>(m, "MarginLearner", "Online margin learning on candidate lists.")
      .def(
          "visit",
          [](BoundMargin& b, In<int64_t> positions, int n_threads) {
            const auto visit = [&](Control& control) {
              return b.learner->visit(span_of(positions), n_threads, control);
            };
            if (positions.size() > kFewLists) return sums_of(watch(visit));
            return sums_of(released([&] {
              Control control;
              return visit(control);
            }));
          },
          nb::arg("positions").noconvert(), nb::arg("n_threads") = 1)
      .def(
          "survey",
          [](const BoundMargin& b, In<int64_t> positions, double score_scale, double gain_scale, int n_threads) {
            return sums_of(watch([&](Control& control) {
              return b.learner->survey(span_of(positions), score_scale, gain_scale, n_threads, control);
            }));
          },
          nb::arg("positions").noconvert(), nb::arg("score_scale") = 1.0, nb::arg("gain_scale") = 1.0,
          nb::arg("n_threads") = 1)
      .def(
          "turn_to",
          [](BoundMargin& b, std::shared_ptr<BoundLists> lists) {
            b.learner->turn_to(lists->lists);
            b.lists = std::move(lists);
          },
          nb::arg("lists"))
      .def("state",
           [](const BoundMargin& b) {
             optim::MarginState state = b.learner->state();
             return nb::make_tuple(to_numpy(std::move(state.weights)), to_numpy(std::move(state.past)), state.ticks,
                                   to_numpy(std::move(state.background)), state.length);
           })
      .def(
          "restore",
          [](BoundMargin& b, In<double> weights, In<double> past, int64_t ticks, In<double> background, double length) {
            b.learner->restore({vector_of(weights), vector_of(past), ticks, vector_of(background), length});
          },
          nb::arg("weights").noconvert(), nb::arg("past").noconvert(), nb::arg("ticks"),
          nb::arg("background").noconvert(), nb::arg("length"))
      .def("weights", [](const BoundMargin& b) { return to_numpy(std::vector<double>(b.learner->weights())); })
      .def(
          "live_weights",
          [](const BoundMargin& b) {
            const auto& weights = b.learner->weights();
            return nb::ndarray<nb::numpy, const double>(weights.data(), {weights.size()});
          },
          nb::rv_policy::reference_internal)
      .def("average", [](const BoundMargin& b) { return to_numpy(b.learner->average()); });
  m.def(
      "margin_learner",
      [](std::shared_ptr<BoundLists> lists, In<double> start, In<double> rates,
         std::optional<metric::PseudoCorpus> context, double limit, double bound, double bound_limit,
         bool bound_by_cost, double bound_floor, double bound_unit, bool cutting_plane, bool exact, optim::Hope hope,
         size_t local_size, optim::Fear fear, bool hope_background, double gain_scale, int max_iterations,
         double tolerance, double bound_tolerance, int64_t batch) {
        const optim::MarginSettings settings{.limit = limit,
                                             .bound = {bound, bound_by_cost, bound_floor, bound_unit},
                                             .bound_limit = bound_limit,
                                             .cutting_plane = cutting_plane,
                                             .exact = exact,
                                             .hope = hope,
                                             .local_size = local_size,
                                             .fear = fear,
                                             .hope_background = hope_background,
                                             .gain_scale = gain_scale,
                                             .max_iterations = max_iterations,
                                             .tolerance = tolerance,
                                             .bound_tolerance = bound_tolerance,
                                             .batch = batch};
        auto learner = std::make_unique<optim::MarginLearner>(lists->lists, vector_of(start), vector_of(rates),
                                                              std::move(context), settings);
        return BoundMargin{std::move(lists), std::move(learner)};
      },
      nb::arg("lists"), nb::arg("start").noconvert(), nb::arg("rates").noconvert(), nb::arg("context").none(),
      nb::arg("limit"), nb::arg("bound"), nb::arg("bound_limit"), nb::arg("bound_by_cost"), nb::arg("bound_floor"),
      nb::arg("bound_unit"), nb::arg("cutting_plane"), nb::arg("exact"), nb::arg("hope"), nb::arg("local_size"),
      nb::arg("fear"), nb::arg("hope_background"), nb::arg("gain_scale"), nb::arg("max_iterations"),
      nb::arg("tolerance"), nb::arg("bound_tolerance"), nb::arg("batch"));
  nb::class_<BoundRamp>(m, "RampLearner", "Ramp loss by CCCP and subgradient steps.")
      .def(
          "fix_hopes",
          [](BoundRamp& b, In<int64_t> positions, int n_threads) {
            watch([&](Control& control) {
              b.learner->fix_hopes(span_of(positions), n_threads, control);
              return true;
            });
          },
          nb::arg("positions").noconvert(), nb::arg("n_threads") = 1)
      .def(
          "descend",
          [](BoundRamp& b, In<int64_t> positions) {
            return watch([&](Control& control) { return b.learner->descend(span_of(positions), control); });
          },
          nb::arg("positions").noconvert())
      .def("weights", [](const BoundRamp& b) { return to_numpy(b.learner->weights()); });
  m.def(
      "ramp_learner",
      [](std::shared_ptr<BoundLists> lists, In<double> start, In<double> rates, optim::Hope hope, optim::Fear fear,
         double step, double penalty) {
        auto learner = std::make_unique<optim::RampLearner>(lists->lists, vector_of(start), vector_of(rates),
                                                            optim::RampSettings{hope, fear, step, penalty});
        return BoundRamp{std::move(lists), std::move(learner)};
      },
      nb::arg("lists"), nb::arg("start").noconvert(), nb::arg("rates").noconvert(), nb::arg("hope"), nb::arg("fear"),
      nb::arg("step"), nb::arg("penalty"));
}

}  // namespace

void bind_margin(nb::module_& m) {
  bind_lists(m);
  bind_learners(m);
  m.def(
      "margin_loss",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<double> gains,
         In<double> weights, optim::Hope hope, optim::Fear fear, size_t local_size, bool ramp, double bound,
         double bound_weight, bool bound_by_cost, double bound_floor) {
        const pool::Candidates candidates{span_of(sentences), span_of(rows), span_of(ids), span_of(values)};
        auto result = released([&] {
          return optim::margin_loss(
              candidates, span_of(gains), span_of(weights),
              {hope, fear, local_size, ramp, {bound, bound_by_cost, bound_floor, 1}, bound_weight});
        });
        return nb::make_tuple(result.value, to_numpy(std::move(result.ids)), to_numpy(std::move(result.values)),
                              to_numpy(std::move(result.n_lists)));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("gains").noconvert(), nb::arg("weights").noconvert(), nb::arg("hope"),
      nb::arg("fear"), nb::arg("local_size"), nb::arg("ramp"), nb::arg("bound"), nb::arg("bound_weight"),
      nb::arg("bound_by_cost"), nb::arg("bound_floor"));
}

}  // namespace dragoman::bind
