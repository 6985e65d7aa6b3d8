// Minimum error rate training (Och 2003): hill climbing by exact line searches from many starting points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/optim/line_search.hh"

namespace dragoman::optim {

struct ClimbSettings {
  int max_passes;    // over all coordinates
  int n_directions;  // random ones, tried each time that no coordinate helps
  uint64_t seed;
  std::vector<Interval> bounds;  // of each chosen weight
};

struct Climb {
  std::vector<double> weights;
  double gain = 0;
  int64_t n_passes = 0, n_searches = 0;
};

// One climb per row of `starts` (row-major, one weight per chosen feature), each with the random stream (seed, its
// row).
std::vector<Climb> climb(const Surface& surface, std::span<const double> starts, const ClimbSettings& settings,
                         int n_threads, Control& control);

}  // namespace dragoman::optim
