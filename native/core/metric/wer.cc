#include "core/metric/wer.hh"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "core/metric/pair_gains.hh"

namespace dragoman::metric {

namespace {

using Words = std::span<const int32_t>;

// Levenshtein's distance between words; what both begin and end with is left out.
class Distance {
 public:
  int64_t operator()(Words a, Words b) {
    while (!a.empty() && !b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1);
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
      a = a.first(a.size() - 1);
      b = b.first(b.size() - 1);
    }
    if (a.empty() || b.empty()) return static_cast<int64_t>(std::max(a.size(), b.size()));
    row_.resize(b.size() + 1);
    for (size_t j = 0; j < row_.size(); ++j) row_[j] = static_cast<int64_t>(j);
    for (const int32_t word : a) {
      int64_t diagonal = row_[0]++;
      for (size_t j = 0; j < b.size(); ++j) {
        const int64_t best = std::min({diagonal + (word != b[j]), row_[j] + 1, row_[j + 1] + 1});
        diagonal = row_[j + 1];
        row_[j + 1] = best;
      }
    }
    return row_.back();
  }

 private:
  std::vector<int64_t> row_;
};

}  // namespace

std::vector<double> wer_statistics(const MetricInput& input, int n_threads, Control& control) {
  input.check();
  std::vector<double> statistics(static_cast<size_t>(input.candidates.size()) * 2);
  const int n_workers = useful_threads(input, n_threads);
  std::vector<Distance> distances(static_cast<size_t>(n_workers));
  for_each_run(input, n_workers, control, [&](int worker, int32_t sentence, int64_t begin, int64_t end) {
    Distance& distance = distances[static_cast<size_t>(worker)];
    const auto references = input.references_of(sentence);
    double length = 0;
    for (const auto& reference : references) length += static_cast<double>(reference.size());
    length /= static_cast<double>(references.size());
    for (int64_t c = begin; c < end; ++c) {
      int64_t fewest = std::numeric_limits<int64_t>::max();
      for (const auto& reference : references) {
        control.check();
        fewest = std::min(fewest, distance(input.candidates[c], reference));
      }
      statistics[static_cast<size_t>(c) * 2] = static_cast<double>(fewest);
      statistics[static_cast<size_t>(c) * 2 + 1] = length;
    }
  });
  return statistics;
}

std::vector<double> expected_wer(const ConsensusInput& input, int n_threads, Control& control) {
  return expected_pair_gains<Distance>(input, n_threads, control, [](Distance& distance, Words a, Words b) {
    const auto edits = static_cast<double>(distance(a, b));
    const auto gain = [&](Words reference) {
      if (edits == 0) return 1.0;
      return reference.empty() ? 0 : 1 - edits / static_cast<double>(reference.size());
    };
    return std::pair{gain(b), gain(a)};
  });
}

}  // namespace dragoman::metric
