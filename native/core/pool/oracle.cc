#include "core/pool/oracle.hh"

#include <algorithm>
#include <stdexcept>

namespace dragoman::pool {

std::vector<std::vector<int64_t>> oracle(std::span<const OracleShard> shards, const metric::Scorer& scorer,
                                         Control& control) {
  constexpr int kMaxPasses = 100;
  const auto n_stats = static_cast<size_t>(scorer.n_stats());
  std::vector<double> total(n_stats, 0.0), trial(n_stats);
  std::vector<std::vector<int64_t>> chosen;
  const auto add = [&](const OracleShard& shard, int64_t candidate, double sign, std::vector<double>& to) {
    const double* stats = shard.stats.data() + static_cast<size_t>(candidate) * n_stats;
    for (size_t i = 0; i < n_stats; ++i) to[i] += sign * stats[i];
  };
  for (const auto& shard : shards) {
    if (shard.sentences.empty() || shard.sentences.front() != 0 ||
        !std::is_sorted(shard.sentences.begin(), shard.sentences.end()) ||
        shard.gains.size() != static_cast<size_t>(shard.sentences.back()) ||
        shard.stats.size() != shard.gains.size() * n_stats)
      throw std::invalid_argument("sentences, statistics and gains have inconsistent sizes");
    auto& best = chosen.emplace_back(shard.sentences.size() - 1, -1);
    for (size_t s = 0; s < best.size(); ++s) {
      const auto begin = shard.gains.begin() + shard.sentences[s], end = shard.gains.begin() + shard.sentences[s + 1];
      if (begin == end) continue;
      best[s] = std::max_element(begin, end) - shard.gains.begin();
      add(shard, best[s], 1, total);
    }
  }
  double rank = scorer.rank(total);
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    bool moved = false;
    for (size_t shard = 0; shard < shards.size(); ++shard) {
      for (size_t s = 0; s < chosen[shard].size(); ++s) {
        if (s % 256 == 0) control.check();
        if (chosen[shard][s] < 0) continue;
        add(shards[shard], chosen[shard][s], -1, total);
        for (int64_t c = shards[shard].sentences[s]; c < shards[shard].sentences[s + 1]; ++c) {
          trial = total;
          add(shards[shard], c, 1, trial);
          const double better = scorer.rank(trial);
          if (!metric::exceeds(better, rank)) continue;
          rank = better;
          chosen[shard][s] = c;
          moved = true;
        }
        add(shards[shard], chosen[shard][s], 1, total);
      }
    }
    if (!moved) break;
  }
  return chosen;
}

}  // namespace dragoman::pool
