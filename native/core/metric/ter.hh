// Sufficient statistics of TER (Snover et al. 2006), with the beam, the shift limits and the tie order of
// sacrebleu's variant of Tercom.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/control.hh"
#include "core/metric/input.hh"

namespace dragoman::metric {

// [n_candidates, 2]: the fewest edits over the references, and the mean length of the references.
std::vector<double> ter_statistics(const MetricInput& input, int n_threads, Control& control);

}  // namespace dragoman::metric
