// Weights that move against gradients: stochastic gradient descent and AdaGrad, with what goes with them. Nothing is
// done per update for features that the update does not touch: the penalty shrinks a weight, and the average takes
// note of it, when the feature is met again.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/base/pages.hh"
#include "core/optim/list_loss.hh"
#include "core/optim/list_store.hh"

namespace dragoman::optim {

struct UpdateRule {
  double step = 0.1;
  double decay = 0;       // step size after e epochs: step / (1 + decay e)
  double l2 = 0;          // penalty l2 / 2 |w|^2 on the sum of the losses of all lists; each list has its share
  bool adaptive = false;  // AdaGrad: a feature's step is divided by the root of its summed squared gradients
  bool averaged = false;
};

// What differs from feature to feature; empty: 1 for all.
struct FeatureRates {
  std::span<const double> gradient;  // multiplies the step
  std::span<const double> penalty;   // multiplies the shrinkage
};

class Learner {
 public:
  // `n_lists` is the size of an epoch.
  Learner(std::span<const double> start, const UpdateRule& rule, const FeatureRates& rates, int64_t n_lists);

  // Goes once through the lists in that order, `batch` of them at a time: their gradients are taken at the same
  // weights and added. Threads share a batch; the result is the same for any number of them. Returns the sum of the
  // losses, each before its update.
  double epoch(const ListStore& lists, std::span<const int64_t> order, const ListLoss& loss, int64_t batch,
               int n_threads, Control& control);

  // For losses from outside: begin_step, then any number of `apply`, all with gradients at the weights before. `touch`
  // brings the weights of some features up to date.
  void begin_step(int64_t n_lists);
  void touch(std::span<const int32_t> ids);
  void apply(std::span<const int32_t> ids, std::span<const double> gradient);
  // The same for a loss of prepared lists, order[begin] to order[end - 1]; those after them come next. Scores at the
  // weights before the step, then the step against the slopes of the scores, one after another as the scores were.
  // Throws std::invalid_argument for another number of slopes.
  ScoredLists begin_step(const ListStore& lists, std::span<const int64_t> order, size_t begin, size_t end);
  void finish_step(const ListStore& lists, std::span<const int64_t> order, std::span<const double> slopes);
  // The weights as they stand; those of features not touched for a while may miss some shrinkage.
  std::span<double> live() { return {weights_.data(), weights_.size()}; }

  // Everything up to date.
  std::span<const double> weights();
  // The mean of the weights after each update; the weights themselves unless the rule is averaged.
  std::vector<double> average();

 private:
  struct Memory {
    double penalty = 0;  // when the weight was last brought up to date, on the clock of the penalty
    double rate = 1, penalty_rate = 1;
    int64_t n_steps = 1;  // when the sum was
  };
  struct Sums {
    double weights = 0;  // after each step before n_steps
    double squares = 0;  // of gradients
  };
  double shrink(const Memory& memory) const { return (penalty_ - memory.penalty) * memory.penalty_rate; }
  double current(int32_t id) const;
  double bring_up(int32_t id);
  void move(int32_t id, double gradient);
  void prefetch(std::span<const int32_t> ids) const;
  double online(const ListStore& lists, std::span<const int64_t> order, const ListLoss& loss, Control& control);
  double batched(const ListStore& lists, std::span<const int64_t> order, const ListLoss& loss, int64_t batch,
                 int n_threads, Control& control);

  UpdateRule rule_;
  int64_t n_lists_;
  Pages<double> weights_;
  Pages<Memory> memory_;  // empty where a weight needs none: plain steps
  Pages<Sums> sums_;      // empty unless averaged or adaptive
  int64_t n_steps_ = 0, n_seen_ = 0;
  double step_ = 0;     // of this step
  double penalty_ = 0;  // the penalty's clock: the sum of step x l2 x share
};

}  // namespace dragoman::optim
