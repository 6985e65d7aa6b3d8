// Which candidates of a list a margin learner compares: by model score, by gain, or by both (Chiang 2012; Eidelman et
// al. 2013, section 6).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace dragoman::optim {

// What stands for the reference.
enum class Hope : uint8_t {
  kCostBased,  // model score + gain
  kMaxBleu,    // gain
  kLocal,      // gain, among the candidates of the greatest model score (Liang et al. 2006)
  kModel,      // model score
};

// What it is compared with.
enum class Fear : uint8_t {
  kCostBased,   // model score - gain
  kMaxCost,     // least gain
  kPrediction,  // model score
};

// Positions in the list. The first of equals; equal gains are ordered by model score. `local_size` is the number of
// candidates that kLocal considers.
inline size_t find_hope(std::span<const double> scores, std::span<const double> gains, Hope rule, size_t local_size) {
  if (rule == Hope::kLocal && local_size < scores.size()) {
    std::vector<size_t> near(scores.size());
    std::iota(near.begin(), near.end(), size_t{0});
    const auto end = near.begin() + static_cast<std::ptrdiff_t>(local_size);
    std::partial_sort(near.begin(), end, near.end(),
                      [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
    return *std::max_element(near.begin(), end, [&](size_t a, size_t b) { return gains[a] < gains[b]; });
  }
  size_t top = 0;
  for (size_t c = 1; c < scores.size(); ++c) {
    const bool better = rule == Hope::kCostBased ? scores[c] + gains[c] > scores[top] + gains[top]
                        : rule == Hope::kModel || gains[c] == gains[top] ? scores[c] > scores[top]
                                                                         : gains[c] > gains[top];
    if (better) top = c;
  }
  return top;
}

inline size_t find_fear(std::span<const double> scores, std::span<const double> gains, Fear rule) {
  size_t top = 0;
  for (size_t c = 1; c < scores.size(); ++c) {
    const bool better = rule == Fear::kCostBased ? scores[c] - gains[c] > scores[top] - gains[top]
                        : rule == Fear::kPrediction || gains[c] == gains[top] ? scores[c] > scores[top]
                                                                              : gains[c] < gains[top];
    if (better) top = c;
  }
  return top;
}

}  // namespace dragoman::optim
