#include "bind/grammar.hh"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/grammar/phrase_extract.hh"
#include "core/grammar/phrase_view.hh"

namespace dragoman::bind {

namespace {

static_assert(sizeof(grammar::Event) == sizeof(uint64_t) && sizeof(grammar::FoldCount) == sizeof(uint64_t));
static_assert(sizeof(grammar::PhraseLink) == 2 && sizeof(align::Link) == 2 * sizeof(int32_t));

// Takes arrays by name and keeps them.
class Arrays {
 public:
  Arrays(const nb::dict& arrays, MappedGrammar& owner) : arrays_(arrays), owner_(owner) {}

  template <typename Stored, typename T = Stored>
  std::span<const T> get(const std::string& name) {
    const nb::object array = arrays_[name.c_str()];
    const auto typed = nb::cast<In<Stored>>(array, false);
    owner_.arrays.push_back(array);
    return {reinterpret_cast<const T*>(typed.data()), typed.size() * sizeof(Stored) / sizeof(T)};
  }
  template <typename Stored, typename T = Stored>
  grammar::CheckedRows<T> rows(const std::string& offsets, const std::string& values) {
    return {get<int64_t>(offsets), get<Stored, T>(values)};
  }

 private:
  const nb::dict& arrays_;
  MappedGrammar& owner_;
};

MappedGrammar map_grammar(const nb::dict& named, int n_given_reordering, int n_given_scores, bool is_rules,
                          int64_t min_count, bool cut_composed, bool has_added) {
  MappedGrammar grammar;
  Arrays arrays(named, grammar);
  grammar::GrammarTables& t = grammar.tables;
  t.sources = arrays.rows<int32_t>("sources.offsets", "sources.symbols");
  t.targets = arrays.rows<int32_t>("targets.offsets", "targets.symbols");
  t.pair_targets = arrays.rows<int32_t>("sources.pairs", "pairs.target");
  t.pair_events = arrays.rows<uint64_t, grammar::Event>("pairs.events", "events");
  t.source_counts = arrays.rows<uint64_t, grammar::FoldCount>("source_counts.offsets", "source_counts.values");
  t.target_counts = arrays.rows<uint64_t, grammar::FoldCount>("target_counts.offsets", "target_counts.values");
  t.alignments = arrays.rows<uint8_t, grammar::PhraseLink>("alignments.offsets", "alignments.links");
  t.trie_symbols = arrays.get<int32_t>("trie.symbols");
  t.trie_children = arrays.get<int64_t>("trie.children");
  t.trie_source = arrays.get<int32_t>("trie.source");
  t.word_pairs = arrays.rows<uint64_t>("word_pairs.rows", "word_pairs.keys");
  t.word_pair_counts = arrays.rows<uint64_t, grammar::FoldCount>("word_pairs.offsets", "word_pairs.values");
  t.source_words = arrays.rows<uint64_t, grammar::FoldCount>("source_words.offsets", "source_words.values");
  t.target_words = arrays.rows<uint64_t, grammar::FoldCount>("target_words.offsets", "target_words.values");
  t.given_scores = arrays.get<float>("given.scores");
  t.given_reordering = arrays.get<float>("given.reordering");
  t.n_given_reordering = n_given_reordering;
  t.n_given_scores = n_given_scores;
  t.is_rules = is_rules;
  t.cut = {min_count, cut_composed};
  t.has_added = has_added;
  t.event_mass = arrays.get<uint64_t>("events.mass");
  t.check();
  return grammar;
}

template <typename Row>
auto ragged_out(const grammar::OptionList& list, Row&& row) {
  using T = std::remove_const_t<typename std::invoke_result_t<Row, const grammar::TranslationOption&>::element_type>;
  std::vector<int64_t> offsets{0};
  std::vector<T> values;
  for (const grammar::TranslationOption& option : list.options) {
    const auto span = row(option);
    values.insert(values.end(), span.begin(), span.end());
    offsets.push_back(static_cast<int64_t>(values.size()));
  }
  return std::pair{std::move(offsets), std::move(values)};
}

nb::tuple to_tuple(grammar::OptionList&& list) {
  const size_t n = list.options.size(), m = static_cast<size_t>(list.n_reordering);
  std::vector<int32_t> spans;
  std::vector<int64_t> pairs, counts;
  std::vector<float> scores;
  for (const grammar::TranslationOption& option : list.options) {
    spans.insert(spans.end(), {option.begin, option.end});
    pairs.push_back(option.pair);
    counts.push_back(option.count);
    scores.insert(scores.end(), option.scores.begin(), option.scores.end());
  }
  auto [target_offsets, targets] = ragged_out(list, [](const grammar::TranslationOption& o) { return o.target; });
  auto [link_offsets, links] = ragged_out(list, [](const grammar::TranslationOption& o) {
    return std::span(reinterpret_cast<const uint8_t*>(o.alignment.data()), 2 * o.alignment.size());
  });
  return nb::make_tuple(to_numpy(std::move(spans), {n, 2}), to_numpy(std::move(pairs)), to_numpy(std::move(counts)),
                        to_numpy(std::move(scores), {n, size_t{grammar::kNumPhraseScores}}),
                        to_numpy(std::move(list.reordering), {n, m}), to_numpy(std::move(target_offsets)),
                        to_numpy(std::move(targets)), to_numpy(std::move(link_offsets)), to_numpy(std::move(links)));
}

void bind_extraction(nb::module_& m) {
  m.def(
      "extract_phrases",
      [](In<int64_t> source_offsets, In<int32_t> source_ids, In<int64_t> target_offsets, In<int32_t> target_ids,
         In<uint8_t> folds, In<int64_t> link_offsets, In2<int32_t> links, int n_source_words, int n_target_words,
         const std::string& folder, int max_length, int max_sentence_length, int64_t max_memory_bytes, int n_threads,
         nb::object progress) {
        const grammar::ParallelText text{ragged_of(source_offsets, source_ids, "source"),
                                         ragged_of(target_offsets, target_ids, "target"), span_of(folds)};
        if (links.shape(1) != 2) throw std::invalid_argument("links must have two columns");
        const align::Links rows{span_of(link_offsets),
                                {reinterpret_cast<const align::Link*>(links.data()), links.shape(0)}};
        rows.check("links");
        const grammar::ExtractOptions options{max_length, max_sentence_length, n_source_words, n_target_words,
                                              grammar::BuildOptions{folder, max_memory_bytes, n_threads}};
        return to_dict(
            watch([&](Control& control) { return grammar::extract_phrases(text, rows, options, control); }, progress));
      },
      nb::arg("source_offsets").noconvert(), nb::arg("source_ids").noconvert(), nb::arg("target_offsets").noconvert(),
      nb::arg("target_ids").noconvert(), nb::arg("folds").noconvert(), nb::arg("link_offsets").noconvert(),
      nb::arg("links").noconvert(), nb::arg("n_source_words"), nb::arg("n_target_words"), nb::arg("folder"),
      nb::arg("max_length"), nb::arg("max_sentence_length"), nb::arg("max_memory_bytes"), nb::arg("n_threads"),
      nb::arg("progress") = nb::none());
}

void bind_tables(nb::module_& m) {
  nb::class_<MappedGrammar>(m, "GrammarTables", "The mapped tables of a grammar.")
      .def("n_pairs", [](const MappedGrammar& g) { return g.tables.n_pairs(); })
      .def("n_sources", [](const MappedGrammar& g) { return g.tables.n_sources(); })
      .def(
          "find_source",
          [](const MappedGrammar& g, In<int32_t> symbols) { return g.tables.find_source(span_of(symbols)); },
          nb::arg("symbols").noconvert())
      .def(
          "find_pair",
          [](const MappedGrammar& g, In<int32_t> source, In<int32_t> target) {
            return g.tables.find_pair(span_of(source), span_of(target));
          },
          nb::arg("source").noconvert(), nb::arg("target").noconvert())
      .def(
          "sides",
          [](const MappedGrammar& g, int64_t pair) {
            const auto copy = [](std::span<const grammar::Symbol> s) {
              return to_numpy(std::vector<grammar::Symbol>(s.begin(), s.end()));
            };
            return nb::make_tuple(copy(g.tables.sources[g.tables.source_of_pair(pair)]),
                                  copy(g.tables.targets[g.tables.target_of_pair(pair)]));
          },
          nb::arg("pair"))
      .def(
          "word_counts",
          [](const MappedGrammar& g) {
            return nb::make_tuple(to_numpy(g.tables.word_counts(g.tables.source_words)),
                                  to_numpy(g.tables.word_counts(g.tables.target_words)));
          },
          "Of source and target words by id, in all folds; empty for a grammar with given scores.");
  m.def("map_grammar", &map_grammar, nb::arg("arrays"), nb::arg("n_given_reordering"), nb::arg("n_given_scores"),
        nb::arg("is_rules"), nb::arg("min_count") = 1, nb::arg("cut_composed") = false, nb::arg("has_added") = false,
        "n_given_scores is -1 where scores come from counts.");
}

void bind_view(nb::module_& m) {
  nb::enum_<grammar::PhraseSmoothing>(m, "PhraseSmoothing")
      .value("NONE", grammar::PhraseSmoothing::kNone)
      .value("KNESER_NEY", grammar::PhraseSmoothing::kKneserNey);
  nb::enum_<grammar::ReorderingModel>(m, "ReorderingModel")
      .value("WORD", grammar::ReorderingModel::kWord)
      .value("PHRASE", grammar::ReorderingModel::kPhrase)
      .value("HIERARCHICAL", grammar::ReorderingModel::kHierarchical);
  nb::class_<grammar::PhraseView>(m, "PhraseView", "A scored selection of a grammar.")
      .def("n_reordering", &grammar::PhraseView::n_reordering)
      .def("knows_source", &grammar::PhraseView::knows_source, nb::arg("word"))
      .def("knows_target", &grammar::PhraseView::knows_target, nb::arg("word"))
      .def(
          "options",
          [](const grammar::PhraseView& view, In<int32_t> sentence) {
            grammar::OptionList list;
            released([&] { view.options(span_of(sentence), list); });
            return to_tuple(std::move(list));
          },
          nb::arg("sentence").noconvert(),
          "Spans, pairs, counts, scores, reordering scores, targets (ragged), links (ragged).")
      .def(
          "lookup",
          [](const grammar::PhraseView& view, int64_t source) {
            grammar::OptionList list;
            released([&] { view.lookup(source, list); });
            return to_tuple(std::move(list));
          },
          nb::arg("source"))
      .def(
          "pair",
          [](const grammar::PhraseView& view, int64_t pair) {
            grammar::OptionList list;
            list.n_reordering = view.n_reordering();
            if (const auto option = view.pair(pair, list.reordering)) list.options.push_back(*option);
            return to_tuple(std::move(list));
          },
          nb::arg("pair"));
  m.def(
      "grammar_view",
      [](const MappedGrammar& grammar, int excluded_fold, int max_targets, int64_t min_count,
         grammar::PhraseSmoothing smoothing, const std::vector<std::pair<grammar::ReorderingModel, int>>& reordering,
         double reordering_smoothing, int n_threads) {
        grammar::PhraseViewOptions options{excluded_fold, max_targets, min_count, smoothing, {}, reordering_smoothing};
        for (const auto& [model, n] : reordering) options.reordering.push_back({model, n});
        return watch([&](Control& control) {
          return std::make_unique<grammar::PhraseView>(grammar.tables, options, n_threads, control);
        });
      },
      nb::arg("grammar"), nb::arg("excluded_fold"), nb::arg("max_targets"), nb::arg("min_count"), nb::arg("smoothing"),
      nb::arg("reordering"), nb::arg("reordering_smoothing"), nb::arg("n_threads"), nb::keep_alive<0, 1>());
}

}  // namespace

nb::dict to_dict(const grammar::BuildStats& stats) {
  nb::dict result;
  result["n_occurrences"] = stats.n_occurrences;
  result["n_pairs"] = stats.n_pairs;
  result["n_sources"] = stats.n_sources;
  result["n_targets"] = stats.n_targets;
  result["n_events"] = stats.n_events;
  result["n_alignments"] = stats.n_alignments;
  result["spilled_bytes"] = stats.spilled_bytes;
  return result;
}

nb::dict to_dict(const grammar::ExtractStats& stats) {
  nb::dict result = to_dict(stats.build);
  result["n_sentences"] = stats.n_sentences;
  result["n_too_long"] = stats.n_too_long;
  result["n_empty"] = stats.n_empty;
  return result;
}

void bind_grammar(nb::module_& m) {
  bind_extraction(m);
  bind_tables(m);
  bind_view(m);
  bind_moses(m);
  bind_rules(m);
}

}  // namespace dragoman::bind
