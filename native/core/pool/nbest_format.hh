// Writes n-best lists; NbestReader reads them back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/names/feature_index.hh"
#include "core/names/vocab.hh"
#include "core/pool/candidates.hh"

namespace dragoman::pool {

enum class NbestStyle { kMoses, kAssignments, kTravatar, kJson };

// A dense feature, written on every line even if 0: `Name= a b`, or one value each in the other styles.
struct DenseName {
  std::string name;
  std::vector<int32_t> ids;
};

struct NbestTable {
  Candidates candidates;
  Sentences tokens;
  std::span<const int32_t> sentence_ids;
  std::span<const double> totals;  // NaN: absent
  std::span<const double> scores;  // row-major, NaN: absent
  std::vector<std::string> score_names;
  std::vector<DenseName> dense;
};

// The lines of all candidates. Throws InputError for a word or feature name that the style cannot represent.
std::string format_nbest(const NbestTable& table, const names::FeatureIndex& index, const names::WordTable& words,
                         NbestStyle style);

}  // namespace dragoman::pool
