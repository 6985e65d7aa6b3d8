// Candidate lists prepared for learning: in columns, without what all candidates of a list have in common. Lists
// beyond a limit of memory go to a scratch file and are mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/control.hh"
#include "core/base/pages.hh"
#include "core/base/temp_file.hh"
#include "core/optim/list_columns.hh"
#include "core/optim/list_loss.hh"
#include "core/optim/list_view.hh"
#include "core/pool/candidates.hh"

namespace dragoman::optim {

class ListStore {
 public:
  // `folder` is for the scratch file.
  ListStore(int64_t n_features, int64_t memory_bytes, std::string folder);

  // Appends the lists in which a feature that is not fixed differs between candidates. Throws InputError for features
  // or gains that no pool may have.
  void add(const pool::Candidates& candidates, std::span<const double> gains, const FixedFeatures& fixed, int n_threads,
           Control& control);
  // After the last list, before lists are used.
  void seal();
  // Fixed features contribute `scale` times as much to scores from now on as by the weights they were added with.
  // Throws std::invalid_argument unless the scale is positive and finite.
  void scale_fixed(double scale);

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  int64_t n_features() const { return static_cast<int64_t>(counts_.size()); }
  int64_t n_bytes() const { return n_bytes_; }
  ListView operator[](int64_t list) const;
  // Announces that a list is wanted soon: where its ids begin; the processor sees by itself how it goes on.
  void prefetch(int64_t list) const {
    const Entry& entry = entries_[static_cast<size_t>(list)];
    const std::byte* ids = entry.data + (entry.has_offsets ? 16 : 8) * static_cast<int64_t>(entry.n_candidates);
    for (int64_t at = 0; at < 256; at += 64) __builtin_prefetch(ids + at);
  }

  // Of each list, the number of its sentence, counted over all that was added.
  std::span<const int64_t> sentences() const { return sentences_; }
  // In how many lists a feature that is not fixed occurs, and in how many of them it differs between candidates.
  struct Counts {
    int32_t n_lists = 0;
    int32_t n_differing = 0;
  };
  std::span<const Counts> counts() const { return counts_.span(); }
  // Of each feature its mean square distance from the list's mean, over the lists in which it differs; 0 if in none.
  std::vector<double> variances(Control& control) const;
  // The mean square distance of scores from their list's mean, over some lists.
  double score_variance(std::span<const int64_t> order, std::span<const double> weights, Control& control) const;
  // Throws std::invalid_argument unless the store is sealed and all are lists of it.
  void check_order(std::span<const int64_t> order) const;
  // The loss summed over some lists.
  double loss(const ListLoss& loss, std::span<const int64_t> order, std::span<const double> weights, int n_threads,
              Control& control) const;
  // What a loss from outside is a function of.
  ScoredLists scored(std::span<const int64_t> order, std::span<const double> weights, Control& control) const;

 private:
  // gains, offsets (if any feature is fixed), ids, ends, then rows and values, the long ones first: a byte for each row
  // of a short list, and for each value if all are small whole numbers. Filled up to the size of a double.
  struct Entry {
    const std::byte* data = nullptr;  // null before the file is mapped
    int64_t file_offset = 0;
    int32_t n_candidates = 0, n_columns = 0, n_values = 0;
    bool has_offsets = false, has_short_rows = false, has_short_values = false;
  };
  struct Piece {
    std::vector<std::byte> bytes;
    std::vector<Entry> entries;  // file_offset counts from the piece's start
    std::vector<int64_t> sentences;
    std::vector<int32_t> columns, constants;  // features, once for each list
  };
  void append_list(const ListColumns& columns, std::span<const double> gains, bool has_offsets, Piece& piece) const;
  void keep(Piece&& piece);

  int64_t memory_bytes_;
  std::string folder_;
  bool sealed_ = false;
  double fixed_scale_ = 1;
  int64_t n_sentences_ = 0, n_bytes_ = 0, n_bytes_in_memory_ = 0;
  std::vector<Entry> entries_;
  std::vector<int64_t> sentences_;
  Pages<Counts> counts_;
  std::vector<std::vector<std::byte>> pieces_;
  std::unique_ptr<TempFile> file_;
};

}  // namespace dragoman::optim
