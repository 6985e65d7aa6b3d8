// -sum_e p(e) gain(e), p the softmax of gamma x score.
#include <algorithm>
#include <cmath>

#include "core/optim/list_loss.hh"

namespace dragoman::optim {

namespace {

double expected_gain(double gamma, Scores scores, Scores gains, Slopes slopes) {
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

const RegisterLoss kExpectedGain("expected-gain", expected_gain);

}  // namespace

}  // namespace dragoman::optim
