#include "core/pool/lists.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/base/parallel.hh"

namespace dragoman::pool {

Lists::Lists(std::vector<ListShard> shards, size_t n_stats) : shards_(std::move(shards)), n_stats_(n_stats) {
  for (const ListShard& shard : shards_) {
    shard.candidates.check();
    const auto n = static_cast<size_t>(shard.candidates.size());
    const auto n_sentences = shard.candidates.n_sentences();
    if (shard.stats.size() != n * n_stats || (!shard.gains.empty() && shard.gains.size() != n) ||
        shard.lengths.size() != static_cast<size_t>(n_sentences))
      throw std::invalid_argument("expected statistics and gains of each candidate and a length of each sentence");
    starts_.push_back(starts_.back() + n_sentences);
  }
}

bool Lists::has_gains() const {
  return std::all_of(shards_.begin(), shards_.end(),
                     [](const ListShard& s) { return s.gains.size() == static_cast<size_t>(s.candidates.size()); });
}

CandidateList Lists::operator[](int64_t position) const {
  if (position < 0 || position >= size()) throw std::invalid_argument("no list at this position");
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), position);
  const auto number = static_cast<size_t>(next - starts_.begin()) - 1;
  const ListShard& shard = shards_[number];
  const auto s = static_cast<size_t>(position - starts_[number]);
  return {&shard, static_cast<int64_t>(s), shard.candidates.sentences[s], shard.candidates.sentences[s + 1],
          shard.lengths[s]};
}

bool Lists::vary(std::span<const uint8_t> frozen) const {
  for (const ListShard& shard : shards_) {
    const auto& sentences = shard.candidates.sentences;
    for (size_t s = 0; s + 1 < sentences.size(); ++s)
      for (int64_t c = sentences[s] + 1; c < sentences[s + 1]; ++c)
        if (!difference(shard.candidates, sentences[s], c, frozen).ids.empty()) return true;
  }
  return false;
}

std::vector<double> Lists::totals(std::span<const int64_t> positions, std::span<const double> weights, int n_threads,
                                  Control& control) const {
  std::vector<size_t> best(positions.size());
  parallel_chunks(static_cast<int64_t>(positions.size()), 16, n_threads, control, [&](int64_t begin, int64_t end, int) {
    std::vector<double> scores;
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      score_list((*this)[positions[i]], weights, scores);
      best[i] = static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    }
  });
  std::vector<double> sums(n_stats_);
  for (size_t i = 0; i < positions.size(); ++i) {
    const CandidateList list = (*this)[positions[i]];
    if (list.size() == 0) continue;
    const auto row = stats(list, best[i]);
    for (size_t k = 0; k < n_stats_; ++k) sums[k] += row[k];
  }
  return sums;
}

void score_list(const CandidateList& list, std::span<const double> weights, std::vector<double>& scores) {
  scores.resize(list.size());
  for (size_t c = 0; c < scores.size(); ++c)
    scores[c] = dot(list.shard->candidates, list.begin + static_cast<int64_t>(c), weights);
}

SparseDifference difference(const Candidates& candidates, int64_t a, int64_t b, std::span<const uint8_t> frozen) {
  const auto row = [&](int64_t c) {
    return std::pair(static_cast<size_t>(candidates.rows[static_cast<size_t>(c)]),
                     static_cast<size_t>(candidates.rows[static_cast<size_t>(c) + 1]));
  };
  auto [i, i_end] = row(a);
  auto [j, j_end] = row(b);
  const auto& ids = candidates.ids;
  SparseDifference result;
  while (i < i_end || j < j_end) {
    const bool left = j == j_end || (i < i_end && ids[i] <= ids[j]);
    const bool right = i == i_end || (j < j_end && ids[j] <= ids[i]);
    const int32_t id = left ? ids[i] : ids[j];
    const double value = (left ? static_cast<double>(candidates.values[i]) : 0.0) -
                         (right ? static_cast<double>(candidates.values[j]) : 0.0);
    i += left;
    j += right;
    if (value == 0) continue;
    if (!frozen.empty()) {
      if (static_cast<size_t>(static_cast<uint32_t>(id)) >= frozen.size())
        throw InputError("a candidate has a feature id beyond the index; the pool's files do not belong together");
      if (frozen[static_cast<size_t>(id)]) continue;
    }
    result.ids.push_back(id);
    result.values.push_back(value);
  }
  return result;
}

double dot(const SparseDifference& a, const SparseDifference& b) {
  double sum = 0;
  for (size_t i = 0, j = 0; i < a.ids.size() && j < b.ids.size();) {
    if (a.ids[i] == b.ids[j])
      sum += a.values[i++] * b.values[j++];
    else if (a.ids[i] < b.ids[j])
      ++i;
    else
      ++j;
  }
  return sum;
}

}  // namespace dragoman::pool
