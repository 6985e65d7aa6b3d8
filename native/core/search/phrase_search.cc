#include "core/search/phrase_search.hh"

#include <stdexcept>
#include <utility>

#include "core/base/parallel.hh"
#include "core/search/phrase_searcher.hh"

namespace dragoman::search {

namespace {

struct ModelLm {
  static constexpr uint32_t kUnk = lm::kUnk, kEos = lm::kEos;
  const lm::Model* model;
  uint32_t begin() const { return model->begin_state().node; }
  uint32_t empty() const { return model->empty_state().node; }
  float score(uint32_t state, uint32_t word, uint32_t& next) const {
    lm::State out;
    const float logprob = model->score({state}, word, out);
    next = out.node;
    return logprob;
  }
  void prefetch(uint32_t state, uint32_t word) const {
    model->prefetch_node(state);
    model->prefetch(state, word);
  }
};

struct NoLm {
  static constexpr uint32_t kUnk = 0, kEos = 0;
  uint32_t begin() const { return 0; }
  uint32_t empty() const { return 0; }
  float score(uint32_t, uint32_t, uint32_t& next) const {
    next = 0;
    return 0;
  }
  void prefetch(uint32_t, uint32_t) const {}
};

}  // namespace

PhraseDecoder::PhraseDecoder(PhraseSettings settings, PhraseFeatures features, std::shared_ptr<const lm::Model> lm,
                             std::vector<uint32_t> lm_words,
                             std::vector<std::shared_ptr<const TransitionTemplate>> templates)
    : settings_(settings),
      features_(std::move(features)),
      lm_(std::move(lm)),
      lm_words_(std::move(lm_words)),
      templates_(std::move(templates)) {
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

template <typename Take>
void PhraseDecoder::run(const PhraseBatch& batch, std::span<const double> weights, int n_threads, Control& control,
                        Take&& take) const {
  batch.check(features_);
  const auto with = [&](auto lm) {
    using Searcher = PhraseSearcher<decltype(lm)>;
    std::vector<std::unique_ptr<Searcher>> searchers(static_cast<size_t>(std::max(1, n_threads)));
    parallel_chunks(batch.size(), 1, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
      auto& searcher = searchers[static_cast<size_t>(worker)];
      if (!searcher) searcher = std::make_unique<Searcher>(settings_, features_, lm, lm_words_, templates_);
      for (int64_t s = begin; s < end; ++s) take(s, searcher->run(batch, s, weights));
    });
  };
  if (lm_)
    with(ModelLm{lm_.get()});
  else
    with(NoLm{});
}

std::vector<forest::Forest> PhraseDecoder::decode(const PhraseBatch& batch, std::span<const double> weights,
                                                  int n_threads, Control& control) const {
  std::vector<forest::Forest> forests(static_cast<size_t>(batch.size()));
  run(batch, weights, n_threads, control,
      [&](int64_t s, forest::Forest&& forest) { forests[static_cast<size_t>(s)] = std::move(forest); });
  return forests;
}

forest::KBestLists PhraseDecoder::decode_kbest(const PhraseBatch& batch, std::span<const double> weights, int64_t k,
                                               bool distinct, int n_threads, Control& control) const {
  std::vector<forest::KBestLists> parts(static_cast<size_t>(batch.size()));
  run(batch, weights, n_threads, control, [&](int64_t s, forest::Forest&& forest) {
    forest::append_kbest(forest, weights, k, distinct, parts[static_cast<size_t>(s)]);
  });
  return forest::concatenated(std::move(parts));
}

}  // namespace dragoman::search
