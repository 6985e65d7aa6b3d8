// best gain - gain of the candidate with the greatest score: to be watched, its slopes are 0.
#include <algorithm>
#include <cmath>

#include "core/optim/list_loss.hh"

namespace dragoman::optim {

namespace {

double regret(double, Scores scores, Scores gains, Slopes slopes) {
  std::fill(slopes.begin(), slopes.end(), 0.0);
  const auto chosen = std::max_element(scores.begin(), scores.end()) - scores.begin();
  return *std::max_element(gains.begin(), gains.end()) - gains[static_cast<size_t>(chosen)];
}

const RegisterLoss kRegret("regret", regret);

}  // namespace

}  // namespace dragoman::optim
