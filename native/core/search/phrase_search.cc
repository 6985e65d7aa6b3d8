#include "core/search/phrase_search.hh"

#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/parallel.hh"
#include "core/search/forced_phrases.hh"
#include "core/search/phrase_references.hh"
#include "core/search/phrase_searcher.hh"

namespace dragoman::search {

namespace {

// The language model, or none: then every word scores 0 in the one state.
struct ModelLm {
  static constexpr uint32_t kUnk = lm::kUnk, kEos = lm::kEos;
  const lm::Model* model;
  uint32_t begin() const { return model ? model->begin_state().node : 0; }
  uint32_t empty() const { return model ? model->empty_state().node : 0; }
  float score(uint32_t state, uint32_t word, uint32_t& next) const {
    lm::State out{0};
    const float logprob = model ? model->score({state}, word, out) : 0;
    next = out.node;
    return logprob;
  }
  void prefetch(uint32_t state, uint32_t word) const {
    if (!model) return;
    model->prefetch_node(state);
    model->prefetch(state, word);
  }
};

}  // namespace

size_t PhraseFeatures::n_orientations() const {
  size_t n = 0;
  for (const ReorderingFeatures& model : reordering) n += model.backward.size() + model.forward.size();
  return n;
}

PhraseDecoder::PhraseDecoder(PhraseSettings settings, PhraseFeatures features, std::shared_ptr<const lm::Model> lm,
                             std::vector<uint32_t> lm_words)
    : settings_(settings), features_(std::move(features)), lm_(std::move(lm)), lm_words_(std::move(lm_words)) {
  if (settings_.stack_size < 1) throw std::invalid_argument("the stack size must be at least 1");
  if (settings_.pop_limit < 0) throw std::invalid_argument("the pop limit must not be negative");
  if (settings_.option_limit < 0) throw std::invalid_argument("the option limit must not be negative");
  if (!(settings_.beam >= 0)) throw std::invalid_argument("the beam must not be negative");
  for (const ReorderingFeatures& model : features_.reordering) {
    const int n = model.n_orientations;
    if (n < 3 || n > (model.hierarchical ? 5 : 4))
      throw std::invalid_argument("a reordering model has 3 or 4 orientations, a hierarchical one 3 to 5");
    for (const auto* direction : {&model.backward, &model.forward})
      if (!direction->empty() && static_cast<int>(direction->size()) != n)
        throw std::invalid_argument("a reordering model needs a feature for each orientation");
  }
  for (const uint32_t word : lm_words_)
    if (lm_ && word >= lm_->n_words()) throw std::invalid_argument("a word is not in the language model");
}

void PhraseDecoder::check(const PhraseBatch& batch) const {
  const auto fail = [](const std::string& why) { throw std::invalid_argument("translation options: " + why); };
  if (batch.n_scores != static_cast<int64_t>(features_.scores.size()))
    fail("every option needs a value for each score");
  if (batch.n_orientations != static_cast<int64_t>(features_.n_orientations()))
    fail("every option needs a value for each orientation of each reordering model");
}

template <typename Take>
void PhraseDecoder::run(const PhraseBatch& batch, std::span<const double> weights, int n_threads, Control& control,
                        Take&& take) const {
  check(batch);
  const std::vector<double> part_sums = weighted_parts(batch, weights);
  using Searcher = PhraseSearcher<ModelLm>;
  std::vector<std::unique_ptr<Searcher>> searchers(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(batch.size(), 1, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    auto& searcher = searchers[static_cast<size_t>(worker)];
    if (!searcher) searcher = std::make_unique<Searcher>(settings_, features_, ModelLm{lm_.get()}, lm_words_);
    for (int64_t s = begin; s < end; ++s) take(s, searcher->run(batch, s, weights, part_sums));
  });
}

std::vector<forest::Forest> PhraseDecoder::decode(const PhraseBatch& batch, std::span<const double> weights,
                                                  int n_threads, Control& control) const {
  std::vector<forest::Forest> forests(static_cast<size_t>(batch.size()));
  run(batch, weights, n_threads, control,
      [&](int64_t s, forest::Forest&& forest) { forests[static_cast<size_t>(s)] = std::move(forest); });
  return forests;
}

forest::KBestLists PhraseDecoder::decode_kbest(const PhraseBatch& batch, std::span<const double> weights, int64_t k,
                                               bool distinct, int n_threads, Control& control, bool derivations) const {
  std::vector<forest::KBestLists> parts(static_cast<size_t>(batch.size()));
  run(batch, weights, n_threads, control, [&](int64_t s, forest::Forest&& forest) {
    forest::KBestLists& part = parts[static_cast<size_t>(s)];
    forest::append_kbest(forest, weights, k, distinct, control, part);
    if (derivations)
      forest::append_derivations(forest, part.edge_offsets, part.edges, forest::DerivationOrder::kTargetOrder,
                                 part.derivations.emplace());
  });
  return forest::concatenated(std::move(parts));
}

forest::ReferenceForests PhraseDecoder::references(const PhraseBatch& batch, std::span<const double> weights,
                                                   const ReferencePairs& pairs, const ReferenceSettings& settings,
                                                   int n_threads, Control& control) const {
  constexpr int64_t kChunk = 16;
  check(batch);
  if (!batch.counts.empty() && batch.counts.size() != batch.rules.size())
    throw std::invalid_argument("translation options: every option needs a count");
  if (batch.oriented && !batch.oriented->block_start.empty())
    throw std::invalid_argument("features of the block before a phrase depend on phrases that are replaced");
  pairs.check(batch.pass_through);
  PhraseSettings all = settings_;
  all.option_limit = 0;
  all.distortion_limit = -1;
  std::vector<forest::ReferenceForests> parts(at((batch.size() + kChunk - 1) / kChunk));
  std::vector<std::unique_ptr<PhraseReferences>> makers(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(batch.size(), kChunk, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    auto& maker = makers[static_cast<size_t>(worker)];
    if (!maker) maker = std::make_unique<PhraseReferences>(all, features_, lm_.get(), lm_words_, weights, settings);
    for (int64_t s = begin; s < end; ++s) {
      control.check();
      maker->run(batch, s, pairs.targets[s], pairs.links[s], parts[at(begin / kChunk)]);
    }
  });
  forest::ReferenceForests result;
  for (const forest::ReferenceForests& part : parts) result.append(part);
  return result;
}

ForcedTranslations PhraseDecoder::force(const PhraseBatch& batch, std::span<const double> weights,
                                        const ForcedPairs& pairs, const ForcedSettings& settings, int n_threads,
                                        Control& control) const {
  check(batch);
  check_pairs(pairs, batch.pass_through);
  const std::vector<double> part_sums = weighted_parts(batch, weights);
  return force_pairs(pairs, weights, n_threads, control, [&] {
    return std::make_unique<ForcedPhraseSearcher>(batch, features_, lm_.get(), lm_words_, weights, part_sums,
                                                  settings_.distortion_limit, settings, control);
  });
}

}  // namespace dragoman::search
