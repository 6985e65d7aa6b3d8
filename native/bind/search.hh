// Calls of decoders.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <vector>

#include "bind/arrays.hh"
#include "bind/kbest.hh"
#include "bind/watch.hh"
#include "core/names/feature_index.hh"
#include "core/search/forced.hh"
#include "core/search/new_features.hh"

namespace dragoman::bind {

// The batch with the ids that features have in the index now. The GIL is the lock of the index: features are looked up
// before a search and those found are interned after it.
template <typename Batch>
class CurrentBatch {
 public:
  CurrentBatch(const Batch& batch, const names::FeatureIndex& index)
      : given_(batch), resolved_(search::resolved(batch, index)) {}
  const Batch& operator*() const { return resolved_ ? *resolved_ : given_; }
  template <typename Found>
  void intern(names::FeatureIndex& index, Found& found) const {
    if (given_.new_features) search::intern_found(*given_.new_features, index, found);
  }

 private:
  const Batch& given_;
  std::optional<Batch> resolved_;
};

// `decode(batch, weights, n_threads, control)` gives forests.
template <typename Batch, typename Decode>
std::vector<forest::Forest> decode_batch(const Batch& batch, names::FeatureIndex& index, const In<double>& weights,
                                         int n_threads, nb::handle progress, Decode&& decode) {
  const CurrentBatch<Batch> current(batch, index);
  const std::vector<double> w = copy_of(weights);
  auto forests = watch([&](Control& control) { return decode(*current, w, n_threads, control); }, progress);
  current.intern(index, forests);
  return forests;
}

// `make(batch, weights, n_threads, control)` gives forests around references; their arrays by name.
template <typename Batch, typename Make>
nb::dict references_of(const Batch& batch, names::FeatureIndex& index, const In<double>& weights, int n_threads,
                       nb::handle progress, Make&& make) {
  const CurrentBatch<Batch> current(batch, index);
  const std::vector<double> w = copy_of(weights);
  auto found = watch([&](Control& control) { return make(*current, w, n_threads, control); }, progress);
  current.intern(index, found);
  nb::dict arrays;
  forest::ReferenceForests::each_array(
      found, [&](const char* name, auto& values) { arrays[name] = to_numpy(std::move(values)); });
  return arrays;
}

// `kbest(batch, weights, n_threads, control)` gives candidate lists. Weights that are `steady` do not change meanwhile
// and are not copied.
template <typename Batch, typename Kbest>
nb::tuple kbest_of(const Batch& batch, names::FeatureIndex& index, const In<double>& weights, bool steady,
                   int n_threads, nb::handle progress, Kbest&& kbest) {
  const CurrentBatch<Batch> current(batch, index);
  const std::vector<double> copy = steady ? std::vector<double>{} : copy_of(weights);
  const std::span<const double> w = steady ? span_of(weights) : std::span<const double>(copy);
  auto lists = watch([&](Control& control) { return kbest(*current, w, n_threads, control); }, progress);
  current.intern(index, lists);
  return to_tuple(std::move(lists));
}

// Given translations of sentences of a batch as arrays: the sentence of each, their words, and for every source word
// the target word that it is.
struct ForcedArrays {
  In<int64_t> sentences, target_offsets;
  In<int32_t> targets;
  In<int64_t> copy_offsets;
  In<int32_t> copies;

  search::ForcedPairs pairs() const {
    return {span_of(sentences), ragged_of(target_offsets, targets, "targets"),
            ragged_of(copy_offsets, copies, "copies")};
  }
};

// `force(batch, weights, pairs, control)` gives forced translations: forests, lists of at most one candidate, then
// offsets and values of deleted, inserted and copied positions, and whether nothing was pruned.
template <typename Batch, typename Force>
nb::tuple forced_of(const Batch& batch, names::FeatureIndex& index, const In<double>& weights,
                    const ForcedArrays& arrays, nb::handle progress, Force&& force) {
  const CurrentBatch<Batch> current(batch, index);
  const std::vector<double> w = copy_of(weights);
  auto found = watch([&](Control& control) { return force(*current, w, arrays.pairs(), control); }, progress);
  current.intern(index, found.lists);
  current.intern(index, found.forests);
  const auto ragged = [](RaggedVector<int32_t>&& rows) {
    return nb::make_tuple(to_numpy(std::move(rows.offsets)), to_numpy(std::move(rows.values)));
  };
  return nb::make_tuple(std::move(found.forests), to_tuple(std::move(found.lists)), ragged(std::move(found.deleted)),
                        ragged(std::move(found.inserted)), ragged(std::move(found.copied)),
                        to_numpy(std::move(found.is_complete)));
}

}  // namespace dragoman::bind
