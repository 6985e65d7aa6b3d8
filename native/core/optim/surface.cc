#include "core/optim/surface.hh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/parallel.hh"

namespace dragoman::optim {

namespace {

constexpr int64_t kSentencesPerChunk = 8;

double deviation(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += static_cast<double>(value);
  const double mean = sum / static_cast<double>(values.size());
  for (const float value : values) {
    const double difference = static_cast<double>(value) - mean;
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

Surface::Surface(std::vector<ScoredCandidates> shards, std::span<const int32_t> chosen, std::span<const double> weights,
                 std::shared_ptr<const metric::Scorer> scorer, int n_threads, Control& control)
    : features_(chosen.size()), n_stats_(static_cast<size_t>(scorer->n_stats())), scorer_(std::move(scorer)) {
  std::vector<int32_t> place(weights.size(), -1);  // of a feature among the chosen
  std::vector<double> fixed(weights.begin(), weights.end());
  for (size_t k = 0; k < chosen.size(); ++k) {
    const auto id = static_cast<size_t>(chosen[k]);
    if (id >= weights.size() || place[id] >= 0) throw std::invalid_argument("chosen: unknown or repeated feature");
    place[id] = static_cast<int32_t>(k);
    fixed[id] = 0;
  }
  std::vector<std::pair<const pool::Candidates*, int64_t>> origin;  // of each sentence: its shard, its number there
  for (const auto& shard : shards) {
    const pool::Candidates& c = shard.candidates;
    const auto base = pool::model_scores(c, fixed, n_threads, control);  // checks the arrays
    if (shard.stats.size() != static_cast<size_t>(c.size()) * n_stats_)
      throw std::invalid_argument("statistics: " + std::to_string(n_stats_) + " per candidate expected");
    for (int64_t s = 0; s < c.n_sentences(); ++s) {
      const int64_t begin = c.sentences[static_cast<size_t>(s)], size = c.sentences[static_cast<size_t>(s) + 1] - begin;
      if (size > std::numeric_limits<int32_t>::max()) throw InputError("more than 2^31 candidates of one sentence");
      sentences_.push_back({static_cast<int64_t>(base_.size()) + begin, static_cast<int32_t>(size),
                            shard.stats.data() + static_cast<size_t>(begin) * n_stats_});
      origin.emplace_back(&c, s);
      largest_ = std::max(largest_, size);
    }
    base_.insert(base_.end(), base.begin(), base.end());
  }
  // Which features differ where; then room for them; then the values, so that nothing is held twice.
  const auto n_sentences = static_cast<int64_t>(sentences_.size());
  std::vector<std::vector<std::pair<int32_t, double>>> found(sentences_.size());
  parallel_chunks(n_sentences, kSentencesPerChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (auto s = static_cast<size_t>(begin); s < static_cast<size_t>(end); ++s)
      for_each_column(*origin[s].first, origin[s].second, place,
                      [&](int32_t k, std::span<const float> slopes) { found[s].emplace_back(k, deviation(slopes)); });
  });
  std::vector<std::vector<size_t>> places(sentences_.size());  // of its columns, in the order of `found`
  std::vector<size_t> sizes(features_.size(), 0);
  for (size_t s = 0; s < found.size(); ++s) {
    for (const auto& [k, spread] : found[s]) {
      size_t& size = sizes[static_cast<size_t>(k)];
      Feature& feature = features_[static_cast<size_t>(k)];
      feature.columns.push_back({static_cast<int32_t>(s), 0, 0, size});
      feature.spread += spread;
      places[s].push_back(feature.columns.size() - 1);
      size += static_cast<size_t>(sentences_[s].size);
    }
  }
  for (size_t k = 0; k < features_.size(); ++k) {
    features_[k].order.resize(sizes[k]);
    features_[k].slopes.resize(sizes[k]);
    features_[k].spread /= static_cast<double>(std::max<size_t>(1, features_[k].columns.size()));
  }
  parallel_chunks(n_sentences, kSentencesPerChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (auto s = static_cast<size_t>(begin); s < static_cast<size_t>(end); ++s) {
      size_t n_done = 0;
      for_each_column(*origin[s].first, origin[s].second, place, [&](int32_t k, std::span<const float> slopes) {
        Feature& feature = features_[static_cast<size_t>(k)];
        Column& column = feature.columns[places[s][n_done++]];
        std::copy(slopes.begin(), slopes.end(), feature.slopes.begin() + static_cast<int64_t>(column.at));
        const auto order = std::span(feature.order).subspan(column.at, slopes.size());
        std::iota(order.begin(), order.end(), 0);
        const auto slope = [&](int32_t i) { return slopes[static_cast<size_t>(i)]; };
        std::sort(order.begin(), order.end(),
                  [&](int32_t a, int32_t b) { return slope(a) != slope(b) ? slope(a) < slope(b) : a < b; });
        const auto same = [&](int32_t a) { return [&, a](int32_t b) { return slope(a) == slope(b); }; };
        column.n_flattest = static_cast<int32_t>(std::count_if(order.begin(), order.end(), same(order.front())));
        column.n_steepest = static_cast<int32_t>(std::count_if(order.begin(), order.end(), same(order.back())));
      });
    }
  });
}

template <typename Body>
void Surface::for_each_column(const pool::Candidates& c, int64_t s, std::span<const int32_t> place, Body&& body) const {
  struct Entry {
    int32_t k, candidate;
    float value;
  };
  std::vector<Entry> entries;
  const int64_t first = c.sentences[static_cast<size_t>(s)], end = c.sentences[static_cast<size_t>(s) + 1];
  if (end - first < 2) return;
  for (int64_t row = first; row < end; ++row)
    for (auto at = static_cast<size_t>(c.rows[static_cast<size_t>(row)]);
         at < static_cast<size_t>(c.rows[static_cast<size_t>(row) + 1]); ++at)
      if (const int32_t k = place[static_cast<size_t>(c.ids[at])]; k >= 0)
        entries.push_back({k, static_cast<int32_t>(row - first), c.values[at]});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.k < b.k; });
  std::vector<float> slopes;
  for (size_t at = 0; at < entries.size();) {
    const int32_t k = entries[at].k;
    slopes.assign(static_cast<size_t>(end - first), 0.0f);
    for (; at < entries.size() && entries[at].k == k; ++at)
      slopes[static_cast<size_t>(entries[at].candidate)] = entries[at].value;
    if (std::adjacent_find(slopes.begin(), slopes.end(), std::not_equal_to<>()) != slopes.end())
      body(k, std::span<const float>(slopes));
  }
}

}  // namespace dragoman::optim
