// Losses of one candidate list, as functions of the candidates' model scores. None changes when the same number is
// added to all scores of a list, which is what lets list_columns.hh leave out what candidates have in common. A loss is
// one file in losses/, which registers itself.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace dragoman::optim {

using Scores = std::span<const double>;
using Slopes = std::span<double>;

// The loss; its derivative with respect to each score goes to `slopes`. At least one candidate; all numbers finite.
// `setting` is the loss's own: how sharp it is, or the scale of costs. Where several candidates have the greatest gain,
// "the best" is the one the model likes most.
using LossFunction = double (*)(double setting, Scores scores, Scores gains, Slopes slopes);

struct ListLoss {
  LossFunction function;
  double setting;
};

inline double differentiate(const ListLoss& loss, Scores scores, Scores gains, Slopes slopes) {
  return loss.function(loss.setting, scores, gains, slopes);
}

// A constant of this type at namespace scope makes a loss known by its name.
struct RegisterLoss {
  RegisterLoss(std::string name, LossFunction function);
};

// Throws std::invalid_argument for a name that no loss has.
ListLoss list_loss(const std::string& name, double setting);
// In alphabetical order.
std::vector<std::string> list_loss_names();

}  // namespace dragoman::optim
