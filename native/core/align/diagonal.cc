#include "core/align/diagonal.hh"

#include <algorithm>
#include <cmath>

namespace dragoman::align {

Diagonal::Diagonal(double tension, int32_t max_length) : tension_(tension) {
  const auto length = static_cast<size_t>(max_length);
  powers_.reserve(length * (length + 1) / 2);
  for (int32_t m = 1; m <= max_length; ++m) {
    const double ratio = std::exp(-tension / m);
    double power = 1;
    for (int32_t k = 0; k < m; ++k, power *= ratio) powers_.push_back(power);
  }
}

void Diagonal::row(int32_t i, int32_t n, std::span<double> out) const {
  const auto m = static_cast<int32_t>(out.size());
  const double* powers = powers_.data() + static_cast<size_t>(m) * static_cast<size_t>(m - 1) / 2;
  const double place = static_cast<double>(i + 1) / n;
  const auto below = static_cast<int32_t>(static_cast<int64_t>(i + 1) * m / n);  // positions j <= i * m / n
  double* d = out.data();
  if (below > 0) {
    const double nearest = std::exp(-tension_ * (place - static_cast<double>(below) / m));
    for (int32_t j = 0; j < below; ++j) d[j] = nearest * powers[below - 1 - j];
  }
  if (below < m) {
    const double nearest = std::exp(-tension_ * (static_cast<double>(below + 1) / m - place));
    for (int32_t j = below; j < m; ++j) d[j] = nearest * powers[j - below];
  }
}

FeatureMoments feature_moments(std::span<const ShapeMass> shapes, double tension) {
  FeatureMoments total;
  std::vector<double> weights;
  int32_t longest = 0;
  for (const auto& shape : shapes) longest = std::max(longest, shape.n_source);
  const Diagonal diagonal(tension, longest);
  for (const auto& shape : shapes) {
    weights.resize(static_cast<size_t>(shape.n_source));
    for (int32_t j = 0; j < shape.n_target; ++j) {
      diagonal.row(j, shape.n_target, weights);  // the distance is symmetric: a column is a row with the sides swapped
      const double place = static_cast<double>(j + 1) / shape.n_target;
      double z = 0, first = 0, second = 0;
      for (int32_t i = 0; i < shape.n_source; ++i) {
        const double h = -std::abs(static_cast<double>(i + 1) / shape.n_source - place);
        const double w = weights[static_cast<size_t>(i)];
        z += w;
        first += w * h;
        second += w * h * h;
      }
      const double mean = first / z, mass = shape.mass[static_cast<size_t>(j)];
      total.mean += mass * mean;
      total.variance += mass * std::max(0.0, second / z - mean * mean);
    }
  }
  return total;
}

double fit_tension(std::span<const ShapeMass> shapes, double observed, double start) {
  double low = kMinTension, high = kMaxTension;
  double tension = std::clamp(start, low, high);
  for (int step = 0; step < 30; ++step) {
    const FeatureMoments model = feature_moments(shapes, tension);
    const double slope = observed - model.mean;
    if (std::abs(slope) <= 1e-12 * (1 + std::abs(observed))) break;  // converged, or independent of the tension
    (slope > 0 ? low : high) = tension;
    double next = tension + slope / model.variance;
    if (!(next > low && next < high)) next = (low + high) / 2;
    const bool settled = std::abs(next - tension) < 1e-6 * tension;
    tension = next;
    if (settled) break;
  }
  return tension;
}

}  // namespace dragoman::align
