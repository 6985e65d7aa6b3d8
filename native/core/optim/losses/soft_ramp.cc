// log sum exp(score + cost) - log sum exp(score - cost), cost = scale x (1 - gain).
#include <algorithm>
#include <cmath>

#include "core/optim/list_loss.hh"

namespace dragoman::optim {

namespace {

template <typename Term>
double greatest(size_t n, Term&& term) {
  double most = term(size_t{0});
  for (size_t i = 1; i < n; ++i) most = std::max(most, term(i));
  return most;
}

double soft_ramp(double scale, Scores scores, Scores gains, Slopes slopes) {
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

const RegisterLoss kSoftRamp("soft-ramp", soft_ramp);

}  // namespace

}  // namespace dragoman::optim
