#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/pool/candidates.hh"
#include "core/pool/nbest.hh"
#include "core/pool/nbest_format.hh"

namespace dragoman::bind {

namespace {

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

pool::Candidates candidates_of(const In<int64_t>& sentences, const In<int64_t>& rows, const In<int32_t>& ids,
                               const In<float>& values) {
  return {span_of(sentences), span_of(rows), span_of(ids), span_of(values)};
}

// Ragged arrays one after the other, in another order of their rows.
template <typename T>
Out<T> gather(const std::vector<In<int64_t>>& rows, const std::vector<In<T>>& values, In<int64_t> order) {
  if (rows.size() != values.size()) throw nb::value_error("rows and values of each part are needed");
  std::vector<Ragged<T>> parts;
  for (size_t i = 0; i < rows.size(); ++i) parts.push_back(ragged_of(rows[i], values[i], "rows"));
  return to_numpy(pool::gather_rows<T>(parts, span_of(order)));
}

void bind_reader(nb::module_& m) {
  nb::class_<pool::NbestReader>(m, "NbestReader", "Parses candidate lists into arrays.")
      .def(nb::init<names::FeatureIndex&, names::WordTable&>(), nb::arg("index"), nb::arg("words"),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      // Reading changes the index and the words: the GIL is their lock.
      .def(
          "read_fields",
          [](pool::NbestReader& r, const nb::bytes& block, int64_t first_line, int id, int text, int features,
             int total) { r.read_fields(view_of(block), first_line, {id, text, features, total}); },
          nb::arg("block"), nb::arg("first_line"), nb::arg("id"), nb::arg("text"), nb::arg("features"),
          nb::arg("total"))
      .def(
          "read_json",
          [](pool::NbestReader& r, const nb::bytes& block, int64_t first_line) {
            r.read_json(view_of(block), first_line);
          },
          nb::arg("block"), nb::arg("first_line"))
      .def("n_lines", &pool::NbestReader::n_lines)
      .def("score_names", &pool::NbestReader::score_names)
      .def(
          "first_gap",
          [](const pool::NbestReader& r) -> std::optional<std::tuple<std::string, int64_t, int64_t, int64_t>> {
            const auto gap = r.first_gap();
            if (!gap) return std::nullopt;
            return std::tuple(gap->name, gap->n_lines, gap->line, gap->sentence);
          },
          "A score that most lines have and a line lacks: its name, how many have it, the line and its sentence.")
      .def(
          "names",
          [](const pool::NbestReader& r) {
            std::vector<std::tuple<std::vector<int32_t>, int64_t>> names;
            for (const auto& name : r.names()) names.emplace_back(name.ids, name.n_lines);
            return names;
          },
          "For each name that the file writes: the ids of its values, and in how many lines it occurs.")
      .def("take", [](pool::NbestReader& r) {
        pool::NbestRows rows = r.take();
        nb::list scores;
        for (auto& column : rows.scores) scores.append(to_numpy(std::move(column)));
        return nb::make_tuple(to_numpy(std::move(rows.sentences)), to_numpy(std::move(rows.feature_offsets)),
                              to_numpy(std::move(rows.feature_ids)), to_numpy(std::move(rows.feature_values)),
                              to_numpy(std::move(rows.token_offsets)), to_numpy(std::move(rows.tokens)),
                              to_numpy(std::move(rows.totals)), scores);
      });
}

void bind_writer(nb::module_& m) {
  nb::enum_<pool::NbestStyle>(m, "NbestStyle")
      .value("MOSES", pool::NbestStyle::kMoses)
      .value("ASSIGNMENTS", pool::NbestStyle::kAssignments)
      .value("TRAVATAR", pool::NbestStyle::kTravatar)
      .value("JSON", pool::NbestStyle::kJson);
  m.def(
      "format_nbest",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<int64_t> token_rows,
         In<int32_t> tokens, In<int32_t> sentence_ids, In<double> totals, In2<double> scores,
         std::vector<std::string> score_names, const std::vector<std::tuple<std::string, std::vector<int32_t>>>& dense,
         const names::FeatureIndex& index, const names::WordTable& words, pool::NbestStyle style) {
        pool::NbestTable table{candidates_of(sentences, rows, ids, values),
                               {span_of(token_rows), span_of(tokens)},
                               span_of(sentence_ids),
                               span_of(totals),
                               {scores.data(), scores.size()},
                               std::move(score_names),
                               {}};
        for (const auto& [name, features] : dense) table.dense.push_back({name, features});
        const std::string text = pool::format_nbest(table, index, words, style);
        return nb::bytes(text.data(), text.size());
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("token_rows").noconvert(), nb::arg("tokens").noconvert(),
      nb::arg("sentence_ids").noconvert(), nb::arg("totals").noconvert(), nb::arg("scores").noconvert(),
      nb::arg("score_names"), nb::arg("dense"), nb::arg("index"), nb::arg("words"), nb::arg("style"));
}

}  // namespace

void bind_pool(nb::module_& m) {
  bind_reader(m);
  bind_writer(m);
  m.def(
      "model_scores",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<double> weights,
         int n_threads) {
        const auto candidates = candidates_of(sentences, rows, ids, values);
        return to_numpy(
            watch([&](Control& c) { return pool::model_scores(candidates, span_of(weights), n_threads, c); }));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_threads") = 1);
  m.def(
      "best_candidates",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<double> weights,
         int n_threads) {
        const auto candidates = candidates_of(sentences, rows, ids, values);
        return to_numpy(
            watch([&](Control& c) { return pool::best_candidates(candidates, span_of(weights), n_threads, c); }));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_threads") = 1);
  m.def(
      "distinct_candidates",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<int64_t> token_rows,
         In<int32_t> tokens, In2<double> extra, int n_threads) {
        const auto candidates = candidates_of(sentences, rows, ids, values);
        const std::span<const double> columns(extra.data(), extra.size());
        return to_numpy(watch([&](Control& c) {
          return pool::distinct_candidates(candidates, {span_of(token_rows), span_of(tokens)}, columns,
                                           static_cast<int64_t>(extra.shape(1)), n_threads, c);
        }));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("token_rows").noconvert(), nb::arg("tokens").noconvert(),
      nb::arg("extra").noconvert(), nb::arg("n_threads") = 1);
  m.def(
      "project_candidates",
      [](In<int64_t> sentences, In<int64_t> rows, In<int32_t> ids, In<float> values, In<uint8_t> drop,
         In<int64_t> target_rows, In<int32_t> targets, In<double> coefficients) {
        const auto candidates = candidates_of(sentences, rows, ids, values);
        const pool::Projection projection{
            span_of(drop), {span_of(target_rows), span_of(targets)}, span_of(coefficients)};
        pool::SparseRows result = watch([&](Control& c) { return pool::project(candidates, projection, c); });
        return nb::make_tuple(to_numpy(std::move(result.rows)), to_numpy(std::move(result.ids)),
                              to_numpy(std::move(result.values)));
      },
      nb::arg("sentences").noconvert(), nb::arg("rows").noconvert(), nb::arg("ids").noconvert(),
      nb::arg("values").noconvert(), nb::arg("drop").noconvert(), nb::arg("target_rows").noconvert(),
      nb::arg("targets").noconvert(), nb::arg("coefficients").noconvert());
  m.def("gather_ids", &gather<int32_t>, nb::arg("rows").noconvert(), nb::arg("values").noconvert(),
        nb::arg("order").noconvert());
  m.def("gather_values", &gather<float>, nb::arg("rows").noconvert(), nb::arg("values").noconvert(),
        nb::arg("order").noconvert());
}

}  // namespace dragoman::bind
