// Which candidates of a list a margin learner compares (Chiang 2012): by model score, by gain, or by both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dragoman::optim {

// What stands for the reference.
enum class Hope : uint8_t {
  kCostDiminished,  // model score + gain
  kOracle,          // gain
  kModel,           // model score
};

// What it is compared with.
enum class Fear : uint8_t {
  kCostAugmented,  // model score - gain
  kWorst,          // least gain
  kModel,          // model score
};

// Positions in the list. The first of equals; equal gains are ordered by model score.
inline size_t find_hope(std::span<const double> scores, std::span<const double> gains, Hope rule) {
  size_t top = 0;
  for (size_t c = 1; c < scores.size(); ++c) {
    const bool better = rule == Hope::kCostDiminished ? scores[c] + gains[c] > scores[top] + gains[top]
                        : rule == Hope::kModel || gains[c] == gains[top] ? scores[c] > scores[top]
                                                                         : gains[c] > gains[top];
    if (better) top = c;
  }
  return top;
}

inline size_t find_fear(std::span<const double> scores, std::span<const double> gains, Fear rule) {
  size_t top = 0;
  for (size_t c = 1; c < scores.size(); ++c) {
    const bool better = rule == Fear::kCostAugmented ? scores[c] - gains[c] > scores[top] - gains[top]
                        : rule == Fear::kModel || gains[c] == gains[top] ? scores[c] > scores[top]
                                                                         : gains[c] < gains[top];
    if (better) top = c;
  }
  return top;
}

}  // namespace dragoman::optim
