// Scores of PhraseView: relative frequencies, Kneser-Ney smoothing, orientations.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/base/parallel.hh"
#include "core/grammar/view_detail.hh"

namespace dragoman::grammar {

void PhraseView::Counts::add(int64_t count) {
  n1 += count == 1;
  n2 += count == 2;
  n3 += count > 2;
}

// Foster, Kuhn and Johnson (2006): modified Kneser-Ney with discounts from the counts of counts of all pairs.
void PhraseView::count_for_smoothing(int n_threads, Control& control) {
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

double PhraseView::discount(int64_t count) const {
  return discounts_[static_cast<size_t>(std::min<int64_t>(count, 3)) - 1];
}

double PhraseView::discounted(const Counts& counts) const {
  return discounts_[0] * counts.n1 + discounts_[1] * counts.n2 + discounts_[2] * counts.n3;
}

double PhraseView::p_target(const Source& source, int64_t pair, int64_t count) const {
  if (tables_.is_given()) return tables_.given_scores[static_cast<size_t>(pair) * kNumPhraseScores + kScorePEF];
  const auto c = static_cast<double>(count), total = static_cast<double>(source.count);
  if (options_.smoothing == PhraseSmoothing::kNone) return c / total;
  const int64_t target = tables_.target_of_pair(pair);
  const double lower =
      static_cast<double>(target_counts_.at(static_cast<size_t>(target)).distinct()) / static_cast<double>(n_distinct_);
  return (c - discount(count) + discounted(source.counts) * lower) / total;
}

double PhraseView::p_source(const Source& source, int64_t pair, int64_t count) const {
  const int64_t target = tables_.target_of_pair(pair);
  const auto c = static_cast<double>(count), total = static_cast<double>(folds_.sum(tables_.target_counts[target]));
  if (options_.smoothing == PhraseSmoothing::kNone) return c / total;
  const double lower = static_cast<double>(source.counts.distinct()) / static_cast<double>(n_distinct_);
  return (c - discount(count) + discounted(target_counts_.at(static_cast<size_t>(target))) * lower) / total;
}

void PhraseView::reorder(int64_t pair, std::vector<float>& out) const {
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
        if (!folds_.has(event)) continue;
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

}  // namespace dragoman::grammar
