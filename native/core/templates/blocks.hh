// Fixed sparse vectors, each of which stands in search for the features it covers: one dense feature whose value on an
// option is the sum of coefficient times value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/at.hh"
#include "core/names/feature_table.hh"

namespace dragoman::templates {

// Immutable: threads share it.
class Blocks {
 public:
  struct Vector {
    int32_t feature;  // the block's own id in the index
    names::FeatureTable covered;
    std::vector<double> coefficients;
  };
  struct Term {
    int32_t block;
    double coefficient;
  };

  // Without `keep_rest`, a feature that no block covers is one that they all cover with 0: it is left out. Throws
  // std::invalid_argument for a feature without a finite coefficient.
  explicit Blocks(std::vector<Vector> vectors, bool keep_rest = true);

  int32_t size() const { return static_cast<int32_t>(features_.size()); }
  int32_t feature(int32_t block) const { return features_[at(block)]; }
  bool covers(std::string_view name) const { return find(name) != nullptr; }
  // What a feature adds to blocks for each unit of its value; nothing where it keeps its own id because no block covers
  // it. Several may; a coefficient of 0 covers it and adds nothing.
  std::optional<std::span<const Term>> terms(std::string_view name) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // A covered feature, in one piece because a lookup misses the cache.
  struct Covered {
    uint64_t key;
    std::string_view name;
    uint32_t first_term, n_terms;
  };

  const Covered* find(std::string_view name) const;

  std::vector<names::FeatureTable> tables_;  // own the names
  std::vector<int32_t> features_;
  std::vector<Covered> covered_;  // by key
  std::vector<Term> terms_;
  std::vector<uint32_t> slots_;  // open addressing: a place in covered_, or kNone; size is a power of two
  bool keep_rest_;
};

// A sum in two numbers of 32 bits, the second what the first lacks: added up in 64 bits they have 48 of the sum's, so
// that search by blocks orders as search by what they stand for. Throws InputError when the sum is too large.
std::pair<float, float> parts_of(double sum);

// The values of all blocks on one row of features.
class BlockSums {
 public:
  // `blocks` may be null: then there are none.
  explicit BlockSums(const Blocks* blocks) : blocks_(blocks), sums_(blocks ? at(blocks->size()) : 0) {}

  void add(std::span<const Blocks::Term> terms, double value) {
    for (const Blocks::Term& term : terms) sums_[at(term.block)] += term.coefficient * value;
  }
  // Appends those that are not 0 and starts a new row. A feature whose value has two parts is there twice.
  void append(std::vector<int32_t>& ids, std::vector<float>& values);

 private:
  const Blocks* blocks_;
  std::vector<double> sums_;
};

}  // namespace dragoman::templates
