// max (score + scale x (best gain - gain)) - score of the best, and with scale 0 the perceptron's loss.
#include <algorithm>
#include <cmath>

#include "core/optim/list_loss.hh"

namespace dragoman::optim {

namespace {

// The candidate with the greatest score of those with the greatest gain.
size_t best_of(Scores scores, Scores gains) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (gains[i] > gains[best] || (gains[i] == gains[best] && scores[i] > scores[best])) best = i;
  return best;
}

// Among equals the candidate with the least gain is the rival: a tie, as with
// weights that are all zero, is a mistake that can be learned from.
double hinge(double scale, Scores scores, Scores gains, Slopes slopes) {
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

double perceptron(double, Scores scores, Scores gains, Slopes slopes) { return hinge(0, scores, gains, slopes); }

const RegisterLoss kHinge("hinge", hinge);
const RegisterLoss kPerceptron("perceptron", perceptron);

}  // namespace

}  // namespace dragoman::optim
