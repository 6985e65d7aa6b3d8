// Sufficient statistics of chrF and chrF++ (Popović 2015, 2017).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/control.hh"
#include "core/metric/input.hh"

namespace dragoman::metric {

// How words are written: per word id its characters without whitespace, and the words it counts as once
// punctuation at its edges stands alone.
struct SpellingTables {
  Ragged<int32_t> characters;
  Ragged<int32_t> pieces;
};

// [n_candidates, 3 * (char_order + word_order)]: n-grams in the hypothesis, in the reference, and in both,
// for each order, characters first. Of several references the one with the best F score counts, the first
// among equals.
std::vector<double> chrf_statistics(const MetricInput& input, const SpellingTables& spelling, int char_order,
                                    int word_order, double beta, int n_threads, Control& control);

}  // namespace dragoman::metric
