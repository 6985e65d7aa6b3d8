// Learning from forests around references (Xiao, Liu, Liu and Lin 2011, sections 3 and 5) by exact sums over all of
// their derivations: those of the reference, and those with one rule replaced.
//
// A derivation with a replacement has, in the numerator, the weight exp(score + a), in the denominator exp(score + b),
// where a and b belong to the replacing edge; one of the reference has exp(score) in both. The loss of a sentence is
// log(denominator / numerator):
//   likelihood      a: 0 for the same words, else nothing             b: 0           equation 4
//   expected gain   a: log(gain)                                       b: 0           - log of the expected gain
//   soft ramp       a: -scale (1 - gain)                               b: scale (1 - gain)
// Relative margins have no sums: below.
// Both sums are those of a chart in which a node has none or one replaced rule below it.
//
// With `by_rule` the derivations of the reference do not compete with each other. Each contest, the edges of a node
// that have the same tails, has such a loss of its own, of the weights of these edges alone, and counts as often as the
// reference is derived by it: by the posterior probability of its reference edges at given weights, which stay.
// There a contest may have relative margins, too (Eidelman, Marton and Resnik 2013), with cost = scale (1 - gain):
//   max(0, score + cost of the fear - score - cost of the hope)  +  max(0, score of the hope - score of the worst -
//   bound)
// of the edges with the highest score + cost, the highest score - cost, and the lowest score.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/forest/reference_forests.hh"
#include "core/optim/learner.hh"

namespace dragoman::optim {

enum class ReferenceLoss { kLikelihood, kExpectedGain, kSoftRamp, kRelativeMargin };

struct ReferenceModel {
  ReferenceLoss loss = ReferenceLoss::kLikelihood;
  double prior_weight = 1;  // of the log of the number of occurrences of rules, where references are weighed
  double cost_scale = 1;    // of the soft ramp and of relative margins
  bool by_rule = false;     // each rule against those in its place, not derivations against derivations
  double bound = 1;         // of relative margins: how far scores may be from each other
};

// What Algorithm 1 did: how often a node was taken out or put in, and the size of its lists.
struct GreedyCounts {
  int64_t n_lexicalised = 0, n_generalised = 0, n_moves = 0;  // references tried, and those of them that were moved to
  int64_t n_references = 0, n_listed = 0;

  GreedyCounts& operator+=(const GreedyCounts& other);
};

// The derivation of each sentence's reference that Algorithm 1 has moved to: by node its edge, or -1; empty before.
class GreedyDerivations {
 public:
  std::vector<std::vector<int32_t>> edges;
  GreedyCounts counts;  // of the last epoch
};

class ReferenceStore {
 public:
  explicit ReferenceStore(int64_t n_features) : n_features_(n_features) {}

  // Takes the sentences of forests, whose feature f is ids[f] here (each below n_features), and the gains of their
  // edges (empty: 0 of wrong ones). The forests were checked. Sentences without nodes are left out.
  void add(const forest::ReferenceForests& forests, std::span<const int32_t> ids, std::span<const float> gains);

  int64_t size() const { return static_cast<int64_t>(sentences_.size()); }
  int64_t n_features() const { return n_features_; }
  int64_t n_edges() const { return static_cast<int64_t>(edges_.size()); }
  size_t n_bytes() const;
  // The places among all sentences added of those that were kept.
  std::span<const int64_t> places() const { return places_; }
  // Of some features the mean of their squares over all edges that replace others.
  std::vector<double> mean_squares(std::span<const int32_t> ids) const;
  // How many sentences have each feature on an edge.
  std::vector<int32_t> counts() const;

  // The sum of the losses of sentences, and the mean share of the reference's derivations.
  struct Value {
    double loss = 0, share = 0;
  };
  Value value(const ReferenceModel& model, std::span<const int64_t> order, std::span<const double> weights,
              int n_threads, Control& control) const;
  // Value of a sentence, and the gradient of its loss by its columns (ids(sentence)).
  Value gradient(const ReferenceModel& model, int64_t sentence, std::span<const double> weights,
                 std::vector<double>& out) const;
  // The share of every edge of a sentence in the denominator: the probability that a derivation has it.
  std::vector<double> shares(const ReferenceModel& model, int64_t sentence, std::span<const double> weights) const;
  std::span<const int32_t> ids(int64_t sentence) const {
    const Sentence& s = sentences_[at(sentence)];
    return {ids_.data() + s.first_id, s.n_ids};
  }
  // Sets how often every contest counts: by these weights (and the model's prior).
  void weigh_references(const ReferenceModel& model, std::span<const double> weights, int n_threads, Control& control);
  // One pass in this order, `batch` sentences a step; the sum of the losses, each before its step. With `greedy`, not
  // over whole forests but over what Algorithm 1 lists of them.
  double epoch(Learner& learner, const ReferenceModel& model, std::span<const int64_t> order, int64_t batch,
               int n_threads, Control& control, GreedyDerivations* greedy = nullptr) const;
  // The same of a sentence as `gradient`, by the list that Algorithm 1 makes from its derivation, which moves.
  Value greedy_gradient(const ReferenceModel& model, int64_t sentence, std::span<const double> weights,
                        std::vector<int32_t>& derivation, GreedyCounts& counts, std::vector<double>& out) const;

 private:
  static constexpr uint32_t kNoContest = UINT32_MAX;
  struct Sentence {
    size_t first_node, n_nodes, first_id, n_ids;
    uint32_t n_contests;
  };
  struct Edge {
    uint32_t first_tail, first_feature;  // from those of the sentence's first edge on
    forest::ReferenceEdge kind;
    uint16_t n_tails;
    float prior, gain;
    uint32_t contest = kNoContest;
    float posterior = 0;  // of edges of the reference, among its derivations
  };
  struct Margin {
    size_t hope, fear, worst;  // edges
    double hope_value, fear_value, worst_score;
  };
  struct Scratch {
    std::vector<double> weights, scores, below;  // by column; by edge: its score, and with that of its tails
    std::vector<double> none, one, mass;         // inside of nodes with none or one replaced rule; of edges
    std::vector<double> share_none, share_one;
    std::vector<double> numerators, denominators, references, posteriors;  // by contest
    std::vector<Margin> margins;
  };
  struct Offsets {
    double numerator, denominator;
  };

  // The tables of a sentence.
  struct Tables {
    const size_t* first_edge;  // by node, from the first edge of the sentence on when `first` is taken off
    size_t first, n_edges;
    const Edge* edges;
    const int32_t* tails;
    const uint32_t* columns;
    const float* values;
    const std::pair<int32_t, int32_t>* spans;
  };
  class Greedy;

  Tables tables_of(const Sentence& sentence) const;
  void score(const ReferenceModel& model, const Sentence& sentence, const Tables& tables,
             std::span<const double> weights, Scratch& scratch) const;
  static void add_features(const Tables& tables, std::span<const double> mass, std::vector<double>& gradient);
  Value run_greedy(const ReferenceModel& model, const Sentence& sentence, std::span<const double> weights,
                   Scratch& scratch, std::vector<int32_t>& derivation, GreedyCounts& counts,
                   std::vector<double>& gradient) const;
  static Offsets offsets(const ReferenceModel& model, const Edge& edge);
  // Numbers the contests of a node's edges from `n_contests` on.
  void find_contests(size_t first_edge, uint32_t& n_contests);
  Value run_contests(const ReferenceModel& model, const Sentence& sentence, std::span<const double> weights,
                     Scratch& scratch, std::vector<double>* gradient) const;
  // The loss of relative margins, and its gradient by the edges' scores in `scratch.mass`.
  double margin_loss(const ReferenceModel& model, const Sentence& sentence, const Tables& tables,
                     Scratch& scratch) const;
  Value run(const ReferenceModel& model, const Sentence& sentence, std::span<const double> weights, Scratch& scratch,
            std::vector<double>* gradient, std::vector<double>* shares = nullptr) const;
  void check(std::span<const int64_t> order) const;

  int64_t n_features_, n_added_ = 0;
  bool is_weighed_ = false;
  std::vector<Sentence> sentences_;
  std::vector<int64_t> places_;
  std::vector<int32_t> ids_;                        // of features, by sentence
  std::vector<size_t> first_edge_;                  // by node
  std::vector<std::pair<int32_t, int32_t>> spans_;  // source words of each node
  std::vector<Edge> edges_;
  std::vector<size_t> base_tail_, base_feature_;  // by sentence
  std::vector<int32_t> tails_;
  std::vector<uint32_t> columns_;  // in the sentence's ids
  std::vector<float> values_;
};

}  // namespace dragoman::optim
