// Sufficient statistics of BLEU (Papineni et al. 2002).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/control.hh"
#include "core/metric/input.hh"

namespace dragoman::metric {

enum class ReferenceLength { kClosest, kShortest, kAverage };  // closest: ties go to the shorter

// [n_candidates, 2 + 2 * order]: hypothesis length, reference length, matches of order 1..N, n-grams of
// order 1..N. Matches are clipped at the largest count over the references.
std::vector<double> bleu_statistics(const MetricInput& input, int order, ReferenceLength length, int n_threads,
                                    Control& control);

}  // namespace dragoman::metric
