#include "core/search/phrase_transition.hh"

namespace dragoman::search {

Transitions::Transitions(const PhraseFeatures& features, const Prepared& prepared, const Coverages& coverages)
    : features_(features), prepared_(prepared), coverages_(coverages) {
  for (const ReorderingFeatures& model : features.reordering) {
    uses_blocks_ = uses_blocks_ || (model.hierarchical && !model.backward.empty());
    // A swap is told by where the phrase before begins: by phrases in both directions, by blocks only forwards.
    uses_begin_ = uses_begin_ || !model.hierarchical || !model.forward.empty();
  }
  orientations_.resize(2 * features.reordering.size());
}

void Transitions::start(const PhraseBatch& batch, int64_t sentence, std::span<const double> part_sums) {
  batch_ = &batch;
  sentence_ = sentence;
  part_sums_ = part_sums;
  blocks_.clear();
  block_sums_.clear();
  tracks_blocks_ = uses_blocks_ || batch.oriented;
  parts_ = batch.oriented ? SentenceParts::of(batch, sentence) : SentenceParts{};
  if (parts_.has_blocks()) sum_blocks();
}

void Transitions::sum_blocks() {
  while (block_sums_.size() < blocks_.size()) {
    const BlockStacks::Block& block = blocks_.top(static_cast<uint32_t>(block_sums_.size()));
    Sums& sums = block_sums_.emplace_back();
    parts_.each_of_block(block, [&](int32_t part) {
      const double* row = part_sums_.data() + at(part) * templates::kOrientations;
      for (size_t o = 0; o < templates::kOrientations; ++o) sums[o] += row[o];
    });
  }
}

// The blocks that will follow are not known yet: a phrase to the right is taken as part of a block that begins at the
// last phrase's end when that place is still free, and likewise to the left.
grammar::Orientation Transitions::forward_by_blocks(const Hypothesis& h, SourceSpan span) const {
  if (span.begin >= h.last_end) {
    if (span.begin != h.last_end && coverages_.is_covered(h.coverage, h.last_end)) return grammar::Orientation::kRight;
    return coverages_.is_prefix(h.coverage, h.last_end) ? grammar::Orientation::kMonoGlobal
                                                        : grammar::Orientation::kMono;
  }
  return h.last_begin >= 0 ? grammar::Orientation::kSwap : grammar::Orientation::kLeft;
}

std::span<const int8_t> Transitions::leaving_types(const Hypothesis& h, SourceSpan next) {
  orient(h, next);
  const size_t n_models = features_.reordering.size();
  for (size_t m = 0; m < n_models; ++m)
    if (features_.reordering[m].forward.empty()) orientations_[n_models + m] = 0;
  return std::span(orientations_).subspan(n_models);
}

void Transitions::append(const Hypothesis& h, const Option& o, bool is_entering, bool is_leaving,
                         std::vector<forest::Feature>& out) {
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  const grammar::Orientation by_blocks = orient(h, o.span);
  const size_t n_models = features_.reordering.size(), n_columns = prepared_.n_backward + prepared_.n_forward;
  const float* row = o.source < 0 ? nullptr : batch_->orientations.data() + static_cast<size_t>(o.source) * n_columns;
  const float* forth = prepared_.carry_scores.data() + h.carry * prepared_.n_forward;
  for (size_t m = 0; m < n_models; ++m) {
    const ReorderingFeatures& model = features_.reordering[m];
    const auto back_type = static_cast<size_t>(orientations_[m]);
    const auto forth_type = static_cast<size_t>(orientations_[n_models + m]);
    if (is_entering && !model.backward.empty() && row != nullptr) add(model.backward[back_type], row[back_type]);
    if (is_leaving && !model.forward.empty()) add(model.forward[forth_type], forth[forth_type]);
    if (row != nullptr) row += model.backward.size() + model.forward.size();
    forth += model.forward.size();
  }
  if (!is_entering || !batch_->oriented) return;
  const auto add_part = [&](int32_t part) {
    each_feature(*batch_->oriented, part, static_cast<size_t>(by_blocks), add);
  };
  for (const int32_t part : parts_of(*batch_, sentence_, o)) add_part(part);
  parts_.each_of_block(blocks_.top(h.blocks), add_part);
  parts_.each_of_gap(blocks_.top(h.blocks), o.span, add_part);
}

}  // namespace dragoman::search
