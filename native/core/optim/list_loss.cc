#include "core/optim/list_loss.hh"

#include <algorithm>
#include <cmath>

namespace dragoman::optim {

namespace {

using In = std::span<const double>;

template <typename Term>
double greatest(size_t n, Term&& term) {
  double most = term(size_t{0});
  for (size_t i = 1; i < n; ++i) most = std::max(most, term(i));
  return most;
}

double expected_gain(double gamma, In scores, In gains, std::span<double> slopes) {
  const size_t n = scores.size();
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0, weighted = 0;
  for (size_t i = 0; i < n; ++i) {
    slopes[i] = std::exp(gamma * (scores[i] - most));
    sum += slopes[i];
    weighted += slopes[i] * gains[i];
  }
  const double expected = weighted / sum;
  for (size_t i = 0; i < n; ++i) slopes[i] *= -gamma / sum * (gains[i] - expected);
  return -expected;
}

double soft_ramp(double scale, In scores, In gains, std::span<double> slopes) {
  const size_t n = scores.size();
  const auto hope = [&](size_t i) { return scores[i] - scale * (1 - gains[i]); };
  const auto fear = [&](size_t i) { return scores[i] + scale * (1 - gains[i]); };
  const double most_hoped = greatest(n, hope), most_feared = greatest(n, fear);
  double hoped = 0, feared = 0;
  for (size_t i = 0; i < n; ++i) {
    slopes[i] = std::exp(hope(i) - most_hoped);
    hoped += slopes[i];
    feared += std::exp(fear(i) - most_feared);
  }
  for (size_t i = 0; i < n; ++i) slopes[i] = std::exp(fear(i) - most_feared) / feared - slopes[i] / hoped;
  return most_feared - most_hoped + std::log(feared / hoped);
}

double likelihood(In scores, In gains, std::span<double> slopes) {
  const size_t n = scores.size();
  const double best = *std::max_element(gains.begin(), gains.end());
  double most = scores[0], most_best = -HUGE_VAL;
  for (size_t i = 0; i < n; ++i) {
    most = std::max(most, scores[i]);
    if (gains[i] == best) most_best = std::max(most_best, scores[i]);
  }
  double sum = 0, sum_best = 0;
  for (size_t i = 0; i < n; ++i) {
    slopes[i] = std::exp(scores[i] - most);
    sum += slopes[i];
    if (gains[i] == best) sum_best += std::exp(scores[i] - most_best);
  }
  for (size_t i = 0; i < n; ++i) {
    slopes[i] /= sum;
    if (gains[i] == best) slopes[i] -= std::exp(scores[i] - most_best) / sum_best;
  }
  return most - most_best + std::log(sum / sum_best);
}

// The candidate with the greatest score of those with the greatest gain.
size_t best_of(In scores, In gains) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (gains[i] > gains[best] || (gains[i] == gains[best] && scores[i] > scores[best])) best = i;
  return best;
}

// With scale 0 the perceptron's loss. Among equals the candidate with the least gain is the rival: a tie, as with
// weights that are all zero, is a mistake that can be learned from.
double hinge(double scale, In scores, In gains, std::span<double> slopes) {
  const size_t best = best_of(scores, gains);
  const auto value = [&](size_t i) { return scores[i] + scale * (gains[best] - gains[i]); };
  size_t rival = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (value(i) > value(rival) || (value(i) == value(rival) && gains[i] < gains[rival])) rival = i;
  std::fill(slopes.begin(), slopes.end(), 0.0);
  if (gains[rival] == gains[best]) return 0;
  slopes[rival] = 1;
  slopes[best] = -1;
  return value(rival) - scores[best];
}

}  // namespace

double differentiate(const ListLoss& loss, In scores, In gains, std::span<double> slopes) {
  switch (loss.kind) {
    case ListLoss::Kind::kExpectedGain:
      return expected_gain(loss.scale, scores, gains, slopes);
    case ListLoss::Kind::kSoftRamp:
      return soft_ramp(loss.scale, scores, gains, slopes);
    case ListLoss::Kind::kLikelihood:
      return likelihood(scores, gains, slopes);
    case ListLoss::Kind::kHinge:
      return hinge(loss.scale, scores, gains, slopes);
    case ListLoss::Kind::kPerceptron:
      return hinge(0, scores, gains, slopes);
    case ListLoss::Kind::kRegret: {
      std::fill(slopes.begin(), slopes.end(), 0.0);
      const auto chosen = std::max_element(scores.begin(), scores.end()) - scores.begin();
      return *std::max_element(gains.begin(), gains.end()) - gains[static_cast<size_t>(chosen)];
    }
  }
  return 0;
}

}  // namespace dragoman::optim
