// What orientation templates look at in the derivations of a sentence. Candidates share most of it: a phrase put beside
// the same block is one site.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ragged.hh"
#include "core/search/derivation_batch.hh"
#include "core/templates/orientation_template.hh"

namespace dragoman::search {

struct OrientedSites {
  RaggedVector<int32_t> rows;   // by site: of features of parts with their orientations, in the order of search
  std::vector<uint32_t> steps;  // by phrase of every candidate, its site
};

// `parts` has a row for every application (by `row_of_application`) and all source words of the batch; `block_start`
// has those of the block before the first phrase, if there are any.
OrientedSites find_oriented(const DerivationBatch& batch, int64_t sentence, const templates::OrientationParts& parts,
                            std::span<const uint32_t> row_of_application, std::span<const int32_t> block_start);

// Which rows there are.
std::vector<uint8_t> met_parts(std::span<const OrientedSites> sentences, size_t n_parts);

}  // namespace dragoman::search
