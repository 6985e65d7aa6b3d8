#include "core/grammar/lexical_weights.hh"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/grammar/word_counts.hh"

namespace dragoman::grammar {

namespace {

constexpr double kSmall = 1e-200;  // products of a hundred words more than that would be 0

// Compares two alignments word by word of one side, each word by its ascending partners.
bool greater(std::span<const PhraseLink> a, std::span<const PhraseLink> b, bool by_target) {
  const auto rows = [&](std::span<const PhraseLink> links) {
    std::vector<std::pair<uint8_t, uint8_t>> sorted;
    for (const PhraseLink link : links)
      sorted.emplace_back(by_target ? link.target : link.source, by_target ? link.source : link.target);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  const auto x = rows(a), y = rows(b);
  size_t i = 0;
  while (i < x.size() && i < y.size() && x[i] == y[i]) ++i;
  if (i == x.size() || i == y.size()) return i < x.size();
  // At the first difference, a word that comes earlier means partners where the other has none (or no more).
  if (x[i].first != y[i].first) return x[i].first < y[i].first;
  return x[i].second > y[i].second;
}

}  // namespace

BestAlignments best_alignments(const GrammarTables& tables, const FoldFilter& folds, int64_t pair) {
  const auto events = tables.pair_events[pair];
  const auto first = static_cast<size_t>(tables.pair_events.bounds(pair).first);
  BestAlignments best;
  int64_t most = 0;
  for (size_t begin = 0; begin < events.size();) {
    const uint32_t id = events[begin].alignment();
    int64_t n = 0;
    for (; begin < events.size() && events[begin].alignment() == id; ++begin)
      if (folds.has(events[begin]))
        n += tables.event_mass.empty() ? events[begin].count() : static_cast<int64_t>(tables.event_mass[first + begin]);
    if (n == 0 || n < most) continue;
    const auto links = tables.alignments[id];
    if (n > most || greater(links, best.by_target, true)) best.by_target = links;
    if (n > most || greater(links, best.by_source, false)) best.by_source = links;
    most = n;
  }
  return best;
}

// Koehn, Och and Marcu (2003): the product over the words of one side of the mean probability given their partners.
double LexicalWeights::log_weight(std::span<const Symbol> source, std::span<const Symbol> target,
                                  std::span<const PhraseLink> links, bool of_target) const {
  const auto words = of_target ? target : source;
  const auto others = of_target ? source : target;
  const auto prob = [&](Symbol word, Symbol other) {
    return of_target ? word_prob(other, word, true) : word_prob(word, other, false);
  };
  double product = 1, logs = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] < 0) continue;  // nonterminals
    double sum = 0;
    int n = 0;
    for (const PhraseLink link : links) {
      if ((of_target ? link.target : link.source) != i) continue;
      const size_t other = of_target ? link.source : link.target;
      if (other >= others.size()) throw_damaged_grammar();
      sum += prob(words[i], others[other]);
      ++n;
    }
    product *= n ? sum / n : prob(words[i], kNullWord);
    if (product < kSmall) {
      logs += std::log(product);
      product = 1;
    }
  }
  return logs + std::log(product);
}

double LexicalWeights::word_prob(int32_t source, int32_t target, bool of_target) const {
  const auto [begin, end] = tables_.word_pairs.bounds(static_cast<int64_t>(source) + 1);
  const auto keys = tables_.word_pairs[static_cast<int64_t>(source) + 1];
  const uint64_t key = word_pair_key(source, target);
  const auto at = std::lower_bound(keys.begin(), keys.end(), key);
  if (at == keys.end() || *at != key) throw_damaged_grammar();
  const int64_t both = folds_.sum(tables_.word_pair_counts[begin + (at - keys.begin())]);
  const int64_t given = of_target ? folds_.sum(tables_.source_words[static_cast<int64_t>(source) + 1])
                                  : folds_.sum(tables_.target_words[static_cast<int64_t>(target) + 1]);
  if (both == 0 || given < both) throw_damaged_grammar();
  return static_cast<double>(both) / static_cast<double>(given);
}

}  // namespace dragoman::grammar
