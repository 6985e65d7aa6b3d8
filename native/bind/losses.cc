#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/optim/learner.hh"
#include "core/optim/list_gradient.hh"
#include "core/optim/list_loss.hh"
#include "core/optim/list_store.hh"

namespace dragoman::bind {

namespace {

template <typename T>
Out<T> copied(std::span<const T> values) {
  return to_numpy(std::vector<T>(values.begin(), values.end()));
}

nb::tuple tuple_of(optim::ScoredLists&& lists) {
  return nb::make_tuple(to_numpy(std::move(lists.scores)), to_numpy(std::move(lists.gains)),
                        to_numpy(std::move(lists.offsets)));
}

void bind_list_losses(nb::module_& m) {
  nb::class_<optim::ListLoss>(m, "ListLoss", "A loss of one candidate list, for kernels.");
  m.def("list_loss", &optim::list_loss, nb::arg("name"), nb::arg("setting") = 1.0);
  m.def("list_loss_names", &optim::list_loss_names);
  m.def(
      "list_gradient",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<double> gains,
         In<double> weights, const optim::ListLoss& loss, int n_threads) {
        const pool::Candidates candidates{span_of(sentences), span_of(rows), span_of(ids), span_of(values)};
        optim::ListGradient result = watch([&](Control& control) {
          return optim::list_gradient(candidates, span_of(gains), span_of(weights), loss, n_threads, control);
        });
        return nb::make_tuple(result.value, to_numpy(std::move(result.ids)), to_numpy(std::move(result.values)),
                              to_numpy(std::move(result.n_lists)));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("gains").noconvert(), nb::arg("weights").noconvert(), nb::arg("loss"),
      nb::arg("n_threads") = 1);
}

void bind_list_store(nb::module_& m) {
  nb::class_<optim::ListStore>(m, "ListStore", "Candidate lists prepared for learning.")
      .def(nb::init<int64_t, int64_t, std::string>(), nb::arg("n_features"), nb::arg("memory_bytes"), nb::arg("folder"))
      .def(
          "add",
          [](optim::ListStore& store, In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values,
             In<double> gains, In<uint8_t> fixed, In<double> weights, int n_threads) {
            const pool::Candidates candidates{span_of(sentences), span_of(rows), span_of(ids), span_of(values)};
            watch([&](Control& control) {
              store.add(candidates, span_of(gains), {span_of(fixed), span_of(weights)}, n_threads, control);
              return true;
            });
          },
          nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
          nb::arg("values").noconvert(), nb::arg("gains").noconvert(), nb::arg("fixed").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("n_threads") = 1)
      .def("seal", &optim::ListStore::seal)
      .def("scale_fixed", &optim::ListStore::scale_fixed, nb::arg("scale"))
      .def("__len__", &optim::ListStore::size)
      .def("n_bytes", &optim::ListStore::n_bytes)
      .def("sentences", [](const optim::ListStore& store) { return copied(store.sentences()); })
      .def("list_counts",
           [](const optim::ListStore& store) {
             std::vector<int32_t> counts;
             for (const auto& each : store.counts()) counts.push_back(each.n_lists);
             return to_numpy(std::move(counts));
           })
      .def("differing",
           [](const optim::ListStore& store) {
             std::vector<uint8_t> differing;
             for (const auto& each : store.counts()) differing.push_back(each.n_differing > 0);
             return to_numpy(std::move(differing));
           })
      .def("variances",
           [](const optim::ListStore& store) {
             return to_numpy(watch([&](Control& control) { return store.variances(control); }));
           })
      .def(
          "score_variance",
          [](const optim::ListStore& store, In<int64_t> order, In<double> weights) {
            return watch(
                [&](Control& control) { return store.score_variance(span_of(order), span_of(weights), control); });
          },
          nb::arg("order").noconvert(), nb::arg("weights").noconvert())
      .def(
          "scored",
          [](const optim::ListStore& store, In<int64_t> order, In<double> weights) {
            return tuple_of(
                watch([&](Control& control) { return store.scored(span_of(order), span_of(weights), control); }));
          },
          nb::arg("order").noconvert(), nb::arg("weights").noconvert())
      .def(
          "loss",
          [](const optim::ListStore& store, const optim::ListLoss& loss, In<int64_t> order, In<double> weights,
             int n_threads) {
            return watch([&](Control& control) {
              return store.loss(loss, span_of(order), span_of(weights), n_threads, control);
            });
          },
          nb::arg("loss"), nb::arg("order").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_threads") = 1);
}

void bind_learner(nb::module_& m) {
  nb::class_<optim::Learner>(m, "Learner", "Weights that move against gradients.")
      .def(
          "__init__",
          [](optim::Learner* self, In<double> start, int64_t n_lists, In<double> gradient_rates,
             In<double> penalty_rates, double step, double decay, double l2, bool adaptive, bool averaged) {
            const optim::UpdateRule rule{step, decay, l2, adaptive, averaged};
            new (self) optim::Learner(span_of(start), rule, {span_of(gradient_rates), span_of(penalty_rates)}, n_lists);
          },
          nb::arg("start").noconvert(), nb::arg("n_lists"), nb::arg("gradient_rates").noconvert(),
          nb::arg("penalty_rates").noconvert(), nb::arg("step"), nb::arg("decay"), nb::arg("l2"), nb::arg("adaptive"),
          nb::arg("averaged"))
      .def(
          "epoch",
          [](optim::Learner& learner, const optim::ListStore& lists, In<int64_t> order, const optim::ListLoss& loss,
             int64_t batch, int n_threads) {
            return watch([&](Control& control) {
              return learner.epoch(lists, span_of(order), loss, batch, n_threads, control);
            });
          },
          nb::arg("lists"), nb::arg("order").noconvert(), nb::arg("loss"), nb::arg("batch") = 1,
          nb::arg("n_threads") = 1)
      .def(
          "begin_step", [](optim::Learner& learner, int64_t n_lists) { learner.begin_step(n_lists); },
          nb::arg("n_lists"))
      .def(
          "begin_list_step",
          [](optim::Learner& learner, const optim::ListStore& lists, In<int64_t> order, size_t begin, size_t end) {
            return tuple_of(learner.begin_step(lists, span_of(order), begin, end));
          },
          nb::arg("lists"), nb::arg("order").noconvert(), nb::arg("begin"), nb::arg("end"))
      .def(
          "finish_list_step",
          [](optim::Learner& learner, const optim::ListStore& lists, In<int64_t> order, In<double> slopes) {
            learner.finish_step(lists, span_of(order), span_of(slopes));
          },
          nb::arg("lists"), nb::arg("order").noconvert(), nb::arg("slopes").noconvert())
      .def(
          "touch", [](optim::Learner& learner, In<int32_t> ids) { learner.touch(span_of(ids)); },
          nb::arg("ids").noconvert())
      .def(
          "apply",
          [](optim::Learner& learner, In<int32_t> ids, In<double> gradient) {
            learner.apply(span_of(ids), span_of(gradient));
          },
          nb::arg("ids").noconvert(), nb::arg("gradient").noconvert())
      // A view, not a copy: losses from outside read it at every step.
      .def("live",
           [](nb::handle self) {
             const auto values = nb::cast<optim::Learner&>(self).live();
             return nb::ndarray<nb::numpy, const double, nb::ndim<1>>(values.data(), {values.size()}, self);
           })
      .def("weights", [](optim::Learner& learner) { return copied(learner.weights()); })
      .def("average", [](optim::Learner& learner) { return to_numpy(learner.average()); });
}

}  // namespace

void bind_losses(nb::module_& m) {
  bind_list_losses(m);
  bind_list_store(m);
  bind_learner(m);
}

}  // namespace dragoman::bind
