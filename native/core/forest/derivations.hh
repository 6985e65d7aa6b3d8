// Derivations of candidates as numbers: which rules were applied to which source words. A sentence lists its distinct
// applications once; a candidate is a sequence of their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/forest/forest.hh"

namespace dragoman::forest {

// Applications of sentence s are [first[s], first[s + 1]); candidate c applies the ones numbered, within its sentence,
// applications[offsets[c]] to applications[offsets[c + 1] - 1]. Only what is from the grammar or has words is listed:
// glue and the ends of the sentence follow from the rest.
struct Derivations {
  std::vector<int64_t> first{0};
  std::vector<int64_t> rules;  // -1: a word passed through
  std::vector<int32_t> begins, ends;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> applications;

  void append(const Derivations& other);
};

enum class DerivationOrder : uint8_t {
  kPreOrder,     // a rule, then what its nonterminals stand for, in the order of the source side
  kTargetOrder,  // of a lattice, whose edges put words after those of their tail
};

// Adds one sentence, whose candidates have the edges [edge_offsets[c], edge_offsets[c + 1]), in pre-order.
void append_derivations(const Forest& forest, std::span<const int64_t> edge_offsets, std::span<const int32_t> edges,
                        DerivationOrder order, Derivations& out);

}  // namespace dragoman::forest
