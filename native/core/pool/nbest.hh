// Reads n-best lists: lines of fields separated by "|||" (Moses, Phrasal, cdec, Joshua, Travatar), or JSON Lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/names/feature_index.hh"
#include "core/names/vocab.hh"

namespace dragoman::pool {

// The field numbers of a "|||" line's parts, from 0; -1: absent.
struct NbestFields {
  int id = 0, text = 1, features = 2, total = 3;
};

// Candidates in file order. Row i: tokens, features (ids ascending, no zeros), total model score (NaN if absent), named
// scores (column-major by name, NaN if absent).
struct NbestRows {
  std::vector<int64_t> sentences;
  std::vector<int64_t> token_offsets{0}, feature_offsets{0};
  std::vector<int32_t> tokens, feature_ids;
  std::vector<float> feature_values;
  std::vector<double> totals;
  std::vector<std::vector<double>> scores;
};

// One feature name as the file writes it. `Name= a b` has two values and two ids, Name_1 and Name_2.
struct NbestName {
  std::vector<int32_t> ids;
  int64_t n_lines = 0;    // in which it occurs
  int64_t last_row = -1;  // in which it occurred
  int64_t gap_line = 0;   // of a candidate that lacks it, 0: none so far
  int64_t gap_sentence = 0;
  bool is_count = true;  // no value is negative or a fraction
};

// A candidate that lacks a score which most candidates have.
struct NbestGap {
  std::string name;
  int64_t n_lines, line, sentence;
};

class NbestReader {
 public:
  NbestReader(names::FeatureIndex& index, names::WordTable& words);

  // Reads complete lines and skips blank ones. Throws InputError with the line, counted from `first_line`.
  void read_fields(std::string_view block, int64_t first_line, const NbestFields& fields);
  void read_json(std::string_view block, int64_t first_line);
  // Takes the candidates read since the last call.
  NbestRows take();

  int64_t n_lines() const { return n_lines_; }
  // The first gap in a feature that is no count (those may be sparse) and occurs in at least half of the lines. Lines
  // of `name: value` leave out zeros and have no gaps.
  std::optional<NbestGap> first_gap() const;
  const std::vector<NbestName>& names() const { return names_; }
  const std::vector<std::string>& score_names() const { return score_names_; }

 private:
  void add_id(std::string_view field, int64_t line);
  void add_text(std::string_view text);
  void add_features(std::string_view field, int64_t line);
  void add_feature(int32_t name, int64_t line);
  void add_json(std::string_view text, int64_t line);
  void finish_row(double total, int64_t line);
  int32_t intern_name(std::string_view name);
  double& score(std::string_view name);

  names::FeatureIndex& index_;
  names::WordTable& words_;
  names::WordTable raw_names_;  // as the file writes them, position = index into names_
  std::vector<NbestName> names_;
  std::vector<std::string> score_names_;
  std::vector<int32_t> previous_;  // names of the previous line in order: the next line usually has the same
  size_t position_ = 0;            // in previous_
  std::vector<double> values_;     // of the feature being read
  std::vector<std::pair<int32_t, float>> row_;
  std::string scratch_;
  int64_t n_lines_ = 0;
  int64_t last_line_ = 0, last_sentence_ = 0;  // of the last whole row
  bool has_colons_ = false;
  NbestRows rows_;
};

}  // namespace dragoman::pool
