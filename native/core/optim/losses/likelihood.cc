// -log of the probability of the candidates with the greatest gain.
#include <algorithm>
#include <cmath>

#include "core/optim/list_loss.hh"

namespace dragoman::optim {

namespace {

double likelihood(double, Scores scores, Scores gains, Slopes slopes) {
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

const RegisterLoss kLikelihood("likelihood", likelihood);

}  // namespace

}  // namespace dragoman::optim
