// Exact line search over candidate lists (Och 2003). Along a line w + t.d every candidate's model score is a line in
// t; per sentence the best candidate as a function of t is an upper envelope; the envelopes' corners, merged over
// all sentences and swept once, give the metric for every t.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/optim/surface.hh"
#include "core/optim/sweep.hh"

namespace dragoman::optim {

// Weights of the chosen features with all that follows from them: model scores, best candidates, summed statistics.
class Point {
 public:
  Point(const Surface& surface, std::span<const double> weights);

  const std::vector<double>& weights() const { return weights_; }
  double rank() const { return rank_; }
  double gain() const;
  int64_t n_searches() const { return n_searches_; }

  // The best step along feature k, or along `direction` over all chosen features, with t inside `bounds`.
  LineOptimum search(size_t k, Interval bounds);
  LineOptimum search(std::span<const double> direction, Interval bounds);
  // Takes the step if the metric then is better, as computed anew; returns whether it was taken.
  bool move(size_t k, const LineOptimum& optimum);
  bool move(std::span<const double> direction, const LineOptimum& optimum);
  // Model scores from the weights alone, without what rounding added on the way.
  void refresh();

 private:
  struct Line {
    double slope, score, from;  // best of all from there on
    int32_t candidate;
  };
  struct Corner {
    double at;
    int32_t sentence, from, to;
  };
  const double* stats_of(int32_t sentence, int32_t candidate) const {
    return surface_.sentences_[static_cast<size_t>(sentence)].stats +
           static_cast<size_t>(candidate) * surface_.n_stats_;
  }
  void begin_search();
  // Corners of the upper envelope of a sentence's lines: of a feature, or of any direction's slopes.
  void add_envelope(const Surface::Feature& feature, const Surface::Column& column);
  void add_envelope(int32_t sentence, const double* slopes);
  // How far each candidate is above the chords from `left` over the sentence's best to `right`.
  template <typename T>
  void measure(int32_t sentence, const T* slopes, int32_t left, int32_t right);
  template <typename T>
  void add_hull(int32_t sentence, const T* slopes, std::span<const int32_t> kept);
  // `spread` is that of the candidates along the direction.
  LineOptimum sweep(Interval bounds, double scale, double spread);
  // How far a step may go into an interval, along a direction that spreads candidates so much: until it changes scores
  // as much as the typical feature does that has a weight. Where few sentences decide, as with rare features, intervals
  // are wide, and their middle can be a weight that dwarfs all others.
  double reach(double spread) const;
  // Fetches what `apply` will read a few corners later.
  void prefetch(std::span<const Corner> corners, size_t i) const;
  void apply(const Corner& corner);
  void choose(int32_t sentence);
  template <typename Shift>
  bool try_move(const LineOptimum& optimum, Shift&& shift);

  const Surface& surface_;
  std::vector<double> weights_;
  std::vector<double> scores_;
  std::vector<int32_t> best_;
  std::vector<double> total_;
  double rank_ = 0;
  int64_t n_searches_ = 0;

  // Scratch of one search.
  std::vector<double> slopes_, swept_;  // swept_: total_ at the place that the sweep has reached
  std::vector<double> above_;
  std::vector<int32_t> kept_;
  std::vector<Line> hull_;
  std::vector<Corner> openings_, corners_, sorted_;
  std::vector<uint8_t> touched_;
};

}  // namespace dragoman::optim
