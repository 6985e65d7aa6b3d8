// Upper envelopes of lines score + t x slope, built line by line.
#pragma once

#include <cstddef>
#include <limits>

namespace dragoman {

// Adds a line to the envelope hull[0 .. n) and returns its new size. Lines come in ascending order of slope; each hides
// the last ones from some t on. `Line` has `slope`, `score` and `from`, where it begins to be the best; of equal lines
// the first stays. There must be room for one more.
template <typename Line>
size_t add_to_hull(Line* hull, size_t n, Line next) {
  next.from = -std::numeric_limits<double>::infinity();
  while (n > 0) {
    const Line& last = hull[n - 1];
    if (next.slope == last.slope) {
      if (next.score <= last.score) return n;
    } else {
      next.from = (last.score - next.score) / (next.slope - last.slope);
      if (next.from > last.from) break;
    }
    --n;
    next.from = -std::numeric_limits<double>::infinity();
  }
  hull[n] = next;
  return n + 1;
}

}  // namespace dragoman
