// How far features differ within candidate lists: the unit that dense features are measured in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/pool/lists.hh"

namespace dragoman::optim {

// The summed square distance from their mean of `n` values: those of a column, and as many zeros as it lacks.
template <typename T>
double square_distance(std::span<const T> column, double n) {
  double mean = 0, squares = 0;
  for (const T value : column) mean += static_cast<double>(value) / n;
  for (const T value : column) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  return squares + (n - static_cast<double>(column.size())) * mean * mean;
}

// Of each feature, over the lists at some positions in which it differs between candidates.
struct ListSpread {
  std::vector<double> variances;  // its mean square distance from the list's mean; 0 if it differs in none
  std::vector<int64_t> counts;    // how many lists these are
};

ListSpread list_spread(const pool::Lists& lists, std::span<const int64_t> positions, int64_t n_features,
                       Control& control);

}  // namespace dragoman::optim
