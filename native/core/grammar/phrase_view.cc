#include "core/grammar/phrase_view.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "core/grammar/view_detail.hh"

namespace dragoman::grammar {

PhraseView::PhraseView(const GrammarTables& tables, const PhraseViewOptions& options, int n_threads, Control& control)
    : tables_(tables), options_(options), folds_(options.excluded_fold), lexical_(tables, folds_) {
  if (options.max_targets < 0 || options.min_count < 1 || !(options.reordering_smoothing > 0))
    throw std::invalid_argument("a setting of the view is out of range");
  if (tables.is_given()) {
    if (options.excluded_fold >= 0 || options.smoothing != PhraseSmoothing::kNone || !options.reordering.empty())
      throw std::invalid_argument("a grammar with given scores has no folds, smoothing or reordering models to choose");
    n_reordering_ = tables.n_given_reordering;
    return;
  }
  for (const ReorderingChoice& choice : options.reordering) {
    const int most = choice.model == ReorderingModel::kHierarchical ? 5 : 4;
    if (choice.n_orientations < 3 || choice.n_orientations > most)
      throw std::invalid_argument("a reordering model has 3 or 4 orientations, the hierarchical one up to 5");
    n_reordering_ += 2 * choice.n_orientations;
  }
  if (options.smoothing == PhraseSmoothing::kKneserNey) count_for_smoothing(n_threads, control);
}

void PhraseView::options(std::span<const Symbol> sentence, OptionList& out) const {
  out.n_reordering = n_reordering_;
  for (size_t begin = 0; begin < sentence.size(); ++begin) {
    int64_t node = 0;
    for (size_t end = begin; end < sentence.size(); ++end) {
      if ((node = tables_.child(node, sentence[end])) < 0) break;
      const int64_t source = tables_.trie_source[static_cast<size_t>(node)];
      if (source < 0) continue;
      const size_t from = out.options.size();
      lookup(source, out);
      for (size_t i = from; i < out.options.size(); ++i) {
        out.options[i].begin = static_cast<int32_t>(begin);
        out.options[i].end = static_cast<int32_t>(end + 1);
      }
    }
  }
}

void PhraseView::lookup(int64_t source, OptionList& out) const {
  out.n_reordering = n_reordering_;
  const auto [begin, end] = tables_.pair_targets.bounds(source);
  if (end - begin > kCachedPairs) {
    if (const OptionList* list = cache_.get(source, [&](OptionList& made) { compute(source, made); })) {
      out.options.insert(out.options.end(), list->options.begin(), list->options.end());
      out.reordering.insert(out.reordering.end(), list->reordering.begin(), list->reordering.end());
      return;
    }
  }
  compute(source, out);
}

int64_t PhraseView::count(int64_t pair) const { return folds_.sum(tables_.pair_events[pair]); }

PhraseView::Source PhraseView::read_source(int64_t source) const {
  Source result{};
  result.symbols = tables_.sources[source];
  result.count = folds_.sum(tables_.source_counts[source]);
  std::tie(result.first_pair, result.end_pair) = tables_.pair_targets.bounds(source);
  if (options_.smoothing == PhraseSmoothing::kKneserNey)
    for (int64_t pair = result.first_pair; pair < result.end_pair; ++pair) result.counts.add(count(pair));
  return result;
}

void PhraseView::compute(int64_t source_id, OptionList& out) const {
  const Source source = read_source(source_id);
  std::vector<Candidate> candidates;
  for (int64_t pair = source.first_pair; pair < source.end_pair; ++pair) {
    const int64_t n = count(pair);
    if (n < options_.min_count) continue;
    candidates.push_back({pair, n, p_target(source, pair, n), 0});
  }
  const auto limit = static_cast<size_t>(options_.max_targets);
  const auto by_p = [](const Candidate& a, const Candidate& b) { return a.p_target > b.p_target; };
  if (limit && candidates.size() > limit) {
    // What is certainly among the best stays; the other scores decide among those that tie for the last places.
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<int64_t>(limit) - 1, candidates.end(), by_p);
    const double last = candidates[limit - 1].p_target;
    std::erase_if(candidates, [&](const Candidate& c) { return c.p_target < last; });
  }
  std::vector<TranslationOption> scored(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].rest = score(source, candidates[i], scored[i]);
    candidates[i].index = i;
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.p_target != b.p_target) return a.p_target > b.p_target;
    if (a.rest != b.rest) return a.rest > b.rest;
    return a.pair < b.pair;
  });
  if (limit && candidates.size() > limit) candidates.resize(limit);
  for (const Candidate& candidate : candidates) {
    out.options.push_back(scored[candidate.index]);
    reorder(candidate.pair, out.reordering);
  }
}

std::optional<TranslationOption> PhraseView::pair(int64_t pair, std::vector<float>& reordering) const {
  const int64_t n = count(pair);
  if (n < options_.min_count) return std::nullopt;
  const Source source = read_source(tables_.source_of_pair(pair));
  TranslationOption option;
  score(source, {pair, n, p_target(source, pair, n), 0}, option);
  reorder(pair, reordering);
  return option;
}

// Fills everything but the span's place and the reordering; returns the sum of the scores beside p(e|f).
double PhraseView::score(const Source& source, const Candidate& candidate, TranslationOption& option) const {
  option.begin = 0;
  option.end = static_cast<int32_t>(source.symbols.size());
  option.pair = candidate.pair;
  option.count = candidate.count;
  option.target = tables_.targets[tables_.target_of_pair(candidate.pair)];
  if (tables_.is_given()) {
    const auto events = tables_.pair_events[candidate.pair];
    if (!events.empty()) option.alignment = tables_.alignments[events.front().alignment()];
    std::copy_n(tables_.given_scores.begin() + candidate.pair * kNumPhraseScores, kNumPhraseScores,
                option.scores.begin());
    return option.scores[kScorePFE] + option.scores[kScoreLexEF] + option.scores[kScoreLexFE];
  }
  const BestAlignments best = best_alignments(tables_, folds_, candidate.pair);
  option.alignment = best.by_target;
  const double p_source_log = std::log(p_source(source, candidate.pair, candidate.count));
  const double lex_target = lexical_.log_weight(source.symbols, option.target, best.by_target, true);
  const double lex_source = lexical_.log_weight(source.symbols, option.target, best.by_source, false);
  option.scores = {static_cast<float>(std::log(candidate.p_target)), static_cast<float>(p_source_log),
                   static_cast<float>(lex_target), static_cast<float>(lex_source)};
  return p_source_log + lex_target + lex_source;
}

// A grammar with given scores has no word counts; its vocabulary is all it knows.
bool PhraseView::knows_source(int32_t word) const {
  if (word < 0 || word + 1 >= tables_.source_words.size()) return false;
  return tables_.is_given() ? tables_.child(0, word) >= 0 : folds_.sum(tables_.source_words[word + 1]) > 0;
}

bool PhraseView::knows_target(int32_t word) const {
  if (word < 0 || word + 1 >= tables_.target_words.size()) return false;
  return tables_.is_given() || folds_.sum(tables_.target_words[word + 1]) > 0;
}

}  // namespace dragoman::grammar
