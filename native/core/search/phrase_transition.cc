#include "core/search/phrase_transition.hh"

namespace dragoman::search {

Transitions::Transitions(const PhraseFeatures& features,
                         std::span<const std::shared_ptr<const TransitionTemplate>> templates, const Prepared& prepared,
                         const Coverages& coverages)
    : features_(features), templates_(templates), prepared_(prepared), coverages_(coverages) {
  for (const ReorderingFeatures& model : features.reordering) {
    uses_blocks_ = uses_blocks_ || (model.hierarchical && !model.backward.empty());
    // A swap is told by where the phrase before begins: by phrases in both directions, by blocks only forwards.
    uses_begin_ = uses_begin_ || !model.hierarchical || !model.forward.empty();
  }
  for (const auto& t : templates) uses_words_ = uses_words_ || t->uses_blocks();
  uses_blocks_ = uses_blocks_ || uses_words_;
  orientations_.resize(2 * features.reordering.size());
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

void Transitions::template_features(const Hypothesis& h, const Option& o) {
  const size_t n_models = features_.reordering.size();
  found_.clear();
  const std::span<const int8_t> orientations(orientations_);
  for (size_t t = 0; t < templates_.size(); ++t)
    templates_[t]->features({sentence_, view_of(*batch_, sentence_, o), h.carry == 0,
                             prepared_.carry_states[h.carry * templates_.size() + t], blocks_.top(h.blocks),
                             orientations.subspan(0, n_models), orientations.subspan(n_models)},
                            found_);
}

double Transitions::template_score(const Hypothesis& h, const Option& o) {
  template_features(h, o);
  double sum = 0;
  for (const forest::Feature& f : found_) sum += weight_of(weights_, f.id) * static_cast<double>(f.value);
  return sum;
}

void Transitions::append_features(const Hypothesis& h, const Option& o, std::vector<forest::Feature>& out) {
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  orient(h, o.span);
  const size_t n_models = features_.reordering.size(), n_columns = prepared_.n_backward + prepared_.n_forward;
  const float* row = o.source < 0 ? nullptr : batch_->orientations.data() + static_cast<size_t>(o.source) * n_columns;
  const float* forth = prepared_.carry_scores.data() + h.carry * prepared_.n_forward;
  for (size_t m = 0; m < n_models; ++m) {
    const ReorderingFeatures& model = features_.reordering[m];
    const auto back_type = static_cast<size_t>(orientations_[m]);
    const auto forth_type = static_cast<size_t>(orientations_[n_models + m]);
    if (!model.backward.empty() && row != nullptr) add(model.backward[back_type], row[back_type]);
    if (!model.forward.empty()) add(model.forward[forth_type], forth[forth_type]);
    if (row != nullptr) row += model.backward.size() + model.forward.size();
    forth += model.forward.size();
  }
  if (batch_->oriented) {
    const auto orientation = at(static_cast<int>(blocks_.backward(h.blocks, o.span)));
    for (const int32_t part : parts_of(*batch_, sentence_, o)) each_feature(*batch_->oriented, part, orientation, add);
  }
  if (templates_.empty()) return;
  template_features(h, o);
  for (const forest::Feature& f : found_) add(f.id, f.value);
}

}  // namespace dragoman::search
