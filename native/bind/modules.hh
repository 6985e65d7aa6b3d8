// One function per bound area; module.cc calls each once.
#pragma once

#include <nanobind/nanobind.h>

namespace dragoman::bind {

namespace nb = nanobind;

void bind_feature_index(nb::module_& m);
void bind_feature_table(nb::module_& m);
void bind_align(nb::module_& m);
void bind_batches(nb::module_& m);
void bind_chart_search(nb::module_& m);
void bind_corpus(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_forest_learning(nb::module_& m);
void bind_grammar(nb::module_& m);
void bind_lm(nb::module_& m);
void bind_margin(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_metric(nb::module_& m);
void bind_optim(nb::module_& m);
void bind_derivation_features(nb::module_& m);
void bind_option_builder(nb::module_& m);
void bind_phrase_search(nb::module_& m);
void bind_pool(nb::module_& m);
void bind_references(nb::module_& m);
void bind_store(nb::module_& m);
void bind_vocab(nb::module_& m);

}  // namespace dragoman::bind
