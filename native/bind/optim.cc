#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/metric/scorer.hh"
#include "core/optim/logistic.hh"
#include "core/optim/mert.hh"
#include "core/optim/pairs.hh"
#include "core/optim/sweep.hh"
#include "core/pool/oracle.hh"

namespace dragoman::bind {

namespace {

std::shared_ptr<const metric::Scorer> shared(std::unique_ptr<metric::Scorer> scorer) { return scorer; }

// Keeps the NumPy arrays alive that the surface looks into.
struct BoundSurface {
  std::vector<nb::object> owners;
  std::unique_ptr<optim::Surface> surface;
};

BoundSurface make_surface(const nb::list& shards, In<int32_t> chosen, In<double> weights,
                          std::shared_ptr<const metric::Scorer> scorer, int n_threads) {
  BoundSurface bound;
  std::vector<optim::ScoredCandidates> views;
  for (const nb::handle shard : shards) {
    const auto [sentences, rows, ids, values, stats] =
        nb::cast<std::tuple<In<int64_t>, In<int64_t>, In<int32_t>, In<float>, In2<double>>>(shard, false);
    views.push_back({{span_of(sentences), span_of(rows), span_of(ids), span_of(values)}, {stats.data(), stats.size()}});
    bound.owners.push_back(nb::borrow(shard));
  }
  bound.surface = watch([&](Control& control) {
    return std::make_unique<optim::Surface>(std::move(views), span_of(chosen), span_of(weights), std::move(scorer),
                                            n_threads, control);
  });
  return bound;
}

std::vector<optim::Interval> bounds_of(const In<double>& lower, const In<double>& upper) {
  if (lower.size() != upper.size()) throw std::invalid_argument("as many lower as upper bounds expected");
  std::vector<optim::Interval> bounds(lower.size());
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = {lower.data()[i], upper.data()[i]};
  return bounds;
}

std::pair<double, double> sweep_lines(const metric::Scorer& scorer, In<int64_t> first, In<double> from,
                                      In<int64_t> rows, In2<double> stats, double scale) {
  const optim::EnvelopeStatistics lines{span_of(first), span_of(from), span_of(rows), {stats.data(), stats.size()}};
  const optim::LineStep best = optim::sweep_envelopes(lines, scorer, scale);
  return {best.step, best.gain};
}

void bind_scorers(nb::module_& m) {
  nb::class_<metric::Scorer>(m, "Scorer", "From summed statistics to a gain, for kernels.")
      .def_prop_ro("n_stats", &metric::Scorer::n_stats)
      .def(
          "gain",
          [](const metric::Scorer& s, In<double> total) {
            if (total.size() != static_cast<size_t>(s.n_stats()))
              throw std::invalid_argument("one number per statistic");
            return s.gain(span_of(total));
          },
          nb::arg("total").noconvert())
      .def(
          "gains",
          [](const metric::Scorer& s, In2<double> totals) {
            if (totals.shape(1) != static_cast<size_t>(s.n_stats()))
              throw std::invalid_argument("one number per statistic");
            std::vector<double> gains(totals.shape(0));
            for (size_t i = 0; i < gains.size(); ++i)
              gains[i] = s.gain({totals.data() + i * totals.shape(1), totals.shape(1)});
            return to_numpy(std::move(gains));
          },
          nb::arg("totals").noconvert(), "Of each row.");
  m.def("bleu_scorer", [](int max_order) { return shared(metric::bleu_scorer(max_order)); }, nb::arg("max_order") = 4);
  m.def("ter_scorer", [] { return shared(metric::ter_scorer()); });
  m.def(
      "chrf_scorer", [](int n_orders, double beta) { return shared(metric::chrf_scorer(n_orders, beta)); },
      nb::arg("n_orders"), nb::arg("beta"));
  m.def("mean_scorer", [] { return shared(metric::mean_scorer()); });
  m.def(
      "mix_scorer",
      [](double constant, const std::vector<double>& weights,
         const std::vector<std::shared_ptr<metric::Scorer>>& scorers) {
        if (weights.size() != scorers.size()) throw std::invalid_argument("one weight per scorer expected");
        std::vector<metric::MixPart> parts;
        for (size_t i = 0; i < weights.size(); ++i) parts.push_back({weights[i], scorers[i]});
        return shared(metric::mix_scorer(constant, std::move(parts)));
      },
      nb::arg("constant"), nb::arg("weights"), nb::arg("scorers"));
}

void bind_ranking(nb::module_& m) {
  m.def(
      "sample_pairs",
      [](In<int64_t> sentences, In<int32_t> sentence_ids, In<double> gains, int64_t n_draws, int64_t n_kept,
         double threshold, bool logistic, uint64_t seed, uint64_t round, int n_threads) {
        const optim::PairSettings settings{n_draws, n_kept, threshold, logistic, seed, round};
        optim::Pairs pairs = watch([&](Control& control) {
          return optim::sample_pairs(span_of(sentences), span_of(sentence_ids), span_of(gains), settings, n_threads,
                                     control);
        });
        return nb::make_tuple(to_numpy(std::move(pairs.better)), to_numpy(std::move(pairs.worse)));
      },
      nb::arg("sentences").noconvert(), nb::arg("sentence_ids").noconvert(), nb::arg("gains").noconvert(),
      nb::arg("n_draws"), nb::arg("n_kept"), nb::arg("threshold"), nb::arg("logistic"), nb::arg("seed"),
      nb::arg("round"), nb::arg("n_threads") = 1);
  m.def(
      "difference_rows",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<int64_t> better,
         In<int64_t> worse) {
        const pool::Candidates candidates{span_of(sentences), span_of(rows), span_of(ids), span_of(values)};
        auto result = released([&] { return optim::difference_rows(candidates, span_of(better), span_of(worse)); });
        return nb::make_tuple(to_numpy(std::move(result.rows)), to_numpy(std::move(result.ids)),
                              to_numpy(std::move(result.values)));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("better").noconvert(), nb::arg("worse").noconvert());
  m.def(
      "fit_logistic",
      [](In<int64_t> rows, In<int32_t> ids, In<double> values, In<double> offsets, int64_t n_features,
         double row_weight, double l2, int max_iterations, double tolerance, int n_threads) {
        const optim::LogisticProblem problem{
            span_of(rows), span_of(ids), span_of(values), span_of(offsets), n_features, row_weight, l2};
        const optim::LbfgsSettings settings{max_iterations, 10, tolerance};
        optim::LbfgsResult result =
            watch([&](Control& control) { return optim::fit_logistic(problem, settings, n_threads, control); });
        return nb::make_tuple(to_numpy(std::move(result.point)), result.value, result.n_iterations, result.converged);
      },
      nb::arg("rows").noconvert(), nb::arg("ids").noconvert(), nb::arg("values").noconvert(),
      nb::arg("offsets").noconvert(), nb::arg("n_features"), nb::arg("row_weight"), nb::arg("l2"),
      nb::arg("max_iterations"), nb::arg("tolerance"), nb::arg("n_threads") = 1);
}

void bind_oracle(nb::module_& m) {
  m.def(
      "oracle_candidates",
      [](const nb::list& shards, const metric::Scorer& scorer) {
        std::vector<pool::OracleShard> views;
        for (const nb::handle shard : shards) {
          const auto [sentences, stats, gains] =
              nb::cast<std::tuple<In<int64_t>, In2<double>, In<double>>>(shard, false);
          views.push_back({span_of(sentences), {stats.data(), stats.size()}, span_of(gains)});
        }
        auto chosen = watch([&](Control& control) { return pool::oracle(views, scorer, control); });
        nb::list result;
        for (auto& one : chosen) result.append(to_numpy(std::move(one)));
        return result;
      },
      nb::arg("shards"), nb::arg("scorer"));
}

}  // namespace

void bind_optim(nb::module_& m) {
  bind_scorers(m);
  bind_ranking(m);
  bind_oracle(m);
  m.def("sweep_envelopes", &sweep_lines, nb::arg("scorer"), nb::arg("first").noconvert(), nb::arg("begins").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("stats").noconvert(), nb::arg("scale"), "step, gain.");
  nb::class_<BoundSurface>(m, "Surface", "Candidates arranged for exact line search.")
      .def("spreads",
           [](const BoundSurface& b) {
             std::vector<double> spreads(b.surface->n_chosen());
             for (size_t k = 0; k < spreads.size(); ++k) spreads[k] = b.surface->spread(k);
             return to_numpy(std::move(spreads));
           })
      .def(
          "gain",
          [](const BoundSurface& b, In<double> weights) { return optim::Point(*b.surface, span_of(weights)).gain(); },
          nb::arg("weights").noconvert())
      .def(
          "search_feature",
          [](const BoundSurface& b, In<double> weights, size_t k, double lower, double upper) {
            if (k >= b.surface->n_chosen()) throw nb::index_error("no such chosen feature");
            return optim::Point(*b.surface, span_of(weights)).search(k, {lower, upper}).step;
          },
          nb::arg("weights").noconvert(), nb::arg("k"), nb::arg("lower"), nb::arg("upper"))
      .def(
          "search_direction",
          [](const BoundSurface& b, In<double> weights, In<double> direction, double lower, double upper) {
            return optim::Point(*b.surface, span_of(weights)).search(span_of(direction), {lower, upper}).step;
          },
          nb::arg("weights").noconvert(), nb::arg("direction").noconvert(), nb::arg("lower"), nb::arg("upper"))
      .def(
          "climb",
          [](const BoundSurface& b, In2<double> starts, In<double> lower, In<double> upper, int max_passes,
             int n_directions, uint64_t seed, int n_threads) {
            const optim::ClimbSettings settings{max_passes, n_directions, seed, bounds_of(lower, upper)};
            const std::span<const double> rows(starts.data(), starts.size());
            const auto climbs =
                watch([&](Control& control) { return optim::climb(*b.surface, rows, settings, n_threads, control); });
            std::vector<double> weights, gains;
            std::vector<int64_t> n_passes, n_searches;
            for (const auto& one : climbs) {
              weights.insert(weights.end(), one.weights.begin(), one.weights.end());
              gains.push_back(one.gain);
              n_passes.push_back(one.n_passes);
              n_searches.push_back(one.n_searches);
            }
            return nb::make_tuple(to_numpy(std::move(weights), {climbs.size(), b.surface->n_chosen()}),
                                  to_numpy(std::move(gains)), to_numpy(std::move(n_passes)),
                                  to_numpy(std::move(n_searches)));
          },
          nb::arg("starts").noconvert(), nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
          nb::arg("max_passes"), nb::arg("n_directions"), nb::arg("seed"), nb::arg("n_threads") = 1);
  m.def("surface", &make_surface, nb::arg("shards"), nb::arg("chosen").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("scorer"), nb::arg("n_threads") = 1);
}

}  // namespace dragoman::bind
