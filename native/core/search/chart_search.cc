#include "core/search/chart_search.hh"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/parallel.hh"
#include "core/search/chart_searcher.hh"
#include "core/search/forced_chart.hh"
#include "core/search/reference_parser.hh"

namespace dragoman::search {

namespace {

[[noreturn]] void fail(const std::string& why) { throw std::invalid_argument("translation rules: " + why); }

}  // namespace

void ChartLabels::check(int32_t n_labels) const {
  if (goal < 0 || goal > n_labels) fail("the goal has no label");
  for (const auto* labels : {&glue, &unknown}) {
    for (const int32_t label : *labels)
      if (label < 0 || label >= n_labels) fail("a label of glue or of unknown words is not there");
    if (std::adjacent_find(labels->begin(), labels->end(), std::greater_equal<>()) != labels->end())
      fail("labels of glue and of unknown words must be distinct and in order");
  }
}

ChartDecoder::ChartDecoder(ChartSettings settings, ChartFeatures features, std::shared_ptr<const lm::Model> lm,
                           std::vector<uint32_t> lm_words)
    : settings_(settings), features_(std::move(features)), lm_(std::move(lm)), lm_words_(std::move(lm_words)) {
  if (settings_.pop_limit < 1) throw std::invalid_argument("the pop limit must be at least 1");
  if (settings_.rule_limit < 0) throw std::invalid_argument("the rule limit must not be negative");
  if (settings_.max_span < 1) throw std::invalid_argument("rules must be allowed to cover a word");
  if (!(settings_.beam >= 0)) throw std::invalid_argument("the beam must not be negative");
  for (const uint32_t word : lm_words_)
    if (lm_ && word >= lm_->n_words()) throw std::invalid_argument("a word is not in the language model");
}

template <typename Take>
void ChartDecoder::run(const RuleBatch& batch, const ChartLabels& labels, std::span<const double> weights,
                       int n_threads, Control& control, Take&& take) const {
  if (batch.n_scores != static_cast<int64_t>(features_.scores.size())) fail("every rule needs a value for each score");
  labels.check(batch.n_labels());
  const ChartModel model{settings_, features_, lm_.get(), lm_words_, labels, weights};
  std::vector<std::unique_ptr<ChartSearcher>> searchers(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(batch.size(), 1, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    auto& searcher = searchers[static_cast<size_t>(worker)];
    if (!searcher) searcher = std::make_unique<ChartSearcher>(model);
    for (int64_t s = begin; s < end; ++s) take(s, searcher->run(batch, s, control));
  });
}

std::vector<forest::Forest> ChartDecoder::decode(const RuleBatch& batch, const ChartLabels& labels,
                                                 std::span<const double> weights, int n_threads,
                                                 Control& control) const {
  std::vector<forest::Forest> forests(at(batch.size()));
  run(batch, labels, weights, n_threads, control,
      [&](int64_t s, forest::Forest&& forest) { forests[at(s)] = std::move(forest); });
  return forests;
}

forest::KBestLists ChartDecoder::decode_kbest(const RuleBatch& batch, const ChartLabels& labels,
                                              std::span<const double> weights, int64_t k, bool distinct, int n_threads,
                                              Control& control, bool derivations) const {
  std::vector<forest::KBestLists> parts(at(batch.size()));
  run(batch, labels, weights, n_threads, control, [&](int64_t s, forest::Forest&& forest) {
    forest::KBestLists& part = parts[at(s)];
    forest::append_kbest(forest, weights, k, distinct, control, part);
    if (derivations)
      forest::append_derivations(forest, part.edge_offsets, part.edges, forest::DerivationOrder::kPreOrder,
                                 part.derivations.emplace());
  });
  return forest::concatenated(std::move(parts));
}

forest::ReferenceForests ChartDecoder::references(const RuleBatch& batch, const RuleBatch* minimal,
                                                  const ChartLabels& labels, std::span<const double> weights,
                                                  const ReferencePairs& pairs, const ReferenceSettings& settings,
                                                  int n_threads, Control& control) const {
  constexpr int64_t kChunk = 16;
  for (const RuleBatch* rules : {&batch, minimal})
    if (rules != nullptr && rules->n_scores != static_cast<int64_t>(features_.scores.size()))
      fail("every rule needs a value for each score");
  if (minimal != nullptr && (minimal->size() != batch.size() || minimal->labels != batch.labels))
    fail("the minimal rules are of other sentences");
  if (settings.prior_column >= batch.n_scores) fail("there is no such score");
  pairs.check(batch.words);
  labels.check(batch.n_labels());
  ChartSettings all = settings_;
  all.rule_limit = 0;
  const ChartModel model{all, features_, lm_.get(), lm_words_, labels, weights};
  std::vector<forest::ReferenceForests> parts(at((batch.size() + kChunk - 1) / kChunk));
  std::vector<std::unique_ptr<ReferenceParser>> parsers(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(batch.size(), kChunk, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    auto& parser = parsers[static_cast<size_t>(worker)];
    if (!parser) parser = std::make_unique<ReferenceParser>(model, settings);
    for (int64_t s = begin; s < end; ++s)
      parser->run(batch, minimal, s, pairs.targets[s], pairs.links[s], control, parts[at(begin / kChunk)]);
  });
  forest::ReferenceForests result;
  for (forest::ReferenceForests& part : parts) result.append(part);
  return result;
}

ForcedTranslations ChartDecoder::force(const RuleBatch& batch, const ChartLabels& labels,
                                       std::span<const double> weights, const ForcedPairs& pairs,
                                       const ForcedSettings& settings, int n_threads, Control& control) const {
  if (batch.n_scores != static_cast<int64_t>(features_.scores.size())) fail("every rule needs a value for each score");
  check_pairs(pairs, batch.words);
  labels.check(batch.n_labels());
  ChartSettings all = settings_;
  all.rule_limit = 0;
  const ChartModel model{all, features_, lm_.get(), lm_words_, labels, weights};
  return force_pairs(pairs, weights, n_threads, control,
                     [&] { return std::make_unique<ForcedChart>(batch, model, settings, control); });
}

}  // namespace dragoman::search
