// Losses of one candidate list, as functions of the candidates' model scores. None changes when the same number is
// added to all scores of a list, which is what lets list_columns.hh leave out what candidates have in common.
#pragma once

#include <span>

namespace dragoman::optim {

struct ListLoss {
  enum class Kind {
    kExpectedGain,  // -sum_e p(e) gain(e), p the softmax of scale x score
    kSoftRamp,      // log sum exp(score + cost) - log sum exp(score - cost), cost = scale x (1 - gain)
    kLikelihood,    // -log of the probability of the candidates with the greatest gain
    kHinge,         // max (score + scale x (best gain - gain)) - score of the best
    kPerceptron,    // max score - score of the best
    kRegret,        // best gain - gain of the candidate with the greatest score: to be watched, its slopes are 0
  };
  Kind kind = Kind::kExpectedGain;
  double scale = 1;
};

// The loss; its derivative with respect to each score goes to `slopes`. At least one candidate; all numbers finite.
// Where several candidates have the greatest gain, "the best" is the one the model likes most.
double differentiate(const ListLoss& loss, std::span<const double> scores, std::span<const double> gains,
                     std::span<double> slopes);

}  // namespace dragoman::optim
