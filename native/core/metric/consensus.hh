// Expected sentence-level gains of the candidates of a list, each candidate in turn being the reference: what
// minimum-Bayes-risk decoding maximises (Kumar and Byrne 2004).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/metric/chrf.hh"

namespace dragoman::metric {

// List l holds the candidates [lists[l], lists[l + 1]); `mass` is what a candidate counts as a reference.
struct ConsensusInput {
  Sentences candidates;
  std::span<const int64_t> lists;
  std::span<const double> mass;

  // Call before the first access. Throws std::invalid_argument for arrays that do not fit together and for mass that
  // is negative or not finite.
  void check() const;
};

// Candidates with the words of an earlier one of their list are left out, their mass goes to it: samples repeat.
struct DistinctLists {
  explicit DistinctLists(const ConsensusInput& input);

  RaggedVector<int32_t> candidates;
  std::vector<int64_t> lists{0};
  std::vector<double> mass;
  std::vector<int64_t> place;  // of each candidate of the input

  // A number per distinct candidate (`width` of them) as numbers of the candidates of the input.
  std::vector<double> spread(const std::vector<double>& values, size_t width = 1) const;
};

// Sums of mass x gain over the references of the list, [n_candidates]. Sentence BLEU as sacrebleu's: exponential
// smoothing, effective order.
std::vector<double> expected_bleu(const ConsensusInput& input, int order, int n_threads, Control& control);
// At most eight orders.
std::vector<double> expected_chrf(const ConsensusInput& input, const SpellingTables& spelling, int char_order,
                                  int word_order, double beta, int n_threads, Control& control);
// Of 1 - TER.
std::vector<double> expected_ter(const ConsensusInput& input, int n_threads, Control& control);
// Sums of mass x clipped matches of word n-grams of order 1..order, [n_candidates, order].
std::vector<double> expected_matches(const ConsensusInput& input, int order, int n_threads, Control& control);

}  // namespace dragoman::metric
