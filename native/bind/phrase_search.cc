#include "core/search/phrase_search.hh"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "bind/arrays.hh"
#include "bind/links.hh"
#include "bind/modules.hh"
#include "bind/search.hh"

namespace dragoman::bind {

namespace {

using Model = std::tuple<bool, int, std::vector<int32_t>, std::vector<int32_t>>;

}  // namespace

void bind_phrase_search(nb::module_& m) {
  nb::class_<search::PhraseDecoder>(m, "PhraseDecoder", "Phrase-based search over given translation options.")
      .def(
          "__init__",
          [](search::PhraseDecoder* self, int32_t stack_size, int32_t pop_limit, double beam, int32_t option_limit,
             int32_t distortion_limit, int32_t lm_feature, int32_t words, int32_t phrases, int32_t unknown,
             int32_t distortion, const std::vector<int32_t>& scores, const std::vector<Model>& reordering,
             const std::optional<std::shared_ptr<const lm::Model>>& lm, In<int32_t> lm_words) {
            search::PhraseFeatures features{lm_feature, words, phrases, unknown, distortion, scores, {}};
            for (const auto& [hierarchical, n, backward, forward] : reordering)
              features.reordering.push_back({hierarchical, n, backward, forward});
            new (self) search::PhraseDecoder({stack_size, pop_limit, beam, option_limit, distortion_limit},
                                             std::move(features), lm ? *lm : nullptr,
                                             {lm_words.data(), lm_words.data() + lm_words.size()});
          },
          nb::kw_only(), nb::arg("stack_size"), nb::arg("pop_limit"), nb::arg("beam"), nb::arg("option_limit"),
          nb::arg("distortion_limit"), nb::arg("lm_feature"), nb::arg("words"), nb::arg("phrases"), nb::arg("unknown"),
          nb::arg("distortion"), nb::arg("scores"), nb::arg("reordering"), nb::arg("lm").none(),
          nb::arg("lm_words").noconvert())
      .def(
          "decode",
          [](const search::PhraseDecoder& d, const search::PhraseBatch& batch, names::FeatureIndex& index,
             In<double> weights, int n_threads, nb::object progress) {
            return decode_batch(batch, index, weights, n_threads, progress,
                                [&](const search::PhraseBatch& b, std::span<const double> w, int n, Control& control) {
                                  return d.decode(b, w, n, control);
                                });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("n_threads"),
          nb::arg("progress").none())
      .def(
          "kbest",
          [](const search::PhraseDecoder& d, const search::PhraseBatch& batch, names::FeatureIndex& index,
             In<double> weights, int64_t k, bool distinct, int n_threads, nb::object progress, bool derivations,
             bool steady) {
            return kbest_of(batch, index, weights, steady, n_threads, progress,
                            [&](const search::PhraseBatch& b, std::span<const double> w, int n, Control& control) {
                              return d.decode_kbest(b, w, k, distinct, n, control, derivations);
                            });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("k"), nb::arg("distinct"),
          nb::arg("n_threads"), nb::arg("progress").none(), nb::arg("derivations"), nb::arg("steady"))
      .def(
          "references",
          [](const search::PhraseDecoder& d, const search::PhraseBatch& batch, names::FeatureIndex& index,
             In<double> weights, In<int64_t> target_offsets, In<int32_t> targets, In<int64_t> link_offsets,
             In2<int32_t> links, int n_threads, nb::object progress, bool holes, int32_t max_wrong, double prior_weight,
             double hole_prior, double beam, double wrong_beam) {
            const search::ReferencePairs pairs{ragged_of(target_offsets, targets, "targets"),
                                               links_in(link_offsets, links, "links")};
            search::ReferenceSettings settings;
            settings.holes = holes;
            settings.max_wrong = max_wrong;
            settings.prior_weight = prior_weight;
            settings.hole_prior = hole_prior;
            settings.beam = beam;
            settings.wrong_beam = wrong_beam;
            return references_of(batch, index, weights, n_threads, progress,
                                 [&](const search::PhraseBatch& b, std::span<const double> w, int n, Control& control) {
                                   return d.references(b, w, pairs, settings, n, control);
                                 });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("target_offsets").noconvert(),
          nb::arg("targets").noconvert(), nb::arg("link_offsets").noconvert(), nb::arg("links").noconvert(),
          nb::arg("n_threads"), nb::arg("progress").none(), nb::kw_only(), nb::arg("holes"), nb::arg("max_wrong"),
          nb::arg("prior_weight"), nb::arg("hole_prior"), nb::arg("beam"), nb::arg("wrong_beam"))
      .def(
          "force",
          [](const search::PhraseDecoder& d, const search::PhraseBatch& batch, names::FeatureIndex& index,
             In<double> weights, In<int64_t> sentences, In<int64_t> target_offsets, In<int32_t> targets,
             In<int64_t> copy_offsets, In<int32_t> copies, int32_t width, bool may_edit, int n_threads,
             nb::object progress) {
            return forced_of(
                batch, index, weights, {sentences, target_offsets, targets, copy_offsets, copies}, progress,
                [&](const search::PhraseBatch& b, std::span<const double> w, const search::ForcedPairs& pairs,
                    Control& control) { return d.force(b, w, pairs, {width, may_edit}, n_threads, control); });
          },
          nb::arg("batch"), nb::arg("index"), nb::arg("weights").noconvert(), nb::arg("sentences").noconvert(),
          nb::arg("target_offsets").noconvert(), nb::arg("targets").noconvert(), nb::arg("copy_offsets").noconvert(),
          nb::arg("copies").noconvert(), nb::arg("width"), nb::arg("may_edit"), nb::arg("n_threads"),
          nb::arg("progress").none());
}

}  // namespace dragoman::bind
