// Online margin learning on candidate lists: MIRA (Crammer et al. 2006; Chiang 2012) and its relative-margin form RM
// (Eidelman, Marton and Resnik 2013), by passive-aggressive steps or by cutting planes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/metric/pseudo_corpus.hh"
#include "core/optim/hope_fear.hh"
#include "core/optim/margin_dual.hh"
#include "core/optim/spread_bound.hh"
#include "core/pool/lists.hh"

namespace dragoman::optim {

struct MarginSettings {
  double limit;        // C
  SpreadBound bound;   // B
  double bound_limit;  // D
  bool cutting_plane;
  bool exact;              // upper and lower bounds share D; otherwise each kind has it
  Hope hope;               // y+
  size_t local_size;       // of a local hope
  Fear fear;               // y-, of passive-aggressive steps
  bool hope_background;    // the past is y+, not the model's best
  double gain_scale;       // multiplies gains
  int max_iterations;      // MaxIter
  double tolerance;        // epsilon
  double bound_tolerance;  // epsilon_B
  int64_t batch;           // lists that are visited with the same weights; their steps are averaged
};

// Sums over the lists visited. A constraint fired if it moved the weights.
struct Pass {
  int64_t n_lists = 0, n_updates = 0;
  int64_t n_margin = 0, n_upper = 0, n_lower = 0;  // lists in which a constraint of the kind fired
  double loss = 0;                                 // hinge before the step
  double spread = 0, spread_square = 0;            // s(y+) - s(worst) before the step
  double score_range = 0, gain_range = 0;          // greatest - least before the step
};

// Sums over lists of more than one candidate: what relative units are computed from.
struct Survey {
  int64_t n_lists = 0, n_fear = 0, n_worst = 0;  // n_fear, n_worst: lists where the difference can move weights
  double score_range = 0, gain_range = 0;        // greatest - least
  double fear_square = 0, worst_square = 0;      // omega' R omega of y+ and y-, of y+ and the least score
};

struct MarginState {
  std::vector<double> weights, past;
  int64_t ticks = 0;
  std::vector<double> background;  // of the context; empty without one
  double length = 0;
};

class MarginLearner {
 public:
  // Gains are the lists' own unless there is a context. `rates` has one element per weight, the diagonal of R: not
  // negative, 0 for a weight that never moves.
  MarginLearner(std::shared_ptr<const pool::Lists> lists, std::vector<double> start, std::vector<double> rates,
                std::optional<metric::PseudoCorpus> context, const MarginSettings& settings);

  // Goes on with other lists over the same features and statistics.
  void turn_to(std::shared_ptr<const pool::Lists> lists);
  // Visits the lists at `positions` in that order.
  Pass visit(std::span<const int64_t> positions, int n_threads, Control& control);
  // Looks at the lists at `positions` and learns nothing; scores and gains are multiplied by these factors.
  Survey survey(std::span<const int64_t> positions, double score_scale, double gain_scale, int n_threads,
                Control& control) const;
  // Stays at the same place as it moves.
  const std::vector<double>& weights() const { return weights_; }
  // The mean of the weights after each list visited so far.
  std::vector<double> average() const;
  // All that a learner must be given back to go on as if it had never stopped.
  MarginState state() const;
  void restore(MarginState state);

 private:
  // One list: what was found and how w moves.
  struct Visit {
    std::vector<double> scores, gains;  // at w_t
    std::vector<double> now;            // scores as w moves
    std::vector<double> total;          // scratch
    size_t hope = 0, best = 0, worst = 0;
    double loss = 0, gain_range = 0;
    Dual dual;
    std::vector<int64_t> members;  // candidate of each difference of the dual
    Budget margin, upper, lower;   // `exact`: both bounds are in `upper`
  };

  void check(const pool::Lists& lists) const;
  // Scores, gains, and the candidates known without settings of steps.
  void compare(const pool::CandidateList& list, Visit& visit, double score_scale, double gain_scale) const;
  void look(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const;
  void passive_aggressive(const pool::CandidateList& list, Visit& visit) const;
  void cutting_plane(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const;
  void optimise(Visit& visit) const;
  void rescore(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const;
  Direction difference(const pool::CandidateList& list, size_t a, size_t b) const;
  size_t member(const pool::CandidateList& list, Visit& visit, size_t candidate) const;
  void count(const Visit& visit, Pass& pass) const;
  void apply(const Visit& visit, double share);

  std::shared_ptr<const pool::Lists> lists_;
  std::vector<double> weights_, past_;      // past: sum of (ticks before the change) * change
  std::vector<double> rates_;               // empty when all are 1
  std::vector<std::vector<double>> moved_;  // scratch of each thread, zero between lists
  std::optional<metric::PseudoCorpus> context_;
  MarginSettings settings_;
  int64_t ticks_ = 0;
};

}  // namespace dragoman::optim
