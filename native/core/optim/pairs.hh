// Pairs of candidates for ranking (Hopkins and May 2011, Figure 4), and their difference vectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/pool/candidates.hh"

namespace dragoman::optim {

struct PairSettings {
  int64_t n_draws = 5000;   // gamma
  int64_t n_kept = 50;      // xi
  double threshold = 0.05;  // the step of alpha
  // Instead of the step: a logistic function centred at the mean differential of the sentence's candidate pairs, in
  // units of their standard deviation.
  bool logistic = false;
  uint64_t seed = 1, round = 0;
};

struct Pairs {
  std::vector<int64_t> better, worse;  // candidates
};

// `gains` is the gold score of each candidate, `sentence_ids` names each sentence's random stream.
Pairs sample_pairs(std::span<const int64_t> sentences, std::span<const int32_t> sentence_ids,
                   std::span<const double> gains, const PairSettings& settings, int n_threads, Control& control);

// Row i is the features of better[i] minus those of worse[i].
pool::SparseRows difference_rows(const pool::Candidates& candidates, std::span<const int64_t> better,
                                 std::span<const int64_t> worse);

}  // namespace dragoman::optim
