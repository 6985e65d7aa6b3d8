#include "core/align/dirichlet.hh"

#include <algorithm>
#include <cmath>

namespace dragoman::align {

namespace {

constexpr double kMinProb = 1e-37;  // keeps float32 away from zero and from slow subnormals
constexpr double kNoCount = 1e-12;  // smaller counts are treated as 0, which saves most digamma calls

}  // namespace

double digamma(double x) {
  double result = 0;
  for (; x < 6; ++x) result -= 1 / x;
  const double f = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132)))));
}

void normalize(std::span<const double> counts, double alpha, std::span<float> probs) {
  double total = 0;
  for (const double c : counts)
    if (c >= 0) total += c + alpha;
  if (!(total > 0)) return;
  const auto store = [&](size_t k, double p) { probs[k] = static_cast<float>(std::max(p, kMinProb)); };
  if (alpha > 0) {
    const double digamma_total = digamma(total);
    const double none = std::exp(digamma(alpha) - digamma_total);
    for (size_t k = 0; k < counts.size(); ++k)
      if (counts[k] >= 0) store(k, counts[k] < kNoCount ? none : std::exp(digamma(counts[k] + alpha) - digamma_total));
  } else {
    for (size_t k = 0; k < counts.size(); ++k)
      if (counts[k] >= 0) store(k, counts[k] / total);
  }
}

}  // namespace dragoman::align
