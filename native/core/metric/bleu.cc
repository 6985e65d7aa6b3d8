#include "core/metric/bleu.hh"

#include <algorithm>
#include <cstdlib>

#include "core/metric/ngram_trie.hh"

namespace dragoman::metric {

namespace {

double reference_length(std::span<const std::span<const int32_t>> references, int64_t candidate,
                        ReferenceLength choice) {
  if (choice == ReferenceLength::kAverage) {
    int64_t sum = 0;
    for (const auto& reference : references) sum += static_cast<int64_t>(reference.size());
    return static_cast<double>(sum) / static_cast<double>(references.size());
  }
  const auto distance = [&](int64_t length) {
    return choice == ReferenceLength::kShortest ? length : std::abs(candidate - length);
  };
  auto best = static_cast<int64_t>(references.front().size());
  for (const auto& reference : references) {
    const auto length = static_cast<int64_t>(reference.size());
    if (distance(length) < distance(best) || (distance(length) == distance(best) && length < best)) best = length;
  }
  return static_cast<double>(best);
}

}  // namespace

std::vector<double> bleu_statistics(const MetricInput& input, int order, ReferenceLength length, int n_threads,
                                    Control& control) {
  input.check();
  n_threads = useful_threads(input, n_threads);
  if (order < 1) throw std::invalid_argument("order must be at least 1");
  const size_t width = 2 + 2 * static_cast<size_t>(order);
  std::vector<double> statistics(static_cast<size_t>(input.candidates.size()) * width);
  std::vector<NgramTrie> tries(static_cast<size_t>(n_threads));
  for_each_run(input, n_threads, control, [&](int worker, int32_t sentence, int64_t begin, int64_t end) {
    NgramTrie& trie = tries[static_cast<size_t>(worker)];
    const auto references = input.references_of(sentence);
    trie.build(references, order);
    for (int64_t c = begin; c < end; ++c) {
      const auto words = input.candidates[c];
      double* row = statistics.data() + static_cast<size_t>(c) * width;
      double* correct = row + 2;
      row[0] = static_cast<double>(words.size());
      row[1] = reference_length(references, static_cast<int64_t>(words.size()), length);
      trie.match(words, [&](int n, int32_t node, int32_t times) { correct[n] += times <= trie.limit(node); });
      for (int n = 0; n < order; ++n)
        correct[order + n] = static_cast<double>(std::max<int64_t>(0, static_cast<int64_t>(words.size()) - n));
    }
  });
  return statistics;
}

}  // namespace dragoman::metric
