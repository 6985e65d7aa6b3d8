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

// How candidates become their nearest references, the first of equally near ones. A step is a word of the candidate, of
// the reference, or of both; the steps of candidate c are [offsets[c], offsets[c + 1]), in the order of the reference.
struct TerEdits {
  enum Step : int32_t { kMatch, kSubstituted, kExcess, kDropped };  // excess: no reference word; dropped: no other
  std::vector<int32_t> references;                                  // among the sentence's
  std::vector<int32_t> n_shifts;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> steps;
  std::vector<int32_t> candidate_words, reference_words;  // positions before shifts; -1 where there is none
  std::vector<int32_t> is_shifted;                        // the candidate's word, at least once
};
TerEdits ter_edits(const MetricInput& input, int n_threads, Control& control);

}  // namespace dragoman::metric
