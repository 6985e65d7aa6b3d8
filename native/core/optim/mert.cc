#include "core/optim/mert.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/base/random.hh"

namespace dragoman::optim {

namespace {

// Where t may go so that weight + t x slope stays inside its bounds.
Interval allowed(double weight, double slope, Interval bounds) {
  if (slope == 0) return {};
  const double a = (bounds.lower - weight) / slope, b = (bounds.upper - weight) / slope;
  return slope > 0 ? Interval{std::min(a, 0.0), std::max(b, 0.0)} : Interval{std::min(b, 0.0), std::max(a, 0.0)};
}

Climb climb_from(const Surface& surface, std::span<const double> start, const ClimbSettings& settings, uint64_t number,
                 Control& control) {
  Random random({settings.seed, number});
  const size_t n = surface.n_chosen();
  Point point(surface, start);
  std::vector<size_t> order;
  for (size_t k = 0; k < n; ++k)
    if (surface.spread(k) > 0) order.push_back(k);
  std::vector<double> direction(n);
  Climb result;
  while (result.n_passes < settings.max_passes) {
    ++result.n_passes;
    bool moved = false;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(static_cast<uint32_t>(i))]);
    for (const size_t k : order) {
      control.check();
      const auto optimum = point.search(k, allowed(point.weights()[k], 1, settings.bounds[k]));
      moved |= point.move(k, optimum);
    }
    for (int r = 0; !moved && r < settings.n_directions; ++r) {
      control.check();
      // A few features at a time, each in units of its spread.
      std::fill(direction.begin(), direction.end(), 0.0);
      Interval interval;
      for (int d = 0; d < 3; ++d) {
        const size_t k = order[random.below(static_cast<uint32_t>(order.size()))];
        direction[k] = random.normal() / surface.spread(k);
      }
      for (const size_t k : order) {
        const auto one = allowed(point.weights()[k], direction[k], settings.bounds[k]);
        interval = {std::max(interval.lower, one.lower), std::min(interval.upper, one.upper)};
      }
      const auto optimum = point.search(direction, interval);
      moved |= point.move(direction, optimum);
    }
    if (!moved) break;
  }
  point.refresh();
  result.weights = point.weights();
  result.gain = point.gain();
  result.n_searches = point.n_searches();
  return result;
}

}  // namespace

std::vector<Climb> climb(const Surface& surface, std::span<const double> starts, const ClimbSettings& settings,
                         int n_threads, Control& control) {
  const size_t n = surface.n_chosen();
  if (n == 0 || starts.size() % n != 0 || settings.bounds.size() != n)
    throw std::invalid_argument("starts and bounds: one number per chosen feature expected");
  std::vector<Climb> results(starts.size() / n);
  parallel_chunks(static_cast<int64_t>(results.size()), 1, n_threads, control, [&](int64_t begin, int64_t, int) {
    const auto i = static_cast<size_t>(begin);
    results[i] = climb_from(surface, starts.subspan(i * n, n), settings, i, control);
  });
  return results;
}

}  // namespace dragoman::optim
