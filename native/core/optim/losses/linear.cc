// Slopes that are known: the gradient of a loss from outside, with its slopes in the place of gains.
#include "core/optim/list_loss.hh"

namespace dragoman::optim {

namespace {

double linear(double, Scores scores, Scores gains, Slopes slopes) {
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    slopes[i] = gains[i];
    sum += gains[i] * scores[i];
  }
  return sum;
}

const RegisterLoss kLinear("linear", linear);

}  // namespace

}  // namespace dragoman::optim
