#include "core/names/feature_index.hh"

#include <cstring>
#include <limits>
#include <string>

#include "core/base/errors.hh"
#include "core/names/vocab.hh"

namespace dragoman::names {

namespace {

constexpr size_t kChunkBytes = 1 << 20;

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

FeatureIndex::FeatureIndex(int key_bits) : slots_(1024, kAbsent) {
  if (key_bits < 1 || key_bits > 64) throw std::invalid_argument("key_bits must be in 1..64");
  key_mask_ = ~uint64_t{0} >> (64 - key_bits);
}

size_t FeatureIndex::slot_of(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = static_cast<size_t>(mix(key)) & mask;
  while (slots_[slot] != kAbsent && keys_[static_cast<size_t>(slots_[slot])] != key) slot = (slot + 1) & mask;
  return slot;
}

int32_t FeatureIndex::find(std::string_view name) const {
  const int32_t id = slots_[slot_of(feature_key(name) & key_mask_)];
  return id != kAbsent && this->name(id) == name ? id : kAbsent;
}

int32_t FeatureIndex::intern(std::string_view name) {
  const uint64_t key = feature_key(name) & key_mask_;
  size_t slot = slot_of(key);
  if (const int32_t id = slots_[slot]; id != kAbsent) {
    if (this->name(id) != name)
      throw InputError("the features '" + std::string(this->name(id)) + "' and '" + std::string(name) +
                       "' have the same 64-bit key; rename one of them");
    return id;
  }
  check_name(name);
  if (size() == std::numeric_limits<int32_t>::max()) throw InputError("more than 2^31 features");
  if (4 * (keys_.size() + 1) > 3 * slots_.size()) {
    grow();
    slot = slot_of(key);
  }
  const int32_t id = size();
  starts_.push_back(store(name));
  lengths_.push_back(static_cast<uint32_t>(name.size()));
  keys_.push_back(key);
  slots_[slot] = id;
  return id;
}

std::vector<int32_t> FeatureIndex::extend(const FeatureIndex& other) {
  std::vector<int32_t> ids(static_cast<size_t>(other.size()));
  for (int32_t id = 0; id < other.size(); ++id) ids[static_cast<size_t>(id)] = intern(other.name(id));
  return ids;
}

void FeatureIndex::grow() {
  slots_.assign(slots_.size() * 2, kAbsent);
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
