// From the ids of features that were new to the index when a batch was built to ids of the index. None of this is
// thread-safe: it reads an index that others may change, or changes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/forest/forest.hh"
#include "core/forest/kbest.hh"
#include "core/forest/reference_forests.hh"
#include "core/names/feature_index.hh"
#include "core/names/new_features.hh"

namespace dragoman::search {

// Element i is the id of new feature i in the index, kAbsent where it still lacks it.
using IdsOfNew = std::vector<int32_t>;

IdsOfNew find_new(const names::NewFeatures& features, const names::FeatureIndex& index);
// Interns all of them, in the order they were met.
IdsOfNew intern_new(const names::NewFeatures& features, names::FeatureIndex& index);
// Ids of the index in the place of those that it has.
void renumber(const IdsOfNew& ids, std::vector<int32_t>& values);

// The batch over an index that has got features since: nothing where no feature of the batch is among them.
template <typename Batch>
std::optional<Batch> resolved(const Batch& batch, const names::FeatureIndex& index) {
  if (!batch.new_features || batch.index_size == index.size()) return std::nullopt;
  const IdsOfNew ids = find_new(*batch.new_features, index);
  if (std::all_of(ids.begin(), ids.end(), [](int32_t id) { return id == names::FeatureIndex::kAbsent; }))
    return std::nullopt;
  Batch result = batch;
  result.index_size = index.size();
  Batch::each_feature_ids(result, [&](std::vector<int32_t>& values) { renumber(ids, values); });
  return result;
}

// The batch with all its features in the index.
template <typename Batch>
Batch interned(const Batch& batch, names::FeatureIndex& index) {
  Batch result = batch;
  if (!batch.new_features) return result;
  const IdsOfNew ids = intern_new(*batch.new_features, index);
  result.new_features = nullptr;
  Batch::each_feature_ids(result, [&](std::vector<int32_t>& values) { renumber(ids, values); });
  return result;
}

// Interns those on candidates, by sentence, candidate and name: in an order that depends on neither threads nor
// batches.
void intern_found(const names::NewFeatures& features, names::FeatureIndex& index, forest::KBestLists& lists);
// Interns those on edges, in the order of forests, instances and edges.
void intern_found(const names::NewFeatures& features, names::FeatureIndex& index, std::vector<forest::Forest>& forests);
// Interns those on edges, in the order of edges.
void intern_found(const names::NewFeatures& features, names::FeatureIndex& index, forest::ReferenceForests& forests);

}  // namespace dragoman::search
