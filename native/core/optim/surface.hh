// Candidate lists as an exact line search wants them: presorted by every feature.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/metric/scorer.hh"
#include "core/pool/candidates.hh"

namespace dragoman::optim {

// Candidates with the metric's statistics, row-major, n_stats a candidate.
struct ScoredCandidates {
  pool::Candidates candidates;
  std::span<const double> stats;
};

// The candidates as an exact line search wants them: for every chosen feature, and every sentence where it tells
// candidates apart, the candidates sorted by the feature's value. Immutable; threads share it.
class Surface {
 public:
  // Sentences of the shards follow one another. `weights` (one per feature of the index) fixes the part of the model
  // score of features that are not chosen. The shards' arrays must outlive the surface.
  Surface(std::vector<ScoredCandidates> shards, std::span<const int32_t> chosen, std::span<const double> weights,
          std::shared_ptr<const metric::Scorer> scorer, int n_threads, Control& control);

  size_t n_chosen() const { return features_.size(); }
  const metric::Scorer& scorer() const { return *scorer_; }
  // The spread (standard deviation) of a chosen feature among the candidates, mean over the sentences where it tells
  // them apart: that of a rare feature is no smaller for its being rare. 0 if it never does.
  double spread(size_t k) const { return features_[k].spread; }

 private:
  friend class Point;
  struct Sentence {
    int64_t begin;  // of its candidates
    int32_t size;
    const double* stats;  // of its first candidate
  };
  struct Column {  // one feature in one sentence
    int32_t sentence;
    int32_t n_flattest, n_steepest;  // candidates with the least and the greatest slope
    size_t at;                       // of its first candidate in order and slopes
  };
  struct Feature {  // where it tells candidates apart
    std::vector<Column> columns;
    std::vector<int32_t> order;  // candidates, counted within the sentence, ascending by slope, then by position
    std::vector<float> slopes;   // by position
    double spread = 0;
  };
  // Calls body(k, slopes) for each chosen feature that differs among the candidates of sentence s of a shard.
  template <typename Body>
  void for_each_column(const pool::Candidates& candidates, int64_t s, std::span<const int32_t> place,
                       Body&& body) const;

  std::vector<Sentence> sentences_;
  std::vector<Feature> features_;
  std::vector<double> base_;  // model score of the features that are not chosen
  size_t n_stats_;
  int64_t largest_ = 0;
  std::shared_ptr<const metric::Scorer> scorer_;
};

}  // namespace dragoman::optim
