// From summed statistics to a gain, inside sweeps: the same formulas as dragoman.metric, one call per point.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

namespace dragoman::metric {

// Whether one rank is above another by more than rounding explains.
inline bool exceeds(double rank, double other) {
  if (!std::isfinite(other)) return rank > other;
  return rank > other + 1e-10 * std::max(1.0, std::abs(other));
}

// Immutable; shared by threads.
class Scorer {
 public:
  virtual ~Scorer() = default;
  virtual int n_stats() const = 0;
  // Higher is better; what an optimiser reports.
  virtual double gain(std::span<const double> total) const = 0;
  // Orders totals like gain, and may be cheaper.
  virtual double rank(std::span<const double> total) const { return gain(total); }
};

// Unsmoothed corpus BLEU. Totals: hypothesis length, reference length, matches of order 1..N, n-grams of order 1..N.
std::unique_ptr<Scorer> bleu_scorer(int max_order);
// 1 - edits / length (TER). Without references: 1 - 0 for no edits, 1 - 1 otherwise.
std::unique_ptr<Scorer> ter_scorer();
// Totals: per order n-grams of the hypothesis, of the reference, in both.
std::unique_ptr<Scorer> chrf_scorer(int n_orders, double beta);
// The mean of a number per candidate. Totals: sum, count.
std::unique_ptr<Scorer> mean_scorer();

struct MixPart {
  double weight;
  std::shared_ptr<const Scorer> scorer;
};
// constant + sum of weight x gain; the parts' statistics follow one another.
std::unique_ptr<Scorer> mix_scorer(double constant, std::vector<MixPart> parts);

}  // namespace dragoman::metric
