#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/optim/reference_store.hh"

namespace dragoman::bind {

namespace {

// Copies of arrays by their names.
forest::ReferenceForests forests_of(const nb::dict& arrays) {
  forest::ReferenceForests forests;
  forest::ReferenceForests::each_array(forests, [&](const char* name, auto& values) {
    using Element = typename std::remove_cvref_t<decltype(values)>::value_type;
    In<Element> array;
    if (!arrays.contains(name) || !nb::try_cast(arrays[name], array, /*convert=*/false))
      throw nb::type_error((std::string(name) + ": a contiguous array of its type is needed").c_str());
    values.assign(array.data(), array.data() + array.size());
  });
  forests.check();
  return forests;
}

optim::ReferenceModel model_of(const std::string& loss, double prior_weight, double cost_scale, bool by_rule,
                               double bound) {
  const auto kind = loss == "likelihood"        ? optim::ReferenceLoss::kLikelihood
                    : loss == "expected-gain"   ? optim::ReferenceLoss::kExpectedGain
                    : loss == "soft-ramp"       ? optim::ReferenceLoss::kSoftRamp
                    : loss == "relative-margin" ? optim::ReferenceLoss::kRelativeMargin
                                                : throw std::invalid_argument("no such loss: " + loss);
  if (kind == optim::ReferenceLoss::kRelativeMargin && !by_rule)
    throw std::invalid_argument("relative margins are those of rules");
  return {kind, prior_weight, cost_scale, by_rule, bound};
}

}  // namespace

void bind_references(nb::module_& m) {
  nb::class_<optim::ReferenceModel>(m, "ReferenceModel", "A loss of forests around references.")
      .def(
          "__init__",
          [](optim::ReferenceModel* self, const std::string& loss, double prior_weight, double cost_scale, bool by_rule,
             double bound) {
            new (self) optim::ReferenceModel(model_of(loss, prior_weight, cost_scale, by_rule, bound));
          },
          nb::arg("loss"), nb::kw_only(), nb::arg("prior_weight") = 1.0, nb::arg("cost_scale") = 1.0,
          nb::arg("by_rule") = false, nb::arg("bound") = 1.0);
  nb::class_<optim::GreedyDerivations>(m, "GreedyDerivations", "Derivations that Algorithm 1 has moved to.")
      .def(nb::init<>())
      .def("counts", [](const optim::GreedyDerivations& greedy) {
        const optim::GreedyCounts& counts = greedy.counts;
        return nb::make_tuple(counts.n_lexicalised, counts.n_generalised, counts.n_moves, counts.n_references,
                              counts.n_listed);
      });
  nb::class_<optim::ReferenceStore>(m, "ReferenceStore", "Forests around references, ready to learn from.")
      .def(nb::init<int64_t>(), nb::arg("n_features"))
      .def(
          "add",
          [](optim::ReferenceStore& store, const nb::dict& arrays, In<int32_t> ids) {
            const forest::ReferenceForests forests = forests_of(arrays);
            store.add(forests, span_of(ids), forests.gains);
          },
          nb::arg("arrays"), nb::arg("ids").noconvert())
      .def("__len__", &optim::ReferenceStore::size)
      .def_prop_ro("n_features", &optim::ReferenceStore::n_features)
      .def_prop_ro("n_edges", &optim::ReferenceStore::n_edges)
      .def("n_bytes", &optim::ReferenceStore::n_bytes)
      .def("places",
           [](const optim::ReferenceStore& store) {
             const auto places = store.places();
             return to_numpy(std::vector<int64_t>(places.begin(), places.end()));
           })
      .def(
          "mean_squares",
          [](const optim::ReferenceStore& store, In<int32_t> ids) {
            return to_numpy(store.mean_squares(span_of(ids)));
          },
          nb::arg("ids").noconvert())
      .def("counts", [](const optim::ReferenceStore& store) { return to_numpy(store.counts()); })
      .def(
          "value",
          [](const optim::ReferenceStore& store, const optim::ReferenceModel& model, In<int64_t> order,
             In<double> weights, int n_threads) {
            const auto found = watch([&](Control& control) {
              return store.value(model, span_of(order), span_of(weights), n_threads, control);
            });
            return std::pair(found.loss, found.share);
          },
          nb::arg("model"), nb::arg("order").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_threads") = 1)
      .def(
          "gradient",
          [](const optim::ReferenceStore& store, const optim::ReferenceModel& model, int64_t sentence,
             In<double> weights) {
            std::vector<double> gradient;
            const auto found = store.gradient(model, sentence, span_of(weights), gradient);
            const auto ids = store.ids(sentence);
            return nb::make_tuple(found.loss, to_numpy(std::vector<int32_t>(ids.begin(), ids.end())),
                                  to_numpy(std::move(gradient)));
          },
          nb::arg("model"), nb::arg("sentence"), nb::arg("weights").noconvert())
      .def(
          "shares",
          [](const optim::ReferenceStore& store, const optim::ReferenceModel& model, int64_t sentence,
             In<double> weights) { return to_numpy(store.shares(model, sentence, span_of(weights))); },
          nb::arg("model"), nb::arg("sentence"), nb::arg("weights").noconvert())
      .def(
          "weigh_references",
          [](optim::ReferenceStore& store, const optim::ReferenceModel& model, In<double> weights, int n_threads) {
            watch([&](Control& control) {
              store.weigh_references(model, span_of(weights), n_threads, control);
              return true;
            });
          },
          nb::arg("model"), nb::arg("weights").noconvert(), nb::arg("n_threads") = 1)
      .def(
          "epoch",
          [](const optim::ReferenceStore& store, optim::Learner& learner, const optim::ReferenceModel& model,
             In<int64_t> order, int64_t batch, int n_threads, optim::GreedyDerivations* greedy) {
            return watch([&](Control& control) {
              return store.epoch(learner, model, span_of(order), batch, n_threads, control, greedy);
            });
          },
          nb::arg("learner"), nb::arg("model"), nb::arg("order").noconvert(), nb::arg("batch") = 1,
          nb::arg("n_threads") = 1, nb::arg("greedy").none() = nb::none())
      .def(
          "greedy_gradient",
          [](const optim::ReferenceStore& store, const optim::ReferenceModel& model, int64_t sentence,
             In<double> weights, In<int32_t> derivation) {
            std::vector<double> gradient;
            std::vector<int32_t> tree = copy_of(derivation);
            optim::GreedyCounts counts;
            const auto found = store.greedy_gradient(model, sentence, span_of(weights), tree, counts, gradient);
            const auto ids = store.ids(sentence);
            return nb::make_tuple(found.loss, to_numpy(std::vector<int32_t>(ids.begin(), ids.end())),
                                  to_numpy(std::move(gradient)), to_numpy(std::move(tree)), counts.n_listed);
          },
          nb::arg("model"), nb::arg("sentence"), nb::arg("weights").noconvert(), nb::arg("derivation").noconvert());
}

}  // namespace dragoman::bind
