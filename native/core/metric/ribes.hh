// RIBES (Isozaki et al. 2010): the rank correlation of word order, for language pairs whose order differs.
#pragma once

#include <vector>

#include "core/base/control.hh"
#include "core/metric/consensus.hh"
#include "core/metric/input.hh"

namespace dragoman::metric {

struct RibesExponents {
  double precision, brevity;
};

// [n_candidates]: the best score over the references. A candidate without words has 0, unless a reference has none.
std::vector<double> ribes_scores(const MetricInput& input, RibesExponents exponents, int n_threads, Control& control);
// Sums of mass x RIBES over the references of the list.
std::vector<double> expected_ribes(const ConsensusInput& input, RibesExponents exponents, int n_threads,
                                   Control& control);

}  // namespace dragoman::metric
