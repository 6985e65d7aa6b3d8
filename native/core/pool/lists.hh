// Candidate lists of many shards for online learners, which visit one list after another, each with its gains.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/pool/candidates.hh"

namespace dragoman::pool {

struct ListShard {
  Candidates candidates;
  std::span<const double> stats;    // row-major, n_stats per candidate
  std::span<const double> gains;    // of each candidate; empty if gains come from a pseudo-corpus
  std::span<const double> lengths;  // of each sentence, in words
};

// One sentence's candidates: [begin, end) of its shard.
struct CandidateList {
  const ListShard* shard;
  int64_t sentence;  // of its shard
  int64_t begin, end;
  double length;

  size_t size() const { return static_cast<size_t>(end - begin); }
  std::span<const double> gains() const { return shard->gains.subspan(static_cast<size_t>(begin), size()); }
};

// The lists of all shards, numbered consecutively. Arrays may be mapped from files; only visited lists are read.
class Lists {
 public:
  // Throws std::invalid_argument for inconsistent arrays.
  Lists(std::vector<ListShard> shards, size_t n_stats);

  int64_t size() const { return starts_.back(); }
  size_t n_stats() const { return n_stats_; }
  bool has_gains() const;
  // Throws std::invalid_argument if the position is out of range.
  CandidateList operator[](int64_t position) const;
  std::span<const double> stats(const CandidateList& list, size_t candidate) const {
    return list.shard->stats.subspan((static_cast<size_t>(list.begin) + candidate) * n_stats_, n_stats_);
  }
  // Whether a feature that is not frozen differs between candidates of some list.
  bool vary(std::span<const uint8_t> frozen) const;
  // Statistics of the 1-best candidates under `weights`, summed over the lists at `positions`.
  std::vector<double> totals(std::span<const int64_t> positions, std::span<const double> weights, int n_threads,
                             Control& control) const;

 private:
  std::vector<ListShard> shards_;
  std::vector<int64_t> starts_{0};
  size_t n_stats_;
};

// w.f of each candidate of a list.
void score_list(const CandidateList& list, std::span<const double> weights, std::vector<double>& scores);

// A sparse vector; ids ascending.
struct SparseDifference {
  std::vector<int32_t> ids;
  std::vector<double> values;
};

// f(a) - f(b) without frozen features (none if `frozen` is empty) and without zeros.
SparseDifference difference(const Candidates& candidates, int64_t a, int64_t b, std::span<const uint8_t> frozen);
double dot(const SparseDifference& a, const SparseDifference& b);

}  // namespace dragoman::pool
