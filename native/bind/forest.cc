#include "core/forest/forest.hh"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hh"
#include "bind/kbest.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/base/parallel.hh"
#include "core/forest/inside.hh"
#include "core/forest/kbest.hh"
#include "core/forest/text.hh"

namespace dragoman::bind {

namespace {

std::vector<forest::Feature> features_of(const In<int32_t>& ids, const In<float>& values) {
  if (ids.size() != values.size()) throw std::invalid_argument("as many feature ids as values are needed");
  std::vector<forest::Feature> result(ids.size());
  for (size_t i = 0; i < result.size(); ++i) {
    if (ids.data()[i] < 0) throw std::invalid_argument("feature ids must not be negative");
    result[i] = {ids.data()[i], values.data()[i]};
  }
  return result;
}

forest::Forest forest_of_arrays(In2<int32_t> nodes, In<int64_t> rules, In2<int32_t> spans, In<int64_t> symbol_offsets,
                                In<int32_t> symbols, In<int64_t> local_offsets, In<int32_t> local_ids,
                                In<float> local_values, In<int64_t> node_edges, In<int32_t> instances,
                                In<int64_t> tail_offsets, In<int32_t> tails, In<int64_t> feature_offsets,
                                In<int32_t> feature_ids, In<float> feature_values) {
  const std::vector<forest::Feature> locals = features_of(local_ids, local_values);
  const std::vector<forest::Feature> owns = features_of(feature_ids, feature_values);
  const auto symbol_rows = ragged_of(symbol_offsets, symbols, "symbols");
  Ragged<forest::Feature> local_rows{span_of(local_offsets), locals};
  local_rows.check("local features");
  const auto edge_rows = ragged_of(node_edges, instances, "edges");
  const auto tail_rows = ragged_of(tail_offsets, tails, "tails");
  Ragged<forest::Feature> own_rows{span_of(feature_offsets), owns};
  own_rows.check("features");
  const auto n_instances = static_cast<int64_t>(rules.size());
  const auto n_edges = static_cast<int64_t>(instances.size());
  if (nodes.shape(1) != 4 || spans.shape(1) != 2) throw std::invalid_argument("nodes have 4 columns and spans 2");
  if (static_cast<int64_t>(spans.shape(0)) != n_instances || symbol_rows.size() != n_instances ||
      local_rows.size() != n_instances || edge_rows.size() != static_cast<int64_t>(nodes.shape(0)) ||
      tail_rows.size() != n_edges || own_rows.size() != n_edges)
    throw std::invalid_argument("the arrays of a forest have different lengths");
  forest::Forest forest;
  for (int64_t i = 0; i < n_instances; ++i)
    forest.add_instance({rules.data()[i], {spans.data()[2 * i], spans.data()[2 * i + 1]}}, symbol_rows[i],
                        local_rows[i]);
  for (int64_t v = 0; v < edge_rows.size(); ++v) {
    const int32_t* node = nodes.data() + 4 * v;
    forest.add_node({node[0], {node[1], node[2]}, node[3]});
    for (int64_t e = edge_rows.offsets[static_cast<size_t>(v)]; e < edge_rows.offsets[static_cast<size_t>(v) + 1]; ++e)
      forest.add_edge(instances.data()[e], tail_rows[e], own_rows[e]);
  }
  return forest;
}

// The arguments of forest_of_arrays.
nb::tuple arrays_of(const forest::Forest& forest) {
  std::vector<int32_t> nodes, spans, symbols, local_ids, instances, tails, feature_ids;
  std::vector<int64_t> rules, symbol_offsets{0}, local_offsets{0}, node_edges{0}, tail_offsets{0}, feature_offsets{0};
  std::vector<float> local_values, feature_values;
  const auto add_row = [](std::span<const int32_t> row, std::vector<int32_t>& values, std::vector<int64_t>& offsets) {
    values.insert(values.end(), row.begin(), row.end());
    offsets.push_back(static_cast<int64_t>(values.size()));
  };
  const auto add_features = [](std::span<const forest::Feature> row, std::vector<int32_t>& ids,
                               std::vector<float>& values, std::vector<int64_t>& offsets) {
    for (const forest::Feature& f : row) {
      ids.push_back(f.id);
      values.push_back(f.value);
    }
    offsets.push_back(static_cast<int64_t>(ids.size()));
  };
  for (int32_t i = 0; i < forest.n_instances(); ++i) {
    const forest::Forest::Instance& instance = forest.instance(i);
    rules.push_back(instance.rule);
    spans.insert(spans.end(), {instance.span.begin, instance.span.end});
    add_row(forest.symbols(i), symbols, symbol_offsets);
    add_features(forest.local_features(i), local_ids, local_values, local_offsets);
  }
  for (int32_t v = 0; v < forest.n_nodes(); ++v) {
    const forest::Forest::Node& node = forest.node(v);
    nodes.insert(nodes.end(), {node.label, node.span.begin, node.span.end, node.covered});
    node_edges.push_back(forest.end_edge(v));
  }
  for (int32_t e = 0; e < forest.n_edges(); ++e) {
    instances.push_back(forest.edge_instance(e));
    add_row(forest.tails(e), tails, tail_offsets);
    add_features(forest.own_features(e), feature_ids, feature_values, feature_offsets);
  }
  const auto n_nodes = static_cast<size_t>(forest.n_nodes()), n_instances = rules.size();
  return nb::make_tuple(
      to_numpy(std::move(nodes), {n_nodes, 4}), to_numpy(std::move(rules)),
      to_numpy(std::move(spans), {n_instances, 2}), to_numpy(std::move(symbol_offsets)), to_numpy(std::move(symbols)),
      to_numpy(std::move(local_offsets)), to_numpy(std::move(local_ids)), to_numpy(std::move(local_values)),
      to_numpy(std::move(node_edges)), to_numpy(std::move(instances)), to_numpy(std::move(tail_offsets)),
      to_numpy(std::move(tails)), to_numpy(std::move(feature_offsets)), to_numpy(std::move(feature_ids)),
      to_numpy(std::move(feature_values)));
}

std::vector<double> marginals(const forest::Forest& forest, std::span<const double> scores, bool sum) {
  return sum ? forest::edge_marginals<forest::LogSum>(forest, scores)
             : forest::edge_marginals<forest::MaxPlus>(forest, scores);
}

forest::KBestLists kbest_of(const std::vector<const forest::Forest*>& forests, const std::vector<double>& weights,
                            int64_t k, bool distinct, int n_threads, Control& control) {
  std::vector<forest::KBestLists> parts(forests.size());
  parallel_chunks(static_cast<int64_t>(forests.size()), 1, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      forest::append_kbest(*forests[static_cast<size_t>(i)], weights, k, distinct, control,
                           parts[static_cast<size_t>(i)]);
  });
  return forest::concatenated(std::move(parts));
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<forest::Forest>(m, "Forest", "A packed search space; the last node is the goal.")
      .def_prop_ro("n_nodes", &forest::Forest::n_nodes)
      .def_prop_ro("n_edges", &forest::Forest::n_edges)
      .def_prop_ro("n_bytes", &forest::Forest::n_bytes)
      .def("arrays", &arrays_of, "What forest_of_arrays takes.")
      .def(
          "edge_scores",
          [](const forest::Forest& f, In<double> weights) { return to_numpy(f.edge_scores(span_of(weights))); },
          nb::arg("weights").noconvert())
      .def(
          "inside",
          [](const forest::Forest& f, In<double> weights, bool sum) {
            const auto scores = f.edge_scores(span_of(weights));
            return to_numpy(sum ? forest::inside<forest::LogSum>(f, scores)
                                : forest::inside<forest::MaxPlus>(f, scores));
          },
          nb::arg("weights").noconvert(), nb::arg("sum"), "The log inside value of every node.")
      .def(
          "marginals",
          [](const forest::Forest& f, In<double> weights, bool sum) {
            return to_numpy(marginals(f, f.edge_scores(span_of(weights)), sum));
          },
          nb::arg("weights").noconvert(), nb::arg("sum"),
          "Of every edge, relative to the goal: log posterior, or how much worse than the best its best derivation is.")
      .def(
          "pruned",
          [](const forest::Forest& f, In<double> weights, double threshold, bool sum) {
            const auto values = marginals(f, f.edge_scores(span_of(weights)), sum);
            std::vector<char> keep(values.size());
            for (size_t i = 0; i < keep.size(); ++i) keep[i] = values[i] >= threshold;
            return f.subforest(keep);
          },
          nb::arg("weights").noconvert(), nb::arg("threshold"), nb::arg("sum"))
      .def(
          "expected_features",
          [](const forest::Forest& f, In<double> weights) {
            forest::Expectation e = forest::expected_features(f, f.edge_scores(span_of(weights)));
            return nb::make_tuple(e.log_total, to_numpy(std::move(e.features.ids)),
                                  to_numpy(std::move(e.features.values)));
          },
          nb::arg("weights").noconvert())
      .def(
          "tokens",
          [](const forest::Forest& f, In<int32_t> edges) {
            std::vector<int32_t> tokens;
            forest::append_yield(f, span_of(edges), tokens);
            return to_numpy(std::move(tokens));
          },
          nb::arg("edges").noconvert(), "The words of a derivation given by its edges in pre-order.")
      .def(
          "features",
          [](const forest::Forest& f, In<int32_t> edges) {
            std::vector<int32_t> ids, tokens;
            std::vector<float> values;
            forest::append_yield(f, span_of(edges), tokens);  // checks the edges
            forest::FeatureSum(f, span_of(edges)).append(span_of(edges), ids, values);
            return nb::make_tuple(to_numpy(std::move(ids)), to_numpy(std::move(values)));
          },
          nb::arg("edges").noconvert());
  m.def("forest_of_arrays", &forest_of_arrays, nb::arg("nodes").noconvert(), nb::arg("rules").noconvert(),
        nb::arg("spans").noconvert(), nb::arg("symbol_offsets").noconvert(), nb::arg("symbols").noconvert(),
        nb::arg("local_offsets").noconvert(), nb::arg("local_ids").noconvert(), nb::arg("local_values").noconvert(),
        nb::arg("node_edges").noconvert(), nb::arg("instances").noconvert(), nb::arg("tail_offsets").noconvert(),
        nb::arg("tails").noconvert(), nb::arg("feature_offsets").noconvert(), nb::arg("feature_ids").noconvert(),
        nb::arg("feature_values").noconvert());
  m.def(
      "kbest",
      [](const std::vector<const forest::Forest*>& forests, In<double> weights, int64_t k, bool distinct,
         int n_threads) {
        const std::vector<double> w = copy_of(weights);
        return to_tuple(watch([&](Control& control) { return kbest_of(forests, w, k, distinct, n_threads, control); }));
      },
      nb::arg("forests"), nb::arg("weights").noconvert(), nb::arg("k"), nb::arg("distinct"), nb::arg("n_threads"));
  m.def(
      "read_hypergraph",
      [](const nb::bytes& text, names::WordTable& words, names::FeatureIndex& features) {
        return forest::read_hypergraph({text.c_str(), text.size()}, words, features);
      },
      nb::arg("text"), nb::arg("words"), nb::arg("features"));
  m.def(
      "write_hypergraph",
      [](const forest::Forest& forest, const names::WordTable& words, const std::vector<nb::bytes>& own_words,
         const names::FeatureIndex& features) {
        std::vector<std::string> own;
        for (const nb::bytes& word : own_words) own.emplace_back(word.c_str(), word.size());
        const std::string out = forest::write_hypergraph(forest, words, own, features);
        return nb::bytes(out.data(), out.size());
      },
      nb::arg("forest"), nb::arg("words"), nb::arg("own_words"), nb::arg("features"));
}

}  // namespace dragoman::bind
