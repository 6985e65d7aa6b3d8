// Candidate lists as a tuple of arrays: first, scores, token_offsets, tokens, feature_offsets, feature_ids,
// feature_values, edge_offsets, edges, derivations (a tuple of arrays, or None).
#pragma once

#include <nanobind/nanobind.h>

#include "bind/arrays.hh"
#include "core/forest/kbest.hh"

namespace dragoman::bind {

// The caller's weights are live and may change while other threads run: a call works on what they are now.
inline std::vector<double> copy_of(const In<double>& weights) {
  return {weights.data(), weights.data() + weights.size()};
}

inline nb::object to_object(std::optional<forest::Derivations>&& found) {
  if (!found) return nb::none();
  return nb::make_tuple(to_numpy(std::move(found->first)), to_numpy(std::move(found->rules)),
                        to_numpy(std::move(found->begins)), to_numpy(std::move(found->ends)),
                        to_numpy(std::move(found->offsets)), to_numpy(std::move(found->applications)));
}

inline nb::tuple to_tuple(forest::KBestLists&& lists) {
  return nb::make_tuple(to_numpy(std::move(lists.first)), to_numpy(std::move(lists.scores)),
                        to_numpy(std::move(lists.token_offsets)), to_numpy(std::move(lists.tokens)),
                        to_numpy(std::move(lists.feature_offsets)), to_numpy(std::move(lists.feature_ids)),
                        to_numpy(std::move(lists.feature_values)), to_numpy(std::move(lists.edge_offsets)),
                        to_numpy(std::move(lists.edges)), to_object(std::move(lists.derivations)));
}

}  // namespace dragoman::bind
