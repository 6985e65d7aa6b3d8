#include "core/search/phrase_option_builder.hh"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"

namespace dragoman::bind {

namespace {

// Keeps the counts that templates were made from, and the builder, which holds on to words and view of others.
struct Builder {
  std::vector<int64_t> source_counts, target_counts;
  search::OptionBuilder builder;
  int n_reordering;
};

std::vector<int64_t> copy_of(const In<int64_t>& counts) { return {counts.data(), counts.data() + counts.size()}; }

nb::tuple to_tuple(search::BuiltOptions&& o, size_t n_reordering) {
  const size_t n = o.rules.size();
  return nb::make_tuple(to_numpy(std::move(o.pass_through)), to_numpy(std::move(o.first)), to_numpy(std::move(o.begin)),
                        to_numpy(std::move(o.end)), to_numpy(std::move(o.target_offsets)),
                        to_numpy(std::move(o.targets)), to_numpy(std::move(o.rules)),
                        to_numpy(std::move(o.scores), {n, size_t{grammar::kNumPhraseScores}}),
                        to_numpy(std::move(o.orientations), {n, n_reordering}), to_numpy(std::move(o.feature_offsets)),
                        to_numpy(std::move(o.feature_ids)), to_numpy(std::move(o.feature_values)));
}

}  // namespace

void bind_option_builder(nb::module_& m) {
  m.def(
      "template_kinds",
      [] {
        using Setting = std::tuple<std::string, int64_t, int64_t, int64_t>;
        std::vector<std::tuple<std::string, std::string, std::vector<Setting>, bool>> result;
        for (const templates::TemplateKind& kind : templates::template_kinds()) {
          std::vector<Setting> settings;
          for (const templates::TemplateSetting& s : kind.settings)
            settings.emplace_back(s.name, s.value, s.least, s.most);
          result.emplace_back(kind.name, kind.summary, std::move(settings), kind.for_rules_only);
        }
        return result;
      },
      "Name, summary, settings (name, default, least, most) of every template, and whether it is for rules only.");

  nb::class_<Builder>(m, "OptionBuilder", "Options of sentences from a view, with the features of templates.")
      .def(
          "__init__",
          [](Builder* self, const grammar::PhraseView& view, const names::WordTable& source,
             const names::WordTable& target, In<int64_t> source_counts, In<int64_t> target_counts,
             const std::vector<std::pair<std::string, std::vector<int64_t>>>& templates) {
            std::vector<templates::TemplateChoice> choices;
            for (const auto& [name, values] : templates) choices.push_back({name, values});
            auto f = copy_of(source_counts), e = copy_of(target_counts);
            templates::RuleSides sides{{&source, f, {}}, {&target, e, {}}, &view.tables()};
            templates::TemplateSet set(std::move(sides), choices, /*has_rules=*/false);
            new (self)
                Builder{std::move(f), std::move(e), search::OptionBuilder(view, std::move(set)), view.n_reordering()};
          },
          nb::arg("view"), nb::arg("source"), nb::arg("target"), nb::arg("source_counts").noconvert(),
          nb::arg("target_counts").noconvert(), nb::arg("templates"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>())
      .def(
          "build",
          [](const Builder& b, In<int64_t> offsets, In<int32_t> ids, names::FeatureIndex& index, bool grow,
             int n_threads, nb::object progress) {
            const Sentences sentences = ragged_of(offsets, ids, "sentences");
            auto draft =
                watch([&](Control& control) { return b.builder.draft(sentences, n_threads, control); }, progress);
            // Interning changes the index: the GIL is its lock.
            return to_tuple(search::OptionBuilder::finish(std::move(draft), index, grow),
                            static_cast<size_t>(b.n_reordering));
          },
          nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("index"), nb::arg("grow"),
          nb::arg("n_threads"), nb::arg("progress").none(),
          "pass_through, first, begin, end, targets (ragged), rules, scores, orientations, features (ragged).");
}

}  // namespace dragoman::bind
