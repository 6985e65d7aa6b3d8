#include "core/search/new_features.hh"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/at.hh"

namespace dragoman::search {

namespace {

constexpr int32_t kAbsent = names::FeatureIndex::kAbsent, kFirst = names::NewFeatures::kFirst;

// Ids of the index for those new features that were asked for.
class Interned {
 public:
  Interned(const names::NewFeatures& features, names::FeatureIndex& index)
      : features_(features), index_(index), ids_(at(features.size()), kAbsent) {}

  bool is_known(int32_t id) const { return id < kFirst || ids_[at(id - kFirst)] != kAbsent; }
  int32_t operator()(int32_t id) {
    if (id < kFirst) return id;
    int32_t& known = ids_[at(id - kFirst)];
    if (known == kAbsent) known = index_.intern(features_.name(id));
    return known;
  }

 private:
  const names::NewFeatures& features_;
  names::FeatureIndex& index_;
  IdsOfNew ids_;
};

}  // namespace

IdsOfNew find_new(const names::NewFeatures& features, const names::FeatureIndex& index) {
  IdsOfNew ids(at(features.size()));
  for (int32_t i = 0; i < features.size(); ++i) ids[at(i)] = index.find(features.name(kFirst + i));
  return ids;
}

IdsOfNew intern_new(const names::NewFeatures& features, names::FeatureIndex& index) {
  IdsOfNew ids(at(features.size()));
  for (int32_t i = 0; i < features.size(); ++i) ids[at(i)] = index.intern(features.name(kFirst + i));
  return ids;
}

void renumber(const IdsOfNew& ids, std::vector<int32_t>& values) {
  for (int32_t& value : values)
    if (value >= kFirst && ids[at(value - kFirst)] != kAbsent) value = ids[at(value - kFirst)];
}

void intern_found(const names::NewFeatures& features, names::FeatureIndex& index, forest::KBestLists& lists) {
  Interned interned(features, index);
  std::vector<int32_t> met;
  std::vector<std::pair<int32_t, float>> row;
  for (size_t c = 0; c + 1 < lists.feature_offsets.size(); ++c) {
    const auto begin = at(lists.feature_offsets[c]), end = at(lists.feature_offsets[c + 1]);
    // Rows ascend: what is new comes last.
    if (begin == end || lists.feature_ids[end - 1] < kFirst) continue;
    met.clear();
    for (size_t i = begin; i < end; ++i)
      if (!interned.is_known(lists.feature_ids[i])) met.push_back(lists.feature_ids[i]);
    std::sort(met.begin(), met.end(), [&](int32_t a, int32_t b) { return features.name(a) < features.name(b); });
    for (const int32_t id : met) interned(id);
    row.clear();
    for (size_t i = begin; i < end; ++i) row.emplace_back(interned(lists.feature_ids[i]), lists.feature_values[i]);
    std::sort(row.begin(), row.end());
    for (size_t i = begin; i < end; ++i) std::tie(lists.feature_ids[i], lists.feature_values[i]) = row[i - begin];
  }
}

void intern_found(const names::NewFeatures& features, names::FeatureIndex& index,
                  std::vector<forest::Forest>& forests) {
  Interned interned(features, index);
  for (forest::Forest& forest : forests) forest.renumber_features([&](int32_t id) { return interned(id); });
}

void intern_found(const names::NewFeatures& features, names::FeatureIndex& index, forest::ReferenceForests& forests) {
  Interned interned(features, index);
  for (int32_t& id : forests.feature_ids.values) id = interned(id);
}

}  // namespace dragoman::search
