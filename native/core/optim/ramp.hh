// Ramp loss by the concave-convex procedure and subgradient steps: Rampion (Gimpel and Smith 2012).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/optim/hope_fear.hh"
#include "core/pool/lists.hh"

namespace dragoman::optim {

struct RampSettings {
  Hope hope;       // the candidate of the concave part: fixed between calls of fix_hopes
  Fear fear;       // that of the convex part
  double step;     // eta
  double penalty;  // what a step takes off the distance from the start, as a share: eta C / n
};

class RampLearner {
 public:
  // `rates` has one element per weight, which multiplies its steps; 0 for a weight that never moves. Lists bring their
  // gains.
  RampLearner(std::shared_ptr<const pool::Lists> lists, std::vector<double> start, std::vector<double> rates,
              const RampSettings& settings);

  // Chooses the hopes of the lists at `positions` by the present weights.
  void fix_hopes(std::span<const int64_t> positions, int n_threads, Control& control);
  // A subgradient step for each list in that order; fix_hopes must have seen them. Returns the sum of the losses.
  double descend(std::span<const int64_t> positions, Control& control);
  std::vector<double> weights() const;

 private:
  // The weight is start + scale * offset, so that one number shrinks all distances from the start.
  struct Weight {
    double start, offset;
  };
  void score(const pool::CandidateList& list, std::vector<double>& scores) const;

  std::shared_ptr<const pool::Lists> lists_;
  std::vector<Weight> weights_;
  std::vector<double> rates_;
  RampSettings settings_;
  std::vector<int64_t> hopes_;
  double scale_ = 1;
};

}  // namespace dragoman::optim
