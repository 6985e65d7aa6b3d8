#include "core/optim/sweep.hh"

#include <stdexcept>
#include <vector>

namespace dragoman::optim {

LineStep sweep_envelopes(const EnvelopeStatistics& lines, const metric::Scorer& scorer, double scale) {
  const auto n_stats = static_cast<size_t>(scorer.n_stats());
  const auto n_lines = lines.from.size();
  if (lines.first.empty() || lines.rows.size() != n_lines || lines.stats.size() % n_stats != 0)
    throw std::invalid_argument("a row of statistics for each line expected");
  for (const int64_t row : lines.rows)
    if (row < 0 || static_cast<size_t>(row) >= lines.stats.size() / n_stats)
      throw std::invalid_argument("no such row of statistics");
  const auto add = [&](size_t line, double sign, std::vector<double>& sums) {
    const double* stats = lines.stats.data() + static_cast<size_t>(lines.rows[line]) * n_stats;
    for (size_t i = 0; i < n_stats; ++i) sums[i] += sign * stats[i];
  };
  std::vector<size_t> corners;  // the line that begins there, after the one before it
  std::vector<double> flattest(n_stats);
  for (size_t s = 0; s + 1 < lines.first.size(); ++s) {
    const int64_t begin = lines.first[s], end = lines.first[s + 1];
    if (begin < 0 || end < begin || static_cast<size_t>(end) > n_lines)
      throw std::invalid_argument("offsets of lines must ascend");
    if (begin < end) add(static_cast<size_t>(begin), 1, flattest);
    for (int64_t line = begin + 1; line < end; ++line) corners.push_back(static_cast<size_t>(line));
  }
  std::stable_sort(corners.begin(), corners.end(), [&](size_t a, size_t b) { return lines.from[a] < lines.from[b]; });
  const auto at = [&](size_t i) { return lines.from[corners[i]]; };
  std::vector<double> swept;
  const auto advance = [&](size_t i) {
    add(corners[i], 1, swept);
    add(corners[i] - 1, -1, swept);
  };
  const auto totals_at = [&](double t) {
    swept = flattest;
    for (size_t i = 0; i < corners.size() && at(i) <= t; ++i) advance(i);
    return std::span<const double>(swept);
  };
  const SweepLimits limits{scorer.rank(totals_at(0)), scale, std::numeric_limits<double>::infinity(), {}};
  swept = flattest;
  const LineOptimum optimum = sweep_line(corners.size(), at, advance, swept, scorer, limits);
  return {optimum.step, scorer.gain(totals_at(optimum.step))};
}

}  // namespace dragoman::optim
