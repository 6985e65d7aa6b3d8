// The alignment distribution of Dyer, Chahuneau and Smith (2013): target position j of m aligns to source position i of
// n with probability proportional to exp(-tension * |i / n - j / m|), positions from 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::align {

// Unnormalised weights exp(-tension * |i / n - j / m|). For a fixed i they fall geometrically on both sides of
// j = i * m / n, so two exponentials and a table of powers give a whole row.
class Diagonal {
 public:
  Diagonal(double tension, int32_t max_length);
  double tension() const { return tension_; }
  // The weights of source position i (from 0) of n for all m = out.size() target positions.
  void row(int32_t i, int32_t n, std::span<double> out) const;

 private:
  double tension_;
  std::vector<double> powers_;  // exp(-tension / length)^k at length * (length - 1) / 2 + k, k < length
};

// Sentence pairs with the same lengths: mass[j] is the expected number of their target words at position j that are
// aligned to a source word.
struct ShapeMass {
  int32_t n_source, n_target;
  std::vector<double> mass;
};

// Sums over all masses of the mean and the variance of the feature -|i / n - j / m| under `tension`.
struct FeatureMoments {
  double mean = 0, variance = 0;
};
FeatureMoments feature_moments(std::span<const ShapeMass> shapes, double tension);

inline constexpr double kMinTension = 0.1, kMaxTension = 20.0;

// The M-step of the tension: the value whose expected feature sum (increasing in the tension) equals `observed`, by
// bracketed Newton iterations; clamped to [kMinTension, kMaxTension].
double fit_tension(std::span<const ShapeMass> shapes, double observed, double start);

}  // namespace dragoman::align
