#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "bind/arrays.hh"
#include "bind/links.hh"
#include "bind/modules.hh"
#include "bind/template_sets.hh"
#include "bind/watch.hh"
#include "core/search/phrase_option_builder.hh"
#include "core/search/rule_option_builder.hh"

namespace dragoman::bind {

namespace {

// Keeps what templates were made from, and the builder, which holds on to words and view of others.
template <typename Builder>
struct Bound {
  SideWords words;
  Builder builder;
};

// Finished once.
template <typename Builder>
struct BoundDraft {
  std::optional<typename Builder::Draft> draft;
  std::vector<int64_t> places;
};

const std::vector<int32_t>& pass_through_of(const search::OptionBuilder::Draft& draft) {
  return draft.options.pass_through.values;
}
const std::vector<int32_t>& pass_through_of(const search::RuleOptionBuilder::Draft& draft) {
  return draft.rules.pass_through;
}

template <typename Builder>
void def_build(nb::module_& m, nb::class_<Bound<Builder>>& cls, const char* draft_name) {
  nb::class_<BoundDraft<Builder>>(m, draft_name, "A batch that lacks target ids of words that pass through.")
      .def_prop_ro(
          "places",
          [](nb::handle_t<BoundDraft<Builder>> self) {
            const auto& places = nb::cast<const BoundDraft<Builder>&>(self).places;
            return nb::ndarray<nb::numpy, const int64_t>(places.data(), {places.size()}, self);
          },
          "Which source words pass through, counted over all sentences.")
      .def(
          "finish",
          [](BoundDraft<Builder>& self, In<int32_t> ids, std::vector<std::string> own_words,
             const names::FeatureIndex& index, bool keep_new, const templates::Blocks* blocks) {
            if (!self.draft) throw std::invalid_argument("the batch is finished already");
            search::PassedWords passed{{ids.data(), ids.data() + ids.size()}, std::move(own_words)};
            auto draft = std::move(*self.draft);
            self.draft.reset();
            // Others may change the index: the GIL is its lock.
            return Builder::finish(std::move(draft), passed, index, keep_new, blocks);
          },
          nb::arg("ids").noconvert(), nb::arg("own_words"), nb::arg("index"), nb::arg("keep_new"),
          nb::arg("blocks").none(),
          "The batch, with target ids for the places and the words of those beyond the vocabulary.");
  cls.def(
      "draft",
      [](const Bound<Builder>& b, In<int64_t> offsets, In<int32_t> ids, int n_threads, nb::object progress) {
        const Sentences sentences = ragged_of(offsets, ids, "sentences");
        auto draft = watch([&](Control& control) { return b.builder.draft(sentences, n_threads, control); }, progress);
        auto places = search::places_to_pass(pass_through_of(draft));
        return BoundDraft<Builder>{std::move(draft), std::move(places)};
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("n_threads"), nb::arg("progress").none());
}

}  // namespace

void bind_option_builder(nb::module_& m) {
  m.def(
      "template_kinds",
      [] {
        using Setting = std::tuple<std::string, int64_t, int64_t, int64_t, std::vector<std::string>>;
        std::vector<std::tuple<std::string, std::string, std::vector<Setting>, bool, bool>> result;
        for (const templates::TemplateKind& kind : templates::template_kinds()) {
          std::vector<Setting> settings;
          for (const templates::TemplateSetting& s : kind.settings)
            settings.emplace_back(s.name, s.value, s.least, s.most, s.choices);
          result.emplace_back(kind.name, kind.summary, std::move(settings), kind.for_rules_only, kind.for_phrases_only);
        }
        return result;
      },
      "Name, summary, settings (name, default, least, most, names of choices) of every template, whether it is for "
      "rules only, and for "
      "phrases only.");

  nb::class_<templates::Blocks>(m, "Blocks", "Sparse vectors that stand in search for the features they cover.")
      .def(
          "__init__",
          [](templates::Blocks* self,
             const std::vector<std::tuple<int32_t, const names::FeatureTable*, In<double>>>& blocks, bool rest) {
            std::vector<templates::Blocks::Vector> vectors;
            for (const auto& [feature, covered, coefficients] : blocks)
              vectors.push_back({feature, *covered, copy_of(coefficients)});
            new (self) templates::Blocks(std::move(vectors), rest);
          },
          nb::arg("blocks"), nb::arg("rest"),
          "Of each block: its feature in the index, what it covers, the coefficients; whether other features are kept.")
      .def("__len__", &templates::Blocks::size)
      .def("covers", &templates::Blocks::covers, nb::arg("name"));

  using Phrases = Bound<search::OptionBuilder>;
  nb::class_<Phrases> phrases(m, "OptionBuilder", "Options of sentences from a view, with the features of templates.");
  phrases.def(
      "__init__",
      [](Phrases* self, const grammar::PhraseView& view, const names::WordTable& source, const names::WordTable& target,
         In<int64_t> source_counts, In<int64_t> target_counts, const Templates& templates, In2<int32_t> source_classes,
         In2<int32_t> target_classes, std::vector<int32_t> class_sizes) {
        auto words =
            SideWords::of(source_counts, target_counts, source_classes, target_classes, std::move(class_sizes));
        templates::TemplateSet set(words.sides(view.tables(), source, target, {}), choices_of(templates),
                                   /*has_rules=*/false);
        new (self) Phrases{std::move(words), search::OptionBuilder(view, std::move(set))};
      },
      nb::arg("view"), nb::arg("source"), nb::arg("target"), nb::arg("source_counts").noconvert(),
      nb::arg("target_counts").noconvert(), nb::arg("templates"), nb::kw_only(), nb::arg("source_classes").noconvert(),
      nb::arg("target_classes").noconvert(), nb::arg("class_sizes"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
      nb::keep_alive<1, 4>());
  def_build(m, phrases, "PhraseDraft");

  using Rules = Bound<search::RuleOptionBuilder>;
  nb::class_<Rules> rules(m, "RuleBuilder",
                          "Rules that match in sentences, from a view, with the features of templates.");
  rules.def(
      "__init__",
      [](Rules* self, const grammar::RuleView& view, const names::WordTable& source, const names::WordTable& target,
         In<int64_t> source_counts, In<int64_t> target_counts, const Templates& templates,
         const std::vector<std::string>& labels, const std::vector<size_t>& score_columns, int max_span, int max_gap) {
        SideWords words{copy_of(source_counts), copy_of(target_counts)};
        templates::TemplateSet set(words.sides(view.tables(), source, target, labels), choices_of(templates));
        new (self) Rules{std::move(words), search::RuleOptionBuilder(view, search::MatchLimits{max_span, max_gap},
                                                                     std::move(set), score_columns, labels)};
      },
      nb::arg("view"), nb::arg("source"), nb::arg("target"), nb::arg("source_counts").noconvert(),
      nb::arg("target_counts").noconvert(), nb::arg("templates"), nb::kw_only(), nb::arg("labels"),
      nb::arg("score_columns"), nb::arg("max_span"), nb::arg("max_gap"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
      nb::keep_alive<1, 4>());
  def_build(m, rules, "RuleDraft");
  rules.def(
      "draft_pairs",
      [](const Rules& b, In<int64_t> offsets, In<int32_t> ids, In<int64_t> target_offsets, In<int32_t> target_ids,
         In<int64_t> link_offsets, In2<int32_t> links, bool wide, int n_threads, nb::object progress) {
        const Sentences sentences = ragged_of(offsets, ids, "sentences");
        const Sentences targets = ragged_of(target_offsets, target_ids, "targets");
        const align::Links all_links = links_in(link_offsets, links, "links");
        if (sentences.size() != targets.size() || sentences.size() != all_links.size())
          throw std::invalid_argument("every sentence needs a translation and its links");
        const search::RuleOptionBuilder::AlignedPairs pairs{targets, all_links, wide};
        auto draft =
            watch([&](Control& control) { return b.builder.draft(sentences, n_threads, control, &pairs); }, progress);
        auto places = search::places_to_pass(pass_through_of(draft));
        return BoundDraft<search::RuleOptionBuilder>{std::move(draft), std::move(places)};
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("target_offsets").noconvert(),
      nb::arg("target_ids").noconvert(), nb::arg("link_offsets").noconvert(), nb::arg("links").noconvert(),
      nb::arg("wide"), nb::arg("n_threads"), nb::arg("progress").none());
  rules.def(
      "draft_minimal",
      [](const Rules& b, In<int64_t> offsets, In<int32_t> ids, In<int64_t> target_offsets, In<int32_t> target_ids,
         In<int64_t> link_offsets, In2<int32_t> links, int n_threads) {
        const Sentences sentences = ragged_of(offsets, ids, "sentences");
        const Sentences targets = ragged_of(target_offsets, target_ids, "targets");
        const align::Links pairs = links_in(link_offsets, links, "links");
        if (sentences.size() != targets.size() || sentences.size() != pairs.size())
          throw std::invalid_argument("every sentence needs a translation and its links");
        auto draft = watch(
            [&](Control& control) { return b.builder.draft_minimal(sentences, targets, pairs, n_threads, control); });
        auto places = search::places_to_pass(pass_through_of(draft));
        return BoundDraft<search::RuleOptionBuilder>{std::move(draft), std::move(places)};
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("target_offsets").noconvert(),
      nb::arg("target_ids").noconvert(), nb::arg("link_offsets").noconvert(), nb::arg("links").noconvert(),
      nb::arg("n_threads"));
}

}  // namespace dragoman::bind
