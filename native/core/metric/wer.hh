// The word error rate: substituted, inserted and deleted words, without the shifts of TER.
#pragma once

#include <vector>

#include "core/base/control.hh"
#include "core/metric/consensus.hh"
#include "core/metric/input.hh"

namespace dragoman::metric {

// [n_candidates, 2]: the fewest edits over the references, and the mean length of the references, as of TER.
std::vector<double> wer_statistics(const MetricInput& input, int n_threads, Control& control);
// Sums of mass x (1 - WER) over the references of the list.
std::vector<double> expected_wer(const ConsensusInput& input, int n_threads, Control& control);

}  // namespace dragoman::metric
