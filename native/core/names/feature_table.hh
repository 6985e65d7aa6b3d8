// Feature names in the order of their 64-bit keys, as flat arrays that may be mapped from a file. Two such tables are
// merged in one pass, in any process, without an index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/at.hh"

namespace dragoman::names {

class FeatureIndex;

class FeatureTable {
 public:
  struct Arrays {
    std::vector<uint64_t> keys;
    std::vector<int64_t> offsets{0};
    std::vector<char> blob;
    void reserve(size_t n_names, size_t n_bytes);
    void add(uint64_t key, std::string_view name);
  };

  FeatureTable() = default;
  // Trusts the arrays.
  explicit FeatureTable(Arrays&& arrays);
  // Name i is blob[offsets[i] .. offsets[i + 1]). `owner` keeps the arrays alive. Throws InputError unless keys ascend
  // and are those of the names, and the names are such as a FeatureIndex takes.
  FeatureTable(std::span<const uint64_t> keys, std::span<const int64_t> offsets, std::span<const char> blob,
               std::shared_ptr<const void> owner);

  int64_t size() const { return static_cast<int64_t>(keys_.size()); }
  std::string_view name(int64_t i) const {
    return {blob_.data() + offsets_[at(i)], at(offsets_[at(i) + 1] - offsets_[at(i)])};
  }
  std::span<const uint64_t> keys() const { return keys_; }
  std::span<const int64_t> offsets() const { return offsets_; }
  std::span<const char> blob() const { return blob_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::span<const uint64_t> keys_;
  std::span<const int64_t> offsets_;
  std::span<const char> blob_;
  std::shared_ptr<const void> owner_;
};

// Features of an index in the order of their keys: feature i of the table is ids[order[i]]. Throws
// std::invalid_argument for an id that is out of range or not alone.
struct Sorted {
  FeatureTable table;
  std::vector<int64_t> order;
};
Sorted sort_features(const FeatureIndex& index, std::span<const int32_t> ids);

// The features of both: feature i of the first table is at left[i]. Throws InputError when two different names have
// the same key.
struct Merged {
  FeatureTable table;
  std::vector<int64_t> left, right;
};
Merged merge_features(const FeatureTable& left, const FeatureTable& right);

}  // namespace dragoman::names
