// Feature names <-> dense ids. A feature's key is a 64-bit hash of its name, the same in every process. Interning a
// name whose key collides is an error, so that keys alone can identify features elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/names/feature_table.hh"

namespace dragoman::names {

uint64_t feature_key(std::string_view name);

[[noreturn]] void throw_same_key(std::string_view name, std::string_view other);

// Names are kept in an arena that never moves: ten million features of thirty bytes take about 0.7 GB.
class FeatureIndex {
 public:
  static constexpr int32_t kAbsent = -1;
  static constexpr int32_t kMaxFeatures = 1 << 30;
  static constexpr size_t kMaxNameBytes = 1 << 15;

  // Fewer `key_bits` provoke collisions, for tests.
  explicit FeatureIndex(int key_bits = 64);
  FeatureIndex(FeatureIndex&&) = default;
  FeatureIndex& operator=(FeatureIndex&&) = default;

  // Ids are assigned in the order of first calls. Throws InputError for a name that is empty, too long, not UTF-8 or
  // contains control characters, and for a key collision.
  int32_t intern(std::string_view name);
  int32_t find(std::string_view name) const;
  std::string_view name(int32_t id) const {
    return {starts_[static_cast<size_t>(id)], lengths_[static_cast<size_t>(id)]};
  }
  int32_t size() const { return static_cast<int32_t>(keys_.size()); }
  std::span<const uint64_t> keys() const { return keys_; }
  bool has_whole_keys() const { return key_mask_ == ~uint64_t{0}; }
  // Interns features of `other` in the order given; element i of the result is the id of its feature ids[i].
  std::vector<int32_t> extend(const FeatureIndex& other, std::span<const int32_t> ids);
  // Interns all features of a table, by key or by place (feature i is the places[i]-th); element i of the result is the
  // id of its feature i. An empty index does not copy the names but keeps the table. Throws InputError unless places
  // are a permutation.
  std::vector<int32_t> extend(const FeatureTable& table, std::span<const int64_t> places);
  // The ids of features of another index or of a table, or kAbsent.
  std::vector<int32_t> find_all(const FeatureIndex& other, std::span<const int32_t> ids) const;
  std::vector<int32_t> find_all(const FeatureTable& table) const;

 private:
  std::vector<int32_t> adopt(const FeatureTable& table, std::span<const int64_t> places);
  size_t first_slot(uint64_t key) const;
  size_t slot_of(uint64_t key) const;
  // What `intern` and `find` do once the key (masked) is known.
  int32_t intern_keyed(std::string_view name, uint64_t key);
  int32_t find_keyed(std::string_view name, uint64_t key) const;
  void prefetch(uint64_t key) const;
  void reserve(size_t n_features);
  const char* store(std::string_view name);

  uint64_t key_mask_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t chunk_left_ = 0;
  std::shared_ptr<const void> adopted_;  // the table whose names are not in chunks_
  std::vector<const char*> starts_;
  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> keys_;
  std::vector<int32_t> slots_;  // id or kAbsent; size is a power of two
};

}  // namespace dragoman::names
