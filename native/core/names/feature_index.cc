#include "core/names/feature_index.hh"

#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "core/base/errors.hh"
#include "core/names/vocab.hh"

namespace dragoman::names {

namespace {

constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kAhead = 16;  // how many features ahead of its use a slot is fetched into the cache

uint64_t mix(uint64_t h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 29;
  h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 32);
}

// Little-endian on every machine, so that keys can be stored.
uint64_t load(const char* bytes, size_t n) {
  uint64_t value = 0;
  for (size_t i = 0; i < n; ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

[[noreturn]] void throw_no_permutation() { throw InputError("the places of the features are not a permutation"); }

// Element i is the feature at place i; by default features are at their own places.
std::vector<int32_t> order_of(int64_t n_features, std::span<const int64_t> places) {
  std::vector<int32_t> order(at(n_features), FeatureIndex::kAbsent);
  if (places.empty()) std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= n_features || order[at(places[i])] != FeatureIndex::kAbsent)
      throw_no_permutation();
    order[at(places[i])] = static_cast<int32_t>(i);
  }
  return order;
}

void check_name(std::string_view name) {
  if (name.empty()) throw InputError("a feature name is empty");
  if (name.size() > FeatureIndex::kMaxNameBytes)
    throw InputError("a feature name of " + std::to_string(name.size()) + " bytes is too long; the maximum is " +
                     std::to_string(FeatureIndex::kMaxNameBytes));
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw InputError("a feature name contains a control character (such as a tab or line feed)");
  if (valid_utf8_prefix(name) != name.size()) throw InputError("a feature name is not valid UTF-8");
}

}  // namespace

uint64_t feature_key(std::string_view name) {
  uint64_t h = 0x9e3779b97f4a7c15ull * (name.size() + 1);
  size_t i = 0;
  for (; i + 8 <= name.size(); i += 8) h = mix(h ^ load(name.data() + i, 8)) + 0x9e3779b97f4a7c15ull;
  return mix(h ^ load(name.data() + i, name.size() - i));
}

void throw_same_key(std::string_view name, std::string_view other) {
  throw InputError("the features '" + std::string(name) + "' and '" + std::string(other) +
                   "' have the same 64-bit key; rename one of them");
}

FeatureIndex::FeatureIndex(int key_bits) : slots_(1024, kAbsent) {
  if (key_bits < 1 || key_bits > 64) throw std::invalid_argument("key_bits must be in 1..64");
  key_mask_ = ~uint64_t{0} << (64 - key_bits);
}

// The first bits of the key, so that features in the order of their keys go to neighbouring slots.
size_t FeatureIndex::first_slot(uint64_t key) const {
  return static_cast<size_t>(key >> (64 - std::countr_zero(slots_.size())));
}

size_t FeatureIndex::slot_of(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = first_slot(key);
  while (slots_[slot] != kAbsent && keys_[static_cast<size_t>(slots_[slot])] != key) slot = (slot + 1) & mask;
  return slot;
}

int32_t FeatureIndex::find(std::string_view name) const { return find_keyed(name, feature_key(name) & key_mask_); }

int32_t FeatureIndex::find_keyed(std::string_view name, uint64_t key) const {
  const int32_t id = slots_[slot_of(key)];
  return id != kAbsent && this->name(id) == name ? id : kAbsent;
}

int32_t FeatureIndex::intern(std::string_view name) { return intern_keyed(name, feature_key(name) & key_mask_); }

int32_t FeatureIndex::intern_keyed(std::string_view name, uint64_t key) {
  size_t slot = slot_of(key);
  if (const int32_t id = slots_[slot]; id != kAbsent) {
    if (this->name(id) != name) throw_same_key(this->name(id), name);
    return id;
  }
  check_name(name);
  if (size() == kMaxFeatures) throw InputError("more than 2^30 features");
  if (4 * (keys_.size() + 1) > 3 * slots_.size()) {
    reserve(keys_.size() + 1);
    slot = slot_of(key);
  }
  const int32_t id = size();
  starts_.push_back(store(name));
  lengths_.push_back(static_cast<uint32_t>(name.size()));
  keys_.push_back(key);
  slots_[slot] = id;
  return id;
}

std::vector<int32_t> FeatureIndex::extend(const FeatureIndex& other, std::span<const int32_t> ids) {
  std::vector<int32_t> result;
  result.reserve(ids.size());
  if (ids.size() > keys_.size()) reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) prefetch(other.keys_[at(ids[i + kAhead])] & key_mask_);
    // An index with fewer bits cannot tell the whole key.
    const std::string_view name = other.name(ids[i]);
    result.push_back(other.has_whole_keys() ? intern_keyed(name, other.keys_[at(ids[i])] & key_mask_) : intern(name));
  }
  return result;
}

std::vector<int32_t> FeatureIndex::extend(const FeatureTable& table, std::span<const int64_t> places) {
  if (table.size() > kMaxFeatures) throw InputError("more than 2^30 features");
  if (!places.empty() && at(table.size()) != places.size()) throw InputError("there is not one place per feature");
  if (size() == 0 && has_whole_keys()) return adopt(table, places);
  // In the order of their keys features fill slots from the first on: there must be enough for all before that.
  if (at(table.size()) > keys_.size()) reserve(keys_.size() + at(table.size()));
  const std::vector<int32_t> order = order_of(table.size(), places);
  std::vector<int32_t> ids(at(table.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) prefetch(table.keys()[at(order[i + kAhead])] & key_mask_);
    ids[at(order[i])] = intern_keyed(table.name(order[i]), table.keys()[at(order[i])] & key_mask_);
  }
  return ids;
}

// All keys differ: the first empty slot is the right one.
std::vector<int32_t> FeatureIndex::adopt(const FeatureTable& table, std::span<const int64_t> places) {
  const size_t n = at(table.size());
  reserve(n);
  adopted_ = table.owner();
  starts_.resize(n);
  lengths_.resize(n);
  keys_.resize(n);
  std::vector<int32_t> ids(n);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t key = table.keys()[i];
    const std::string_view name = table.name(static_cast<int64_t>(i));
    const size_t id = places.empty() ? i : at(places[i]);
    if (id >= n || starts_[id] != nullptr) {
      *this = FeatureIndex();
      throw_no_permutation();
    }
    size_t slot = first_slot(key);
    while (slots_[slot] != kAbsent) slot = (slot + 1) & mask;
    slots_[slot] = ids[i] = static_cast<int32_t>(id);
    starts_[id] = name.data();
    lengths_[id] = static_cast<uint32_t>(name.size());
    keys_[id] = key;
  }
  return ids;
}

std::vector<int32_t> FeatureIndex::find_all(const FeatureIndex& other, std::span<const int32_t> ids) const {
  std::vector<int32_t> result;
  result.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) prefetch(other.keys_[at(ids[i + kAhead])] & key_mask_);
    const std::string_view name = other.name(ids[i]);
    result.push_back(other.has_whole_keys() ? find_keyed(name, other.keys_[at(ids[i])] & key_mask_) : find(name));
  }
  return result;
}

std::vector<int32_t> FeatureIndex::find_all(const FeatureTable& table) const {
  std::vector<int32_t> result;
  result.reserve(at(table.size()));
  for (int64_t i = 0; i < table.size(); ++i) {
    if (i + static_cast<int64_t>(kAhead) < table.size()) prefetch(table.keys()[at(i) + kAhead] & key_mask_);
    result.push_back(find_keyed(table.name(i), table.keys()[at(i)] & key_mask_));
  }
  return result;
}

void FeatureIndex::prefetch(uint64_t key) const { __builtin_prefetch(&slots_[first_slot(key)]); }

void FeatureIndex::reserve(size_t n_features) {
  size_t n_slots = slots_.size();
  while (4 * n_features > 3 * n_slots) n_slots *= 2;
  if (n_features > keys_.size() + 1) {
    starts_.reserve(n_features);
    lengths_.reserve(n_features);
    keys_.reserve(n_features);
  }
  if (n_slots == slots_.size()) return;
  slots_ = std::vector<int32_t>(n_slots, kAbsent);
  for (size_t id = 0; id < keys_.size(); ++id) slots_[slot_of(keys_[id])] = static_cast<int32_t>(id);
}

const char* FeatureIndex::store(std::string_view name) {
  if (name.size() > chunk_left_) {
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunkBytes));
    chunk_left_ = kChunkBytes;
  }
  char* start = chunks_.back().get() + (kChunkBytes - chunk_left_);
  std::memcpy(start, name.data(), name.size());
  chunk_left_ -= name.size();
  return start;
}

}  // namespace dragoman::names
