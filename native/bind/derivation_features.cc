#include "core/search/derivation_features.hh"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hh"
#include "bind/grammar.hh"
#include "bind/modules.hh"
#include "bind/template_sets.hh"
#include "bind/watch.hh"
#include "core/search/derivation_tokens.hh"

namespace dragoman::bind {

namespace {

// Keeps the arrays that a batch looks at.
struct BoundBatch {
  In<int64_t> sentence_offsets, first_candidate, first_application, rules, rows;
  In<int32_t> words, begins, ends, applications;
  In<int16_t> folds;

  search::DerivationBatch batch() const {
    return {{span_of(sentence_offsets), span_of(words)},
            span_of(folds),
            span_of(first_candidate),
            span_of(first_application),
            span_of(rules),
            span_of(begins),
            span_of(ends),
            {span_of(rows), span_of(applications)}};
  }
};

// Keeps what templates were made from.
struct Bound {
  SideWords words;
  search::DerivationFeatures features;

  search::DerivationFeatures::Interned interned(const search::DerivationBatch& batch, names::FeatureIndex& index,
                                                bool grow, const templates::Blocks* blocks, int n_threads) const {
    auto draft = watch([&](Control& control) { return features.draft(batch, n_threads, control); });
    // Interning changes the index: the GIL is its lock.
    return search::DerivationFeatures::intern(std::move(draft), index, grow, blocks);
  }
};

}  // namespace

void bind_derivation_features(nb::module_& m) {
  nb::class_<BoundBatch>(m, "DerivationBatch", "Candidates of some sentences, given by their derivations.")
      .def(
          "__init__",
          [](BoundBatch* self, In<int64_t> sentence_offsets, In<int32_t> words, In<int16_t> folds,
             In<int64_t> first_candidate, In<int64_t> first_application, In<int64_t> rules, In<int32_t> begins,
             In<int32_t> ends, In<int64_t> rows, In<int32_t> applications) {
            ragged_of(sentence_offsets, words, "sentences");
            new (self) BoundBatch{sentence_offsets,
                                  first_candidate,
                                  first_application,
                                  rules,
                                  rows,
                                  words,
                                  begins,
                                  ends,
                                  applications,
                                  folds};
          },
          nb::kw_only(), nb::arg("sentence_offsets").noconvert(), nb::arg("words").noconvert(),
          nb::arg("folds").noconvert(), nb::arg("first_candidate").noconvert(),
          nb::arg("first_application").noconvert(), nb::arg("rules").noconvert(), nb::arg("begins").noconvert(),
          nb::arg("ends").noconvert(), nb::arg("rows").noconvert(), nb::arg("applications").noconvert());

  nb::class_<Bound>(m, "DerivationFeatures", "Features of candidates, from their derivations.")
      .def(
          "__init__",
          [](Bound* self, const MappedGrammar& grammar, const names::WordTable& source, const names::WordTable& target,
             In<int64_t> source_counts, In<int64_t> target_counts, const Templates& templates,
             const std::vector<std::string>& labels, In2<int32_t> source_classes, In2<int32_t> target_classes,
             std::vector<int32_t> class_sizes) {
            auto words =
                SideWords::of(source_counts, target_counts, source_classes, target_classes, std::move(class_sizes));
            templates::TemplateSet set(words.sides(grammar.tables, source, target, labels), choices_of(templates),
                                       grammar.tables.is_rules);
            new (self) Bound{std::move(words), search::DerivationFeatures(grammar.tables, std::move(set))};
          },
          nb::arg("grammar"), nb::arg("source"), nb::arg("target"), nb::arg("source_counts").noconvert(),
          nb::arg("target_counts").noconvert(), nb::arg("templates"), nb::arg("labels"), nb::kw_only(),
          nb::arg("source_classes").noconvert(), nb::arg("target_classes").noconvert(), nb::arg("class_sizes"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def(
          "intern",
          [](const Bound& b, const BoundBatch& batch, names::FeatureIndex& index, const templates::Blocks* blocks,
             int n_threads) { b.interned(batch.batch(), index, /*grow=*/true, blocks, n_threads); },
          nb::arg("batch"), nb::arg("index"), nb::arg("blocks").none(), nb::arg("n_threads"),
          "Adds the names of all features to the index.")
      .def(
          "features",
          [](const Bound& b, const BoundBatch& bound, In<int32_t> dense_ids, In2<float> dense,
             names::FeatureIndex& index, bool grow, const templates::Blocks* blocks, int n_threads) {
            const search::DerivationBatch batch = bound.batch();
            if (dense.shape(0) != bound.rows.size() - 1 || dense.shape(1) != dense_ids.size())
              throw std::invalid_argument("every candidate needs a value for each dense feature");
            const auto interned = b.interned(batch, index, grow, blocks, n_threads);
            const search::DenseFeatures known{span_of(dense_ids), {dense.data(), dense.size()}};
            auto found =
                watch([&](Control& control) { return b.features.sum(batch, interned, known, n_threads, control); });
            return nb::make_tuple(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.ids)),
                                  to_numpy(std::move(found.values)));
          },
          nb::arg("batch"), nb::arg("dense_ids").noconvert(), nb::arg("dense").noconvert(), nb::arg("index"),
          nb::arg("grow"), nb::arg("blocks").none(), nb::arg("n_threads"),
          "Rows, ids and values: features of templates and the dense ones.")
      .def(
          "steps",
          [](const Bound& b, const BoundBatch& bound, names::FeatureIndex& index, bool grow,
             const templates::Blocks* blocks) {
            const search::DerivationBatch batch = bound.batch();
            auto found = b.features.steps(batch, b.interned(batch, index, grow, blocks, 1));
            return nb::make_tuple(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.ids)),
                                  to_numpy(std::move(found.values)));
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("grow"), nb::arg("blocks").none(),
          "Rows, ids and values of every application: features of templates.")
      .def(
          "tokens",
          [](const Bound& b, const BoundBatch& batch, In<int32_t> passed, int n_threads) {
            auto found = watch([&](Control& control) {
              return search::derivation_tokens(b.features.tables(), batch.batch(), span_of(passed), n_threads, control);
            });
            return nb::make_tuple(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.values)));
          },
          nb::arg("batch"), nb::arg("passed").noconvert(), nb::arg("n_threads"),
          "Rows and tokens; `passed` has the target id of every source word that passes through.");
}

}  // namespace dragoman::bind
