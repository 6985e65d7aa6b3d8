// A loss and its gradient, summed over the lists of a shard.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/optim/list_loss.hh"
#include "core/pool/candidates.hh"

namespace dragoman::optim {

// Features are those that some candidate has, ascending; the gradient may be 0.
struct ListGradient {
  double value = 0;
  std::vector<int32_t> ids;
  std::vector<double> values;
  std::vector<int32_t> n_lists;  // in which a candidate has the feature
};

ListGradient list_gradient(const pool::Candidates& candidates, std::span<const double> gains,
                           std::span<const double> weights, const ListLoss& loss, int n_threads, Control& control);

}  // namespace dragoman::optim
