#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/search/rule_option_builder.hh"

namespace dragoman::bind {

namespace {

// Keeps the counts that templates were made from, and the builder, which holds on to words and view of others.
struct RuleBuilder {
  std::vector<int64_t> source_counts, target_counts;
  search::RuleOptionBuilder builder;
};

std::vector<int64_t> copy_of(const In<int64_t>& counts) { return {counts.data(), counts.data() + counts.size()}; }

nb::tuple to_tuple(search::BuiltRules&& o, size_t n_scores) {
  const size_t n = o.rules.size();
  nb::object contexts = nb::none(), gaps = nb::none();
  if (o.contexts)
    contexts =
        nb::make_tuple(to_numpy(std::move(o.contexts->first_place)), to_numpy(std::move(o.contexts->symbols)),
                       to_numpy(std::move(o.contexts->positions)), to_numpy(std::move(o.contexts->first_row)),
                       to_numpy(std::move(o.contexts->feature_offsets)), to_numpy(std::move(o.contexts->feature_ids)),
                       to_numpy(std::move(o.contexts->feature_values)));
  if (o.gaps)
    gaps = nb::make_tuple(to_numpy(std::move(o.gaps->first_class)), to_numpy(std::move(o.gaps->classes)),
                          o.gaps->max_length, to_numpy(std::move(o.gaps->feature_offsets)),
                          to_numpy(std::move(o.gaps->feature_ids)), to_numpy(std::move(o.gaps->feature_values)));
  return nb::make_tuple(
      to_numpy(std::move(o.pass_through)), to_numpy(std::move(o.first_pattern)), to_numpy(std::move(o.symbol_offsets)),
      to_numpy(std::move(o.symbols)), to_numpy(std::move(o.first_rule)), to_numpy(std::move(o.lhs)),
      to_numpy(std::move(o.target_offsets)), to_numpy(std::move(o.targets)), to_numpy(std::move(o.rules)),
      to_numpy(std::move(o.scores), {n, n_scores}), to_numpy(std::move(o.feature_offsets)),
      to_numpy(std::move(o.feature_ids)), to_numpy(std::move(o.feature_values)), contexts, gaps);
}

// What a template calls nonterminals: on the source side by their label, on the target side by their number.
templates::RuleSides sides_of(const grammar::RuleView& view, const names::WordTable& source,
                              const names::WordTable& target, std::span<const int64_t> source_counts,
                              std::span<const int64_t> target_counts, const std::vector<std::string>& labels) {
  templates::RuleSides sides{{&source, source_counts, {}}, {&target, target_counts, {}}, &view.tables()};
  for (const std::string& label : labels) sides.source.nonterminals.push_back("[" + label + "]");
  for (int i = 1; i <= 255; ++i) sides.target.nonterminals.push_back("[" + std::to_string(i) + "]");
  return sides;
}

}  // namespace

void bind_rule_builder(nb::module_& m) {
  nb::class_<RuleBuilder>(m, "RuleBuilder",
                          "Rules that match in sentences, from a view, with the features of templates.")
      .def(
          "__init__",
          [](RuleBuilder* self, const grammar::RuleView& view, const names::WordTable& source,
             const names::WordTable& target, In<int64_t> source_counts, In<int64_t> target_counts,
             const std::vector<std::pair<std::string, std::vector<int64_t>>>& templates,
             const std::vector<std::string>& labels, int max_span, int max_gap) {
            std::vector<templates::TemplateChoice> choices;
            for (const auto& [name, values] : templates) choices.push_back({name, values});
            auto f = copy_of(source_counts), e = copy_of(target_counts);
            templates::TemplateSet set(sides_of(view, source, target, f, e, labels), choices);
            new (self)
                RuleBuilder{std::move(f), std::move(e),
                            search::RuleOptionBuilder(view, search::MatchLimits{max_span, max_gap}, std::move(set))};
          },
          nb::arg("view"), nb::arg("source"), nb::arg("target"), nb::arg("source_counts").noconvert(),
          nb::arg("target_counts").noconvert(), nb::arg("templates"), nb::arg("labels"), nb::arg("max_span"),
          nb::arg("max_gap"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def(
          "build",
          [](const RuleBuilder& b, In<int64_t> offsets, In<int32_t> ids, names::FeatureIndex& index, bool grow,
             int n_threads, nb::object progress) {
            const Sentences sentences = ragged_of(offsets, ids, "sentences");
            auto draft =
                watch([&](Control& control) { return b.builder.draft(sentences, n_threads, control); }, progress);
            // Interning changes the index: the GIL is its lock.
            return to_tuple(search::RuleOptionBuilder::finish(std::move(draft), index, grow),
                            static_cast<size_t>(b.builder.n_scores()));
          },
          nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("index"), nb::arg("grow"),
          nb::arg("n_threads"), nb::arg("progress").none(),
          "pass_through, first_pattern, symbols (ragged), first_rule, lhs, targets (ragged), rules, scores, features "
          "(ragged); arrays of RuleContexts and of RuleGaps, None without such templates.");
}

}  // namespace dragoman::bind
