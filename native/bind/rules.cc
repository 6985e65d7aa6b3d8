// Grammars of rules: extraction, views, tables as text.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bind/arrays.hh"
#include "bind/grammar.hh"
#include "bind/watch.hh"
#include "core/grammar/minimal_rules.hh"
#include "core/grammar/rule_extract.hh"
#include "core/grammar/rule_table_read.hh"
#include "core/grammar/rule_view.hh"

namespace dragoman::bind {

namespace {

nb::tuple to_tuple(grammar::RuleList&& list, int n_scores) {
  const size_t n = list.rules.size();
  std::vector<int64_t> rules, counts, target_offsets{0}, link_offsets{0};
  std::vector<double> masses;
  std::vector<int32_t> lhs, targets;
  std::vector<uint8_t> kinds, links;
  for (const grammar::Rule& rule : list.rules) {
    rules.push_back(rule.rule);
    counts.push_back(rule.count);
    masses.push_back(static_cast<double>(rule.mass) / static_cast<double>(grammar::kMassUnit));
    lhs.push_back(rule.lhs);
    kinds.push_back(static_cast<uint8_t>(rule.kind));
    targets.insert(targets.end(), rule.target.begin(), rule.target.end());
    target_offsets.push_back(static_cast<int64_t>(targets.size()));
    for (const grammar::PhraseLink link : rule.alignment) links.insert(links.end(), {link.source, link.target});
    link_offsets.push_back(static_cast<int64_t>(links.size()));
  }
  return nb::make_tuple(to_numpy(std::move(rules)), to_numpy(std::move(lhs)), to_numpy(std::move(kinds)),
                        to_numpy(std::move(counts)), to_numpy(std::move(masses)),
                        to_numpy(std::move(list.scores), {n, static_cast<size_t>(n_scores)}),
                        to_numpy(std::move(target_offsets)), to_numpy(std::move(targets)),
                        to_numpy(std::move(link_offsets)), to_numpy(std::move(links)));
}

void bind_extraction(nb::module_& m) {
  m.def(
      "extract_rules",
      [](In<int64_t> source_offsets, In<int32_t> source_ids, In<int64_t> target_offsets, In<int32_t> target_ids,
         In<uint8_t> folds, In<int64_t> link_offsets, In2<int32_t> links, int n_source_words, int n_target_words,
         const std::string& folder, int max_length, bool tight, int max_gaps, int max_symbols, bool adjacent,
         bool aligned, int min_source_gap, int min_target_gap, bool fractional, int64_t min_count, bool cut_composed,
         bool added, double max_added, int max_sentence_length, int64_t max_memory_bytes, int n_threads,
         nb::object progress) {
        const grammar::ParallelText text{ragged_of(source_offsets, source_ids, "source"),
                                         ragged_of(target_offsets, target_ids, "target"), span_of(folds)};
        if (links.shape(1) != 2) throw std::invalid_argument("links must have two columns");
        const align::Links rows{span_of(link_offsets),
                                {reinterpret_cast<const align::Link*>(links.data()), links.shape(0)}};
        rows.check("links");
        const grammar::RuleLimits limits{max_length, tight,          max_gaps,       max_symbols, adjacent,
                                         aligned,    min_source_gap, min_target_gap, fractional};
        grammar::ExtractOptions options{max_length, max_sentence_length, n_source_words, n_target_words,
                                        grammar::BuildOptions{folder, max_memory_bytes, n_threads}};
        options.build.cut = {min_count, cut_composed};
        const auto stats = watch(
            [&](Control& control) {
              return grammar::extract_rules(text, rows, limits, {added, max_added}, options, control);
            },
            progress);
        nb::dict result = to_dict(stats);
        result["n_added"] = stats.build.n_added;
        result["n_added_too_long"] = stats.n_added_too_long;
        result["n_left_out"] = stats.n_left_out;
        return result;
      },
      nb::arg("source_offsets").noconvert(), nb::arg("source_ids").noconvert(), nb::arg("target_offsets").noconvert(),
      nb::arg("target_ids").noconvert(), nb::arg("folds").noconvert(), nb::arg("link_offsets").noconvert(),
      nb::arg("links").noconvert(), nb::arg("n_source_words"), nb::arg("n_target_words"), nb::arg("folder"),
      nb::arg("max_length"), nb::arg("tight"), nb::arg("max_gaps"), nb::arg("max_symbols"), nb::arg("adjacent"),
      nb::arg("aligned"), nb::arg("min_source_gap"), nb::arg("min_target_gap"), nb::arg("fractional"),
      nb::arg("min_count"), nb::arg("cut_composed"), nb::arg("added"), nb::arg("max_added"),
      nb::arg("max_sentence_length"), nb::arg("max_memory_bytes"), nb::arg("n_threads"),
      nb::arg("progress") = nb::none());
}

void bind_minimal(nb::module_& m) {
  m.def(
      "minimal_rules",
      [](const MappedGrammar& grammar, In<int64_t> source_offsets, In<int32_t> source_ids, In<int64_t> target_offsets,
         In<int32_t> target_ids, In<int64_t> link_offsets, In2<int32_t> links, int n_threads) {
        const auto source = ragged_of(source_offsets, source_ids, "source");
        const auto target = ragged_of(target_offsets, target_ids, "target");
        if (links.shape(1) != 2) throw std::invalid_argument("links must have two columns");
        const align::Links rows{span_of(link_offsets),
                                {reinterpret_cast<const align::Link*>(links.data()), links.shape(0)}};
        rows.check("links");
        if (source.size() != rows.size() || target.size() != rows.size())
          throw std::invalid_argument("both sides and the links must have as many rows");
        return to_numpy(watch([&](Control& control) {
          return grammar::find_minimal_rules(grammar.tables, source, target, rows, n_threads, control);
        }));
      },
      nb::arg("grammar"), nb::arg("source_offsets").noconvert(), nb::arg("source_ids").noconvert(),
      nb::arg("target_offsets").noconvert(), nb::arg("target_ids").noconvert(), nb::arg("link_offsets").noconvert(),
      nb::arg("links").noconvert(), nb::arg("n_threads"), "By node of every minimal tree; -1: not in the grammar.");
}

void bind_view(nb::module_& m) {
  nb::class_<grammar::RuleView>(m, "RuleView", "A scored selection of a grammar of rules.")
      .def("n_scores", &grammar::RuleView::n_scores)
      .def("knows_source", &grammar::RuleView::knows_source, nb::arg("word"))
      .def("knows_target", &grammar::RuleView::knows_target, nb::arg("word"))
      .def(
          "lookup",
          [](const grammar::RuleView& view, int64_t source) {
            grammar::RuleList list;
            released([&] { view.lookup(source, list); });
            return to_tuple(std::move(list), view.n_scores());
          },
          nb::arg("source"), "Rules, labels, kinds, counts, masses, scores, targets (ragged), links (ragged).")
      .def(
          "rule",
          [](const grammar::RuleView& view, int64_t rule) {
            grammar::RuleList list;
            view.rule(rule, list);
            return to_tuple(std::move(list), view.n_scores());
          },
          nb::arg("rule"));
  m.def(
      "hiero_view",
      [](const MappedGrammar& grammar, int excluded_fold, int max_targets, int64_t min_count, int rank_column,
         bool added) {
        return std::make_unique<grammar::RuleView>(
            grammar.tables, grammar::RuleViewOptions{excluded_fold, max_targets, min_count, rank_column, added});
      },
      nb::arg("grammar"), nb::arg("excluded_fold"), nb::arg("max_targets"), nb::arg("min_count"),
      nb::arg("rank_column"), nb::arg("added"), nb::keep_alive<0, 1>());
}

void bind_tables(nb::module_& m) {
  nb::class_<grammar::RuleTable> rules(m, "RuleTable", "The entries of a table of rules.");
  def_write(rules);
  rules.def(nb::init<std::string>(), nb::arg("goal"))
      .def("__len__", &grammar::RuleTable::size)
      .def("labels", &grammar::RuleTable::labels)
      .def("score_names", &grammar::RuleTable::score_names)
      .def("glued", &grammar::RuleTable::glued)
      .def(
          "add_hiero",
          [](grammar::RuleTable& table, const nb::bytes& block, int64_t first_line, names::WordTable& source,
             names::WordTable& target) { table.add_hiero({block.c_str(), block.size()}, first_line, source, target); },
          nb::arg("block"), nb::arg("first_line"), nb::arg("source"), nb::arg("target"))
      .def(
          "add_moses",
          [](grammar::RuleTable& table, const nb::bytes& block, int64_t first_line, names::WordTable& source,
             names::WordTable& target) { table.add_moses({block.c_str(), block.size()}, first_line, source, target); },
          nb::arg("block"), nb::arg("first_line"), nb::arg("source"), nb::arg("target"))
      .def(
          "place",
          [](const grammar::RuleTable& table, const MappedGrammar& grammar) {
            auto scores = released([&] { return table.place(grammar.tables); });
            return to_numpy(std::move(scores));
          },
          nb::arg("grammar"), "Scores of every rule.");
  m.def(
      "format_rules",
      [](const grammar::RuleView& view, const std::vector<std::string>& labels, const std::vector<std::string>& scores,
         const names::WordTable& source, const names::WordTable& target, int64_t begin, int64_t end, bool bare) {
        std::string text;
        released([&] { grammar::format_rules(view, {labels, scores}, source, target, begin, end, bare, text); });
        return nb::bytes(text.data(), text.size());
      },
      nb::arg("view"), nb::arg("labels"), nb::arg("scores"), nb::arg("source"), nb::arg("target"), nb::arg("begin"),
      nb::arg("end"), nb::arg("bare"));
}

}  // namespace

void bind_rules(nb::module_& m) {
  bind_extraction(m);
  bind_minimal(m);
  bind_view(m);
  bind_tables(m);
}

}  // namespace dragoman::bind
