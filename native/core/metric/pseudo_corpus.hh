// Gains of a candidate in the context of what was translated before (Chiang, Marton and Resnik 2008).
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/metric/scorer.hh"

namespace dragoman::metric {

// An exponentially weighted past: `background` statistics (O of the paper) of `length` words of source (O_f).
// `prior` is added to every sum, so that the gain can tell candidates apart where the past has no match.
struct PseudoCorpus {
  std::shared_ptr<const Scorer> scorer;
  std::vector<double> background, prior;
  double length = 0;
  double decay = 0.9;

  void check() const {
    const auto n = static_cast<size_t>(scorer->n_stats());
    if (background.size() != n || prior.size() != n) throw std::invalid_argument("one number per statistic expected");
  }
  // (O_f + |f|) gain(O + statistics). `total` is scratch.
  double gain(std::span<const double> statistics, double source_length, std::vector<double>& total) const {
    total.resize(background.size());
    for (size_t k = 0; k < total.size(); ++k) total[k] = prior[k] + background[k] + statistics[k];
    return (length + source_length) * scorer->gain(total);
  }
  // Of several candidates of a sentence; `statistics` is row-major.
  std::vector<double> gains(std::span<const double> statistics, double source_length) const {
    check();
    const size_t n_stats = background.size();
    if (statistics.size() % n_stats != 0) throw std::invalid_argument("statistics of every candidate expected");
    std::vector<double> total, gains(statistics.size() / n_stats);
    for (size_t c = 0; c < gains.size(); ++c)
      gains[c] = gain(statistics.subspan(c * n_stats, n_stats), source_length, total);
    return gains;
  }
  void add(std::span<const double> statistics, double source_length) {
    for (size_t k = 0; k < background.size(); ++k) background[k] = decay * (background[k] + statistics[k]);
    length = decay * (length + source_length);
  }
};

}  // namespace dragoman::metric
