// One candidate list turned on its side: for each distinct feature the candidates that have it. A feature with the
// same value in every candidate changes no loss and no ranking, so it is left out; one that most candidates have with
// the same value is stored as the others' difference from that value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/pool/candidates.hh"

namespace dragoman::optim {

// Features whose weights are not learned: their part of the score is added up once.
struct FixedFeatures {
  std::span<const uint8_t> mask;  // not 0: fixed; empty: none is
  std::span<const double> weights;
};

// Column k is feature ids[k], with values[ends[k - 1] .. ends[k]) in the candidates rows[...], counted within the list.
class ListColumns {
 public:
  // Every feature id must be below n_features. Throws InputError for ids or values that no pool may have.
  void build(const pool::Candidates& candidates, int64_t sentence, int64_t n_features, const FixedFeatures& fixed);

  std::vector<int32_t> ids, ends, rows;
  std::vector<float> values;
  std::vector<int32_t> constants;  // features that all candidates have with the same value
  std::vector<double> offsets;     // what fixed features contribute to each candidate's score

 private:
  struct Slot {
    int32_t id = 0;
    int32_t column = 0;
    uint32_t stamp = 0;
  };
  int32_t column_of(int32_t id);
  int32_t find_column(int32_t id);
  void grow();
  void add_column(int32_t id, std::span<const int32_t> rows_in, std::span<const float> values_in, int32_t n);

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  uint32_t stamp_ = 0;
  std::vector<int32_t> found_;      // ids in the order they were met
  std::vector<int32_t> column_at_;  // of each entry of the list; -1 for fixed features
  std::vector<int32_t> begins_;
  std::vector<int32_t> all_rows_;
  std::vector<float> all_values_;
};

}  // namespace dragoman::optim
