// The metric along a line w + t.d: between two neighbouring corners of the sentences' envelopes it is constant, so one
// sweep over the corners in the order of t knows it everywhere (Och 2003; on forests Kumar et al. 2009).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/metric/scorer.hh"

namespace dragoman::optim {

struct Interval {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

struct LineOptimum {
  double step = 0;  // inside the best interval, away from its ends; 0 when nothing is better than t = 0
  double rank = 0;  // the scorer's, at step
};

// What the sweep knows of t = 0, and how far it may go.
struct SweepLimits {
  double rank;   // of the scorer at t = 0
  double scale;  // the greatest change of t that a weight of its present size is worth
  double reach;  // how far a step goes into an interval at most
  Interval bounds;
};

// The best of all steps. Corner i is at(i), ascending; `swept` are the summed statistics before the first corner, and
// advance(i) changes them to those behind corner i.
template <typename At, typename Advance>
LineOptimum sweep_line(size_t n_corners, At&& at, Advance&& advance, std::span<const double> swept,
                       const metric::Scorer& scorer, const SweepLimits& limits) {
  // Intervals narrower than this part of the weights would not survive a change of the weights' last digits.
  constexpr double kNarrow = 1e-6;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LineOptimum optimum{0, limits.rank};
  if (n_corners == 0) return optimum;
  const Interval bounds = limits.bounds;
  const auto narrow = [&](double a, double b) { return kNarrow * (limits.scale + std::min(std::abs(a), std::abs(b))); };
  // Neighbouring intervals with the same metric are one plateau. Of equally good ones the widest is the best.
  Interval best{0, 0}, plateau{0, 0};
  double best_rank = -kInfinity, plateau_rank = -kInfinity;
  double lower = bounds.lower;
  for (size_t i = 0;; ++i) {
    const bool last = i == n_corners;
    const double upper = last ? bounds.upper : std::min(at(i), bounds.upper);
    if (upper - lower > narrow(lower, upper)) {
      const double rank = scorer.rank(swept);
      const bool goes_on =
          lower == plateau.upper && !metric::exceeds(rank, plateau_rank) && !metric::exceeds(plateau_rank, rank);
      plateau = {goes_on ? plateau.lower : lower, upper};
      if (!goes_on) plateau_rank = rank;
      const bool wider = plateau.lower == best.lower || plateau.upper - plateau.lower > best.upper - best.lower;
      if (metric::exceeds(plateau_rank, best_rank) || (wider && !metric::exceeds(best_rank, plateau_rank))) {
        best = plateau;
        best_rank = plateau_rank;
      }
    }
    if (last || at(i) >= bounds.upper) break;
    lower = std::max(lower, at(i));
    advance(i);
  }
  if (!metric::exceeds(best_rank, limits.rank)) return optimum;
  // Beyond the outermost corner nothing changes any more: a tenth of the corners' range is far enough.
  const double first = at(0), final = at(n_corners - 1);
  const double beyond = 0.1 * std::max({final - first, limits.scale, std::abs(first), std::abs(final)});
  const bool open = best.lower == -kInfinity || best.upper == kInfinity;
  const double far = open ? beyond : (best.upper - best.lower) / 2;
  const double inside = std::min(far, std::max(limits.reach, narrow(best.lower, best.upper)));
  optimum.rank = best_rank;
  if (best.lower >= 0)
    optimum.step = best.lower + inside;
  else if (best.upper <= 0)
    optimum.step = best.upper - inside;
  else  // around 0, where nothing can be better but by rounding
    optimum.rank = limits.rank;
  return optimum;
}

// Envelopes of many sentences: the lines of sentence s are [first[s], first[s + 1]); a line is the best of its sentence
// from `from` on and has the statistics of row rows[line] of `stats`.
struct EnvelopeStatistics {
  std::span<const int64_t> first;
  std::span<const double> from;
  std::span<const int64_t> rows;
  std::span<const double> stats;  // row-major
};

struct LineStep {
  double step = 0;
  double gain = 0;  // at step
};

// The best step along the line, and the gain there. `scale` as above. Throws std::invalid_argument for arrays that do
// not fit together.
LineStep sweep_envelopes(const EnvelopeStatistics& lines, const metric::Scorer& scorer, double scale);

}  // namespace dragoman::optim
