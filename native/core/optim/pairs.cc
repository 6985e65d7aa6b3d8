#include "core/optim/pairs.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/base/random.hh"

namespace dragoman::optim {

namespace {

struct Draw {
  double differential;
  int64_t better, worse;
};

// Mean and standard deviation of |g - g'| over all pairs of J x J.
std::pair<double, double> differential_moments(std::span<const double> gains, std::vector<double>& sorted) {
  sorted.assign(gains.begin(), gains.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  // About the middle, so that large gains do not cancel.
  const double middle = sorted[sorted.size() / 2];
  double weighted = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double x = sorted[i] - middle;
    weighted += (2 * static_cast<double>(i) - n + 1) * x;
    sum += x;
    squares += x * x;
  }
  const double mean = 2 * weighted / (n * n);
  const double mean_square = 2 * (squares / n - sum / n * (sum / n));
  return {mean, std::sqrt(std::max(0.0, mean_square - mean * mean))};
}

}  // namespace

Pairs sample_pairs(std::span<const int64_t> sentences, std::span<const int32_t> sentence_ids,
                   std::span<const double> gains, const PairSettings& settings, int n_threads, Control& control) {
  if (sentences.empty() || sentence_ids.size() + 1 != sentences.size() || sentences.front() != 0 ||
      sentences.back() != static_cast<int64_t>(gains.size()) || !std::is_sorted(sentences.begin(), sentences.end()))
    throw std::invalid_argument("sentences, their ids and the gains do not fit together");
  if (settings.n_draws < 1 || settings.n_kept < 1) throw std::invalid_argument("gamma and xi must be positive");
  std::vector<Pairs> found(sentence_ids.size());
  const auto n_sentences = static_cast<int64_t>(sentence_ids.size());
  parallel_chunks(n_sentences, 16, n_threads, control, [&](int64_t first, int64_t last, int) {
    std::vector<Draw> accepted;
    std::vector<double> scratch;
    for (auto s = static_cast<size_t>(first); s < static_cast<size_t>(last); ++s) {
      const int64_t begin = sentences[s], size = sentences[s + 1] - begin;
      if (size < 2 || size > std::numeric_limits<uint32_t>::max()) continue;
      const auto g = gains.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
      const auto [mean, deviation] =
          settings.logistic ? differential_moments(g, scratch) : std::pair<double, double>(0, 0);
      Random random({settings.seed, settings.round, static_cast<uint64_t>(sentence_ids[s])});
      accepted.clear();
      for (int64_t draw = 0; draw < settings.n_draws; ++draw) {
        const uint32_t j = random.below(static_cast<uint32_t>(size)), k = random.below(static_cast<uint32_t>(size));
        const double differential = std::abs(g[j] - g[k]);
        if (differential == 0) continue;  // no order to learn
        if (settings.logistic) {
          const double x = deviation > 0 ? (differential - mean) / deviation : 0;
          if (random.uniform() * (1 + std::exp(-x)) >= 1) continue;
        } else if (differential < settings.threshold) {
          continue;
        }
        accepted.push_back(g[j] > g[k] ? Draw{differential, j, k} : Draw{differential, k, j});
      }
      if (accepted.size() > static_cast<size_t>(settings.n_kept)) {
        std::stable_sort(accepted.begin(), accepted.end(),
                         [](const Draw& a, const Draw& b) { return a.differential > b.differential; });
        accepted.resize(static_cast<size_t>(settings.n_kept));
      }
      for (const Draw& draw : accepted) {
        found[s].better.push_back(begin + draw.better);
        found[s].worse.push_back(begin + draw.worse);
      }
    }
  });
  Pairs pairs;
  for (const Pairs& some : found) {
    pairs.better.insert(pairs.better.end(), some.better.begin(), some.better.end());
    pairs.worse.insert(pairs.worse.end(), some.worse.begin(), some.worse.end());
  }
  return pairs;
}

pool::SparseRows difference_rows(const pool::Candidates& candidates, std::span<const int64_t> better,
                                 std::span<const int64_t> worse) {
  candidates.check();
  if (better.size() != worse.size()) throw std::invalid_argument("as many better as worse candidates expected");
  const Ragged<int32_t> ids{candidates.rows, candidates.ids};
  const Ragged<float> values{candidates.rows, candidates.values};
  pool::SparseRows result;
  for (size_t p = 0; p < better.size(); ++p) {
    for (const int64_t candidate : {better[p], worse[p]})
      if (candidate < 0 || candidate >= candidates.size()) throw std::invalid_argument("no such candidate");
    const auto a = ids[better[p]], b = ids[worse[p]];
    const auto x = values[better[p]], y = values[worse[p]];
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      const bool left = j == b.size() || (i < a.size() && a[i] <= b[j]);
      const bool right = i == a.size() || (j < b.size() && b[j] <= a[i]);
      const int32_t id = left ? a[i] : b[j];
      result.add(id, (left ? x[i] : 0.0f) - (right ? y[j] : 0.0f));
      i += left;
      j += right;
    }
    result.end_row();
  }
  return result;
}

}  // namespace dragoman::optim
