// Scores of GrammarView: relative frequencies, Kneser-Ney smoothing, lexical weights, orientations.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/grammar_view_detail.hh"
#include "core/parallel.hh"
#include "core/word_counts.hh"

namespace dragoman {

void GrammarView::Counts::add(int64_t count) {
  n1 += count == 1;
  n2 += count == 2;
  n3 += count > 2;
}

// Foster, Kuhn and Johnson (2006): modified Kneser-Ney with discounts from the counts of counts of all pairs.
void GrammarView::count_for_smoothing(int n_threads, Control& control) {
  constexpr int64_t kChunk = 1 << 16;
  const int64_t n_pairs = tables_.n_pairs(), n_targets = tables_.targets.size();
  const int n_workers = std::max(1, n_threads);
  target_counts_.resize(static_cast<size_t>(n_targets));
  std::vector<std::array<int64_t, 5>> of_counts(static_cast<size_t>(n_workers));
  parallel_chunks((n_pairs + kChunk - 1) / kChunk, 1, n_workers, control, [&](int64_t chunk, int64_t, int worker) {
    auto& mine = of_counts[static_cast<size_t>(worker)];
    for (int64_t pair = chunk * kChunk; pair < std::min(n_pairs, (chunk + 1) * kChunk); ++pair) {
      const int64_t n = count(pair), target = tables_.target_of_pair(pair);
      if (n == 0) continue;
      if (target < 0 || target >= n_targets) throw_damaged_grammar();
      ++mine[static_cast<size_t>(std::min<int64_t>(n, 5)) - 1];
      Counts& counts = target_counts_[static_cast<size_t>(target)];
      std::atomic_ref(n == 1 ? counts.n1 : n == 2 ? counts.n2 : counts.n3).fetch_add(1, std::memory_order_relaxed);
    }
  });
  std::array<int64_t, 5> n{};
  for (const auto& mine : of_counts)
    for (size_t i = 0; i < n.size(); ++i) n[i] += mine[i];
  for (const int64_t m : n) n_distinct_ += m;
  const double y = n[0] > 0 ? static_cast<double>(n[0]) / static_cast<double>(n[0] + 2 * n[1]) : 0.0;
  for (size_t i = 0; i < 3; ++i) {
    // Too little data for an estimate: no discount.
    const double d = n[i] > 0
                         ? static_cast<double>(i + 1) - static_cast<double>(i + 2) * y * static_cast<double>(n[i + 1]) /
                                                            static_cast<double>(n[i])
                         : 0.0;
    discounts_[i] = n[1] > 0 ? std::clamp(d, 0.0, static_cast<double>(i + 1)) : 0.0;
  }
}

double GrammarView::discount(int64_t count) const {
  return discounts_[static_cast<size_t>(std::min<int64_t>(count, 3)) - 1];
}

double GrammarView::discounted(const Counts& counts) const {
  return discounts_[0] * counts.n1 + discounts_[1] * counts.n2 + discounts_[2] * counts.n3;
}

double GrammarView::p_target(const Source& source, int64_t pair, int64_t count) const {
  if (tables_.is_given()) return tables_.given_scores[static_cast<size_t>(pair) * kNumPhraseScores + kScorePEF];
  const auto c = static_cast<double>(count), total = static_cast<double>(source.count);
  if (options_.smoothing == PhraseSmoothing::kNone) return c / total;
  const int64_t target = tables_.target_of_pair(pair);
  const double lower =
      static_cast<double>(target_counts_.at(static_cast<size_t>(target)).distinct()) / static_cast<double>(n_distinct_);
  return (c - discount(count) + discounted(source.counts) * lower) / total;
}

double GrammarView::p_source(const Source& source, int64_t pair, int64_t count) const {
  const int64_t target = tables_.target_of_pair(pair);
  const auto c = static_cast<double>(count), total = static_cast<double>(folds_.sum(tables_.target_counts[target]));
  if (options_.smoothing == PhraseSmoothing::kNone) return c / total;
  const double lower = static_cast<double>(source.counts.distinct()) / static_cast<double>(n_distinct_);
  return (c - discount(count) + discounted(target_counts_.at(static_cast<size_t>(target))) * lower) / total;
}

namespace {

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
  BestAlignments best;
  int64_t most = 0;
  for (size_t begin = 0; begin < events.size();) {
    size_t end = begin;
    while (end < events.size() && events[end].alignment() == events[begin].alignment()) ++end;
    const int64_t n = folds.sum(events.subspan(begin, end - begin));
    const uint32_t id = events[begin].alignment();
    begin = end;
    if (n == 0 || n < most) continue;
    const auto links = tables.alignments[id];
    if (n > most || greater(links, best.by_target, true)) best.by_target = links;
    if (n > most || greater(links, best.by_source, false)) best.by_source = links;
    most = n;
  }
  return best;
}

// Koehn, Och and Marcu (2003): the product over the words of one side of the mean probability given their partners.
double GrammarView::lexical(std::span<const Symbol> source, std::span<const Symbol> target,
                            std::span<const PhraseLink> links, bool of_target) const {
  const auto words = of_target ? target : source;
  const auto others = of_target ? source : target;
  const auto prob = [&](Symbol word, Symbol other) {
    return of_target ? word_prob(other, word, true) : word_prob(word, other, false);
  };
  double product = 1;
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
  }
  return product;
}

double GrammarView::word_prob(int32_t source, int32_t target, bool of_target) const {
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

void GrammarView::reorder(int64_t pair, std::vector<float>& out) const {
  if (tables_.is_given()) {
    const auto row = tables_.given_reordering.subspan(static_cast<size_t>(pair) * static_cast<size_t>(n_reordering_),
                                                      static_cast<size_t>(n_reordering_));
    out.insert(out.end(), row.begin(), row.end());
    return;
  }
  const auto events = tables_.pair_events[pair];
  for (const auto& [model, n_orientations] : options_.reordering)
    for (const Direction direction : {Direction::kBackward, Direction::kForward}) {
      std::array<int64_t, 5> counts{};
      int64_t total = 0;
      for (const Event event : events) {
        if (!folds_.has(event.fold())) continue;
        auto o = event.orientation().get(model, direction);
        if (n_orientations < 5 && o == Orientation::kMonoGlobal) o = Orientation::kMono;
        if (n_orientations == 3 && o == Orientation::kRight) o = Orientation::kLeft;
        const auto index = static_cast<size_t>(o);
        if (index >= static_cast<size_t>(n_orientations)) throw_damaged_grammar();
        counts[index] += event.count();
        total += event.count();
      }
      const double smoothing = options_.reordering_smoothing;
      const double denominator = static_cast<double>(total) + smoothing * n_orientations;
      for (int o = 0; o < n_orientations; ++o)
        out.push_back(static_cast<float>(
            std::log((static_cast<double>(counts[static_cast<size_t>(o)]) + smoothing) / denominator)));
    }
}

}  // namespace dragoman
