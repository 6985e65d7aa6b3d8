// What a phrase adds to the score because of the phrases before it, other than the language model's part: orientations
// and the features of templates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_hypotheses.hh"
#include "core/search/phrase_prepare.hh"
#include "core/search/phrase_search.hh"

namespace dragoman::search {

// Works on one sentence at a time; everything that it refers to must outlive it.
class Transitions {
 public:
  Transitions(const PhraseFeatures& features, std::span<const std::shared_ptr<const TransitionTemplate>> templates,
              const Prepared& prepared, const Coverages& coverages);

  void start(const PhraseBatch& batch, int64_t sentence, std::span<const double> weights) {
    batch_ = &batch;
    sentence_ = sentence;
    weights_ = weights;
    blocks_.clear();
    tracks_blocks_ = uses_blocks_ || batch.oriented;
  }

  // What recombination must compare of the phrase just put after `before`, the rest of `h` being known.
  void complete(const Hypothesis& before, const Option& o, Hypothesis& h) {
    h.carry = o.carry;
    h.last_end = o.span.end;
    h.last_begin = -1;
    if (uses_begin_ && o.span.begin > 0 && !coverages_.is_covered(h.coverage, o.span.begin - 1))
      h.last_begin = o.span.begin;
    h.blocks = tracks_blocks_ ? blocks_.shift(before.blocks, o.span, uses_words_ ? o.first_target : -1) : 0;
  }

  double score(const Hypothesis& h, size_t option) {
    if (orientations_.empty() && templates_.empty() && prepared_.oriented.empty()) return 0;
    const Option& o = prepared_.options[option];
    orient(h, o.span);
    const size_t n_models = features_.reordering.size();
    const double* back = prepared_.backward.data() + option * prepared_.n_backward;
    const double* forth = prepared_.forward.data() + h.carry * prepared_.n_forward;
    double sum = 0;
    for (size_t m = 0; m < n_models; ++m) {
      const ReorderingFeatures& model = features_.reordering[m];
      if (!model.backward.empty()) sum += back[orientations_[m]];
      if (!model.forward.empty()) sum += forth[orientations_[n_models + m]];
      back += model.backward.size();
      forth += model.forward.size();
    }
    if (!prepared_.oriented.empty())
      sum +=
          prepared_
              .oriented[option * templates::kOrientations + at(static_cast<int>(blocks_.backward(h.blocks, o.span)))];
    return templates_.empty() ? sum : sum + template_score(h, o);
  }

  // The features behind that score.
  void append_features(const Hypothesis& h, const Option& o, std::vector<forest::Feature>& out);

 private:
  // Orientations of every model: backward ones, then those of the phrase before.
  void orient(const Hypothesis& h, SourceSpan span) {
    const size_t n_models = features_.reordering.size();
    for (size_t m = 0; m < n_models; ++m) {
      const ReorderingFeatures& model = features_.reordering[m];
      grammar::Orientation back, forth;
      if (model.hierarchical) {
        back = blocks_.backward(h.blocks, span);
        forth = forward_by_blocks(h, span);
      } else {
        back = forth = orientation_after({h.last_begin, h.last_end}, span);
      }
      orientations_[m] = static_cast<int8_t>(orientation_column(back, model.n_orientations));
      orientations_[n_models + m] = static_cast<int8_t>(orientation_column(forth, model.n_orientations));
    }
  }

  grammar::Orientation forward_by_blocks(const Hypothesis& h, SourceSpan span) const;
  double template_score(const Hypothesis& h, const Option& o);
  void template_features(const Hypothesis& h, const Option& o);

  const PhraseFeatures& features_;
  std::span<const std::shared_ptr<const TransitionTemplate>> templates_;
  const Prepared& prepared_;
  const Coverages& coverages_;
  bool tracks_blocks_ = false;  // of this batch
  bool uses_blocks_ = false, uses_begin_ = false, uses_words_ = false;

  const PhraseBatch* batch_ = nullptr;
  int64_t sentence_ = 0;
  std::span<const double> weights_;
  BlockStacks blocks_;
  std::vector<int8_t> orientations_;
  std::vector<forest::Feature> found_;
};

}  // namespace dragoman::search
