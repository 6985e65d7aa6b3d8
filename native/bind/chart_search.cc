#include "core/search/chart_search.hh"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bind/arrays.hh"
#include "bind/kbest.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"

namespace dragoman::bind {

namespace {

// Arrays in the order of dragoman.search.RuleContexts, RuleGaps and RuleOptions.
struct ContextArrays {
  In<int64_t> first_place;
  In<int32_t> symbols, positions;
  In<int64_t> first_row, feature_offsets;
  In<int32_t> feature_ids;
  In<float> feature_values;

  search::RuleContexts view() const {
    return {span_of(first_place),
            span_of(symbols),
            span_of(positions),
            span_of(first_row),
            ragged_of(feature_offsets, feature_ids, "features of contexts"),
            span_of(feature_values)};
  }
};

struct GapArrays {
  In<int64_t> first_class;
  In<int32_t> classes;
  int32_t max_length;
  In<int64_t> feature_offsets;
  In<int32_t> feature_ids;
  In<float> feature_values;

  search::RuleGaps view() const {
    return {span_of(first_class), span_of(classes), max_length,
            ragged_of(feature_offsets, feature_ids, "features of nonterminals"), span_of(feature_values)};
  }
};

struct RuleArrays {
  In<int64_t> sentence_offsets;
  In<int32_t> words, pass_through;
  In<int64_t> first_pattern, symbol_offsets;
  In<int32_t> symbols;
  In<int64_t> first_rule;
  In<int32_t> lhs;
  In<int64_t> target_offsets;
  In<int32_t> targets;
  In<int64_t> rules;
  In2<float> scores;
  In<int64_t> feature_offsets;
  In<int32_t> feature_ids;
  In<float> feature_values;
  int32_t n_labels;
  std::optional<ContextArrays> contexts;
  std::optional<GapArrays> gaps;

  search::RuleBatch batch() const {
    search::RuleBatch result{ragged_of(sentence_offsets, words, "words"),
                             span_of(pass_through),
                             span_of(first_pattern),
                             ragged_of(symbol_offsets, symbols, "symbols"),
                             span_of(first_rule),
                             span_of(lhs),
                             ragged_of(target_offsets, targets, "targets"),
                             span_of(rules),
                             {scores.data(), scores.size()},
                             ragged_of(feature_offsets, feature_ids, "features"),
                             span_of(feature_values),
                             n_labels,
                             std::nullopt,
                             std::nullopt};
    if (contexts) result.contexts = contexts->view();
    if (gaps) result.gaps = gaps->view();
    return result;
  }
};

// The caller's weights are live: this call works on what they are now.
std::vector<double> copy_of(const In<double>& weights) { return {weights.data(), weights.data() + weights.size()}; }

}  // namespace

void bind_chart_search(nb::module_& m) {
  nb::class_<ContextArrays>(m, "RuleContexts", "Features by the words beside those of rules; keeps its arrays alive.")
      .def(
          "__init__",
          [](ContextArrays* self, In<int64_t> first_place, In<int32_t> symbols, In<int32_t> positions,
             In<int64_t> first_row, In<int64_t> feature_offsets, In<int32_t> feature_ids, In<float> feature_values) {
            new (self)
                ContextArrays{first_place, symbols, positions, first_row, feature_offsets, feature_ids, feature_values};
          },
          nb::arg("first_place").noconvert(), nb::arg("symbols").noconvert(), nb::arg("positions").noconvert(),
          nb::arg("first_row").noconvert(), nb::arg("feature_offsets").noconvert(), nb::arg("feature_ids").noconvert(),
          nb::arg("feature_values").noconvert());

  nb::class_<GapArrays>(m, "RuleGaps", "Features by the lengths of rules' nonterminals; keeps its arrays alive.")
      .def(
          "__init__",
          [](GapArrays* self, In<int64_t> first_class, In<int32_t> classes, int32_t max_length,
             In<int64_t> feature_offsets, In<int32_t> feature_ids, In<float> feature_values) {
            new (self) GapArrays{first_class, classes, max_length, feature_offsets, feature_ids, feature_values};
          },
          nb::arg("first_class").noconvert(), nb::arg("classes").noconvert(), nb::arg("max_length"),
          nb::arg("feature_offsets").noconvert(), nb::arg("feature_ids").noconvert(),
          nb::arg("feature_values").noconvert());

  nb::class_<RuleArrays>(m, "RuleBatch", "Rules of some sentences; keeps its arrays alive.")
      .def(
          "__init__",
          [](RuleArrays* self, In<int64_t> sentence_offsets, In<int32_t> words, In<int32_t> pass_through,
             In<int64_t> first_pattern, In<int64_t> symbol_offsets, In<int32_t> symbols, In<int64_t> first_rule,
             In<int32_t> lhs, In<int64_t> target_offsets, In<int32_t> targets, In<int64_t> rules, In2<float> scores,
             In<int64_t> feature_offsets, In<int32_t> feature_ids, In<float> feature_values, int32_t n_labels,
             const std::optional<ContextArrays>& contexts, const std::optional<GapArrays>& gaps) {
            new (self) RuleArrays{sentence_offsets, words,       pass_through,   first_pattern, symbol_offsets, symbols,
                                  first_rule,       lhs,         target_offsets, targets,       rules,          scores,
                                  feature_offsets,  feature_ids, feature_values, n_labels,      contexts,       gaps};
          },
          nb::arg("sentence_offsets").noconvert(), nb::arg("words").noconvert(), nb::arg("pass_through").noconvert(),
          nb::arg("first_pattern").noconvert(), nb::arg("symbol_offsets").noconvert(), nb::arg("symbols").noconvert(),
          nb::arg("first_rule").noconvert(), nb::arg("lhs").noconvert(), nb::arg("target_offsets").noconvert(),
          nb::arg("targets").noconvert(), nb::arg("rules").noconvert(), nb::arg("scores").noconvert(),
          nb::arg("feature_offsets").noconvert(), nb::arg("feature_ids").noconvert(),
          nb::arg("feature_values").noconvert(), nb::arg("n_labels"), nb::arg("contexts").none(),
          nb::arg("gaps").none());

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
          nb::arg("pop_limit"), nb::arg("beam"), nb::arg("rule_limit"), nb::arg("max_span"), nb::arg("lm_feature"),
          nb::arg("lm_oov"), nb::arg("words"), nb::arg("rules"), nb::arg("glue"), nb::arg("unknown"),
          nb::arg("arities"), nb::arg("scores"), nb::arg("lm").none(), nb::arg("lm_words").noconvert())
      .def(
          "decode",
          [](const search::ChartDecoder& d, const RuleArrays& arrays, int32_t goal, const std::vector<int32_t>& glue,
             const std::vector<int32_t>& unknown, In<double> weights, int n_threads, nb::object progress) {
            const std::vector<double> w = copy_of(weights);
            return watch(
                [&](Control& control) {
                  return d.decode(arrays.batch(), {goal, glue, unknown}, w, n_threads, control);
                },
                progress);
          },
          nb::arg("batch"), nb::arg("goal"), nb::arg("glue"), nb::arg("unknown"), nb::arg("weights").noconvert(),
          nb::arg("n_threads"), nb::arg("progress").none())
      .def(
          "kbest",
          [](const search::ChartDecoder& d, const RuleArrays& arrays, int32_t goal, const std::vector<int32_t>& glue,
             const std::vector<int32_t>& unknown, In<double> weights, int64_t k, bool distinct, int n_threads,
             nb::object progress) {
            const std::vector<double> w = copy_of(weights);
            return to_tuple(watch(
                [&](Control& control) {
                  return d.decode_kbest(arrays.batch(), {goal, glue, unknown}, w, k, distinct, n_threads, control);
                },
                progress));
          },
          nb::arg("batch"), nb::arg("goal"), nb::arg("glue"), nb::arg("unknown"), nb::arg("weights").noconvert(),
          nb::arg("k"), nb::arg("distinct"), nb::arg("n_threads"), nb::arg("progress").none());
}

}  // namespace dragoman::bind
