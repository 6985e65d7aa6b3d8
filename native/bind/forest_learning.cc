#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/base/ragged.hh"
#include "core/forest/envelope.hh"
#include "core/forest/oracle.hh"
#include "core/forest/prune.hh"
#include "core/forest/translations.hh"

namespace dragoman::bind {

namespace {

nb::tuple envelopes_of(const std::vector<std::vector<const forest::Forest*>>& sentences, In<double> weights,
                       In<double> direction, int n_threads) {
  forest::EnvelopeLines lines = watch([&](Control& control) {
    return forest::forest_envelopes(sentences, span_of(weights), span_of(direction), n_threads, control);
  });
  return nb::make_tuple(
      to_numpy(std::move(lines.first)), to_numpy(std::move(lines.from)), to_numpy(std::move(lines.slopes)),
      to_numpy(std::move(lines.scores)), to_numpy(std::move(lines.forests)), to_numpy(std::move(lines.token_offsets)),
      to_numpy(std::move(lines.tokens)), to_numpy(std::move(lines.edge_offsets)), to_numpy(std::move(lines.edges)));
}

// The number of each line's translation, and the lines whose translations are new.
nb::tuple number_lines(forest::Translations& translations, In<int64_t> first, In<int32_t> forests,
                       In<int64_t> token_offsets, In<int32_t> tokens) {
  const auto words = ragged_of(token_offsets, tokens, "tokens");
  Ragged<int32_t> sentences{span_of(first), span_of(forests)};
  sentences.check("lines");
  if (words.size() != static_cast<int64_t>(forests.size())) throw std::invalid_argument("tokens of each line expected");
  std::vector<int64_t> numbers, new_lines;
  for (int64_t s = 0; s < sentences.size(); ++s)
    for (const int32_t forest : sentences[s]) {
      const auto line = static_cast<int64_t>(numbers.size());
      const auto [number, is_new] = translations.of(s, forest, words[line]);
      numbers.push_back(number);
      if (is_new) new_lines.push_back(line);
    }
  return nb::make_tuple(to_numpy(std::move(numbers)), to_numpy(std::move(new_lines)));
}

nb::tuple oracles_of(const std::vector<const forest::Forest*>& forests, In<int64_t> ref_offsets,
                     In<int64_t> segment_offsets, In<int32_t> ids, int order, int64_t beam, int n_threads) {
  const Sentences segments{span_of(segment_offsets), span_of(ids)};
  segments.check("references");
  if (ref_offsets.size() != forests.size() + 1) throw std::invalid_argument("references for every forest expected");
  std::vector<std::vector<std::span<const int32_t>>> references(forests.size());
  for (size_t s = 0; s < forests.size(); ++s)
    for (int64_t r = ref_offsets.data()[s]; r < ref_offsets.data()[s + 1]; ++r) {
      if (r < 0 || r >= segments.size()) throw std::invalid_argument("ref_offsets beyond the references");
      references[s].push_back(segments[r]);
    }
  auto best = watch(
      [&](Control& control) { return forest::forest_oracles(forests, references, order, beam, n_threads, control); });
  std::vector<double> gains;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> edges;
  for (const forest::ForestOracle& one : best) {
    gains.push_back(one.gain);
    edges.insert(edges.end(), one.edges.begin(), one.edges.end());
    offsets.push_back(static_cast<int64_t>(edges.size()));
  }
  return nb::make_tuple(to_numpy(std::move(gains)), to_numpy(std::move(offsets)), to_numpy(std::move(edges)));
}

}  // namespace

void bind_forest_learning(nb::module_& m) {
  nb::class_<forest::Translations>(m, "Translations", "Numbers of the distinct translations of many sentences.")
      .def(nb::init<>())
      .def("number", &number_lines, nb::arg("first").noconvert(), nb::arg("forests").noconvert(),
           nb::arg("token_offsets").noconvert(), nb::arg("tokens").noconvert(), "numbers, new_lines.");
  m.def(
      "prune_forests",
      [](const std::vector<const forest::Forest*>& forests, In<double> weights, double density, int n_threads) {
        return watch([&](Control& control) {
          return forest::prune_forests(forests, span_of(weights), density, n_threads, control);
        });
      },
      nb::arg("forests"), nb::arg("weights").noconvert(), nb::arg("density"), nb::arg("n_threads") = 1);
  m.def("forest_envelopes", &envelopes_of, nb::arg("sentences"), nb::arg("weights").noconvert(),
        nb::arg("direction").noconvert(), nb::arg("n_threads") = 1,
        "first, from, slopes, scores, forests, token_offsets, tokens, edge_offsets, edges.");
  m.def("forest_oracles", &oracles_of, nb::arg("forests"), nb::arg("ref_offsets").noconvert(),
        nb::arg("segment_offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("order"), nb::arg("beam"),
        nb::arg("n_threads") = 1, "BLEU+1, edge_offsets, edges.");
}

}  // namespace dragoman::bind
