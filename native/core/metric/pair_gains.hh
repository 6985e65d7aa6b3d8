// Expected gains of metrics that compare one pair of candidates at a time.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/at.hh"
#include "core/base/control.hh"
#include "core/base/parallel.hh"
#include "core/metric/consensus.hh"

namespace dragoman::metric {

// Sums of mass x gain over the references of the list, [n_candidates]. compare(scratch, a, b) returns the gain of a
// with the reference b and that of b with the reference a. Each worker has a Scratch of its own.
template <typename Scratch, typename Compare>
std::vector<double> expected_pair_gains(const ConsensusInput& input, int n_threads, Control& control,
                                        Compare&& compare) {
  input.check();
  const DistinctLists distinct(input);
  std::vector<double> expected(distinct.mass.size());
  const auto n_lists = static_cast<int64_t>(distinct.lists.size()) - 1;
  std::vector<Scratch> scratches(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(n_lists, 1, n_threads, control, [&](int64_t first, int64_t last, int worker) {
    Scratch& scratch = scratches[static_cast<size_t>(worker)];
    for (int64_t l = first; l < last; ++l) {
      const int64_t begin = distinct.lists[at(l)], end = distinct.lists[at(l + 1)];
      for (int64_t a = begin; a < end; ++a) {
        control.check();
        const auto own = distinct.candidates[a];
        expected[at(a)] += distinct.mass[at(a)] * compare(scratch, own, own).first;
        for (int64_t b = a + 1; b < end; ++b) {
          const auto [forward, backward] = compare(scratch, own, distinct.candidates[b]);
          expected[at(a)] += distinct.mass[at(b)] * forward;
          expected[at(b)] += distinct.mass[at(a)] * backward;
        }
      }
    }
  });
  return distinct.spread(expected);
}

}  // namespace dragoman::metric
