// Losses of candidate lists that compare a few extreme candidates, with sparse subgradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/optim/hope_fear.hh"
#include "core/optim/spread_bound.hh"
#include "core/pool/candidates.hh"

namespace dragoman::optim {

// The cost of a candidate is the best gain of its list minus its own.
struct MarginLoss {
  Hope hope;
  Fear fear;
  size_t local_size;    // of a local hope
  bool ramp;            // a difference of maxima, else a hinge with y+ held fixed
  SpreadBound bound;    // B
  double bound_weight;  // of the excess of the spread over B
};

struct LossGradient {
  double value = 0;
  std::vector<int32_t> ids;      // ascending
  std::vector<double> values;    // parallel to ids
  std::vector<int32_t> n_lists;  // parallel to ids: lists that have a gradient there
};

// Summed over the lists.
LossGradient margin_loss(const pool::Candidates& candidates, std::span<const double> gains,
                         std::span<const double> weights, const MarginLoss& loss);

}  // namespace dragoman::optim
