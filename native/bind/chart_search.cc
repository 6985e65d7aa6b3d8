#include "core/search/chart_search.hh"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bind/arrays.hh"
#include "bind/links.hh"
#include "bind/modules.hh"
#include "bind/search.hh"

namespace dragoman::bind {

void bind_chart_search(nb::module_& m) {
  nb::class_<search::ChartDecoder>(m, "ChartDecoder", "Hierarchical search over given rules.")
      .def(
          "__init__",
          [](search::ChartDecoder* self, int32_t pop_limit, double beam, int32_t rule_limit, int32_t max_span,
             int32_t lm_feature, int32_t lm_oov, int32_t words, int32_t rules, int32_t glue, int32_t unknown,
             const std::vector<int32_t>& arities, const std::vector<int32_t>& scores,
             const std::optional<std::shared_ptr<const lm::Model>>& lm, In<int32_t> lm_words) {
            new (self) search::ChartDecoder({pop_limit, beam, rule_limit, max_span},
                                            {lm_feature, lm_oov, words, rules, glue, unknown, arities, scores},
                                            lm ? *lm : nullptr, {lm_words.data(), lm_words.data() + lm_words.size()});
          },
          nb::kw_only(), nb::arg("pop_limit"), nb::arg("beam"), nb::arg("rule_limit"), nb::arg("max_span"),
          nb::arg("lm_feature"), nb::arg("lm_oov"), nb::arg("words"), nb::arg("rules"), nb::arg("glue"),
          nb::arg("unknown"), nb::arg("arities"), nb::arg("scores"), nb::arg("lm").none(),
          nb::arg("lm_words").noconvert())
      .def(
          "decode",
          [](const search::ChartDecoder& d, const search::RuleBatch& batch, names::FeatureIndex& index,
             In<double> weights, int n_threads, nb::object progress, int32_t goal, const std::vector<int32_t>& glue,
             const std::vector<int32_t>& unknown) {
            return decode_batch(batch, index, weights, n_threads, progress,
                                [&](const search::RuleBatch& b, std::span<const double> w, int n, Control& control) {
                                  return d.decode(b, {goal, glue, unknown}, w, n, control);
                                });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("n_threads"),
          nb::arg("progress").none(), nb::kw_only(), nb::arg("goal"), nb::arg("glue"), nb::arg("unknown"))
      .def(
          "kbest",
          [](const search::ChartDecoder& d, const search::RuleBatch& batch, names::FeatureIndex& index,
             In<double> weights, int64_t k, bool distinct, int n_threads, nb::object progress, bool derivations,
             bool steady, int32_t goal, const std::vector<int32_t>& glue, const std::vector<int32_t>& unknown) {
            return kbest_of(batch, index, weights, steady, n_threads, progress,
                            [&](const search::RuleBatch& b, std::span<const double> w, int n, Control& control) {
                              return d.decode_kbest(b, {goal, glue, unknown}, w, k, distinct, n, control, derivations);
                            });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("k"), nb::arg("distinct"),
          nb::arg("n_threads"), nb::arg("progress").none(), nb::arg("derivations"), nb::arg("steady"), nb::kw_only(),
          nb::arg("goal"), nb::arg("glue"), nb::arg("unknown"))
      .def(
          "references",
          [](const search::ChartDecoder& d, const search::RuleBatch& batch, const search::RuleBatch* minimal,
             names::FeatureIndex& index, In<double> weights, In<int64_t> target_offsets, In<int32_t> targets,
             In<int64_t> link_offsets, In2<int32_t> links, int n_threads, nb::object progress, bool tight, bool holes,
             bool wide, int32_t max_wrong, int32_t prior_column, double prior_weight, double hole_prior, double beam,
             double wrong_beam, int32_t goal, const std::vector<int32_t>& glue, const std::vector<int32_t>& unknown) {
            const search::ReferencePairs pairs{ragged_of(target_offsets, targets, "targets"),
                                               links_in(link_offsets, links, "links")};
            const search::ReferenceSettings settings{tight,        holes,      wide, max_wrong, prior_column,
                                                     prior_weight, hole_prior, beam, wrong_beam};
            if (minimal != nullptr && minimal->new_features)
              throw std::invalid_argument("the features of minimal rules must be in the index");
            return references_of(batch, index, weights, n_threads, progress,
                                 [&](const search::RuleBatch& b, std::span<const double> w, int n, Control& control) {
                                   return d.references(b, minimal, {goal, glue, unknown}, w, pairs, settings, n,
                                                       control);
                                 });
          },
          nb::arg("batch"), nb::arg("minimal").none(), nb::arg("index"), nb::arg("weights").noconvert(),
          nb::arg("target_offsets").noconvert(), nb::arg("targets").noconvert(), nb::arg("link_offsets").noconvert(),
          nb::arg("links").noconvert(), nb::arg("n_threads"), nb::arg("progress").none(), nb::kw_only(),
          nb::arg("tight"), nb::arg("holes"), nb::arg("wide"), nb::arg("max_wrong"), nb::arg("prior_column"),
          nb::arg("prior_weight"), nb::arg("hole_prior"), nb::arg("beam"), nb::arg("wrong_beam"), nb::arg("goal"),
          nb::arg("glue"), nb::arg("unknown"))
      .def(
          "force",
          [](const search::ChartDecoder& d, const search::RuleBatch& batch, names::FeatureIndex& index,
             In<double> weights, In<int64_t> sentences, In<int64_t> target_offsets, In<int32_t> targets,
             In<int64_t> copy_offsets, In<int32_t> copies, int32_t width, bool may_edit, int n_threads,
             nb::object progress, int32_t goal, const std::vector<int32_t>& glue, const std::vector<int32_t>& unknown) {
            return forced_of(
                batch, index, weights, {sentences, target_offsets, targets, copy_offsets, copies}, progress,
                [&](const search::RuleBatch& b, std::span<const double> w, const search::ForcedPairs& pairs,
                    Control& control) {
                  return d.force(b, {goal, glue, unknown}, w, pairs, {width, may_edit}, n_threads, control);
                });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("sentences").noconvert(),
          nb::arg("target_offsets").noconvert(), nb::arg("targets").noconvert(), nb::arg("copy_offsets").noconvert(),
          nb::arg("copies").noconvert(), nb::arg("width"), nb::arg("may_edit"), nb::arg("n_threads"),
          nb::arg("progress").none(), nb::kw_only(), nb::arg("goal"), nb::arg("glue"), nb::arg("unknown"));
}

}  // namespace dragoman::bind
