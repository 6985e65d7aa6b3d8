#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/corpus/exchange.hh"

namespace dragoman::bind {

namespace {

using corpus::WordBigrams;

// An exchange in steps, by ids; keeps its bigrams alive.
class WordExchange {
 public:
  WordExchange(std::shared_ptr<const WordBigrams> bigrams, int32_t n_classes, In<int32_t> classes)
      : bigrams_(std::move(bigrams)), exchange_(*bigrams_, n_classes, by_word(*bigrams_, span_of(classes))) {}

  double likelihood() const { return exchange_.likelihood(); }
  std::vector<double> gains(int32_t id) {
    std::vector<double> result(at(exchange_.n_classes()));
    exchange_.gains(word_of(id), result);
    return result;
  }
  void move(int32_t id, int32_t to) {
    if (to < 0 || to >= exchange_.n_classes()) throw nb::index_error("there is no such class");
    exchange_.move(word_of(id), to);
  }
  int64_t sweep() {
    Control control;
    return exchange_.sweep(control);
  }
  std::vector<int32_t> classes() const { return exchange_.by_id(); }

 private:
  static std::vector<int32_t> by_word(const WordBigrams& bigrams, std::span<const int32_t> by_id) {
    if (static_cast<int64_t>(by_id.size()) != bigrams.n_ids()) throw nb::value_error("a class for each id is needed");
    std::vector<int32_t> classes;
    for (int32_t word = 0; word < bigrams.n_words(); ++word) classes.push_back(by_id[at(bigrams.id(word))]);
    return classes;
  }
  int32_t word_of(int32_t id) const {
    if (id < 0 || id >= bigrams_->n_ids() || bigrams_->word_of(id) < 0) throw nb::index_error("not in the text");
    return bigrams_->word_of(id);
  }

  std::shared_ptr<const WordBigrams> bigrams_;
  corpus::Exchange exchange_;
};

nb::list cluster(const WordBigrams& bigrams, const std::vector<int32_t>& sizes, int32_t max_sweeps, int n_threads,
                 nb::object progress) {
  auto found = watch([&](Control& control) { return corpus::cluster(bigrams, sizes, max_sweeps, n_threads, control); },
                     progress);
  nb::list results;
  for (corpus::Clustering& each : found)
    results.append(
        nb::make_tuple(to_numpy(std::move(each.classes)), each.start, each.likelihood, each.n_sweeps, each.converged));
  return results;
}

}  // namespace

void bind_corpus(nb::module_& m) {
  nb::class_<WordBigrams>(m, "WordBigrams", "The distinct bigrams of a text with their counts.")
      .def_prop_ro("n_words", &WordBigrams::n_words)
      .def_prop_ro("n_sentences", [](const WordBigrams& bigrams) { return bigrams.count(bigrams.boundary()); })
      .def("counts",
           [](const WordBigrams& bigrams) {
             std::vector<int64_t> counts(at(bigrams.n_ids()));
             for (int32_t word = 0; word < bigrams.n_words(); ++word)
               counts[at(bigrams.id(word))] = bigrams.count(word);
             return to_numpy(std::move(counts));
           })
      .def("cluster", &cluster, nb::arg("sizes"), nb::arg("max_sweeps"), nb::arg("n_threads"),
           nb::arg("progress") = nb::none(),
           "For each number of classes: classes by id (-1: not in the text), log likelihood at the start and at the "
           "end, sweeps, whether the last one moved nothing.");
  m.def(
      "word_bigrams",
      [](In<int64_t> offsets, In<int32_t> ids, int32_t n_ids) {
        const auto text = ragged_of(offsets, ids, "text");
        return watch([&](Control& control) { return std::make_shared<WordBigrams>(text, n_ids, control); });
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("n_ids"));
  nb::class_<WordExchange>(m, "WordExchange", "Exchange clustering step by step, from given classes by id.")
      .def(nb::init<std::shared_ptr<const WordBigrams>, int32_t, In<int32_t>>(), nb::arg("bigrams"),
           nb::arg("n_classes"), nb::arg("classes").noconvert())
      .def("likelihood", &WordExchange::likelihood)
      .def(
          "gains", [](WordExchange& exchange, int32_t id) { return to_numpy(exchange.gains(id)); }, nb::arg("id"))
      .def("move", &WordExchange::move, nb::arg("id"), nb::arg("to"))
      .def("sweep", &WordExchange::sweep)
      .def("classes", [](const WordExchange& exchange) { return to_numpy(exchange.classes()); });
}

}  // namespace dragoman::bind
