#include "core/names/feature_table.hh"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/errors.hh"
#include "core/names/feature_index.hh"
#include "core/names/vocab.hh"

namespace dragoman::names {

namespace {

bool has_control(std::span<const char> blob) {
  bool found = false;  // without an early exit, so that it is vectorised
  for (const char c : blob) found |= static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  return found;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

void FeatureTable::Arrays::reserve(size_t n_names, size_t n_bytes) {
  keys.reserve(n_names);
  offsets.reserve(n_names + 1);
  blob.reserve(n_bytes);
}

void FeatureTable::Arrays::add(uint64_t key, std::string_view name) {
  keys.push_back(key);
  blob.insert(blob.end(), name.begin(), name.end());
  offsets.push_back(static_cast<int64_t>(blob.size()));
}

FeatureTable::FeatureTable(Arrays&& arrays) {
  auto owned = std::make_shared<const Arrays>(std::move(arrays));
  keys_ = owned->keys;
  offsets_ = owned->offsets;
  blob_ = owned->blob;
  owner_ = std::move(owned);
}

FeatureTable::FeatureTable(std::span<const uint64_t> keys, std::span<const int64_t> offsets, std::span<const char> blob,
                           std::shared_ptr<const void> owner)
    : keys_(keys), offsets_(offsets), blob_(blob), owner_(std::move(owner)) {
  if (offsets.size() != keys.size() + 1 || offsets.front() != 0 || offsets.back() != static_cast<int64_t>(blob.size()))
    throw InputError("the offsets of the feature names do not fit them");
  for (size_t i = 0; i < keys.size(); ++i) {
    // In this order: the difference of just any numbers might overflow.
    if (offsets[i + 1] <= offsets[i] || offsets[i + 1] > static_cast<int64_t>(blob.size()) ||
        offsets[i + 1] - offsets[i] > static_cast<int64_t>(FeatureIndex::kMaxNameBytes))
      throw InputError("a feature name is empty or too long");
    if (continues(blob[at(offsets[i])])) throw InputError("a feature name is not valid UTF-8");
  }
  if (has_control(blob)) throw InputError("a feature name contains a control character (such as a tab or line feed)");
  // All names together, and each begins where a character does: then every one is valid.
  if (valid_utf8_prefix({blob.data(), blob.size()}) != blob.size())
    throw InputError("a feature name is not valid UTF-8");
  for (size_t i = 0; i < keys.size(); ++i) {
    if (feature_key(name(static_cast<int64_t>(i))) != keys[i])
      throw InputError("a feature's key is not that of its name");
    if (i > 0 && keys[i] <= keys[i - 1]) throw InputError("the keys of the features do not ascend");
  }
}

Sorted sort_features(const FeatureIndex& index, std::span<const int32_t> ids) {
  if (!index.has_whole_keys()) throw std::invalid_argument("the index shortens its keys");
  std::vector<std::pair<uint64_t, int64_t>> places;
  places.reserve(ids.size());
  for (const int32_t id : ids) {
    if (id < 0 || id >= index.size()) throw std::invalid_argument("no feature has the id " + std::to_string(id));
    places.emplace_back(index.keys()[at(id)], static_cast<int64_t>(places.size()));
  }
  std::ranges::sort(places);
  size_t n_bytes = 0;
  for (const int32_t id : ids) n_bytes += index.name(id).size();
  FeatureTable::Arrays arrays;
  arrays.reserve(ids.size(), n_bytes);
  Sorted result;
  result.order.reserve(ids.size());
  for (const auto& [key, place] : places) {
    const int32_t id = ids[at(place)];
    if (!arrays.keys.empty() && arrays.keys.back() == key)
      throw std::invalid_argument("the id " + std::to_string(id) + " is there twice");
    arrays.add(key, index.name(id));
    result.order.push_back(place);
  }
  result.table = FeatureTable(std::move(arrays));
  return result;
}

Merged merge_features(const FeatureTable& left, const FeatureTable& right) {
  Merged result;
  result.left.reserve(at(left.size()));
  result.right.reserve(at(right.size()));
  FeatureTable::Arrays arrays;
  arrays.reserve(at(std::max(left.size(), right.size())), std::max(left.blob().size(), right.blob().size()));
  int64_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    const auto place = static_cast<int64_t>(arrays.keys.size());
    const bool from_left = i < left.size() && (j == right.size() || left.keys()[at(i)] <= right.keys()[at(j)]);
    const bool from_right = j < right.size() && (i == left.size() || right.keys()[at(j)] <= left.keys()[at(i)]);
    if (from_left && from_right && left.name(i) != right.name(j)) throw_same_key(left.name(i), right.name(j));
    arrays.add(from_left ? left.keys()[at(i)] : right.keys()[at(j)], from_left ? left.name(i) : right.name(j));
    if (from_left) result.left.push_back(place), ++i;
    if (from_right) result.right.push_back(place), ++j;
  }
  result.table = FeatureTable(std::move(arrays));
  return result;
}

}  // namespace dragoman::names
