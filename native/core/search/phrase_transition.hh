// What a phrase adds to the score because of the phrases before it, other than the language model's part: orientations
// and the features of templates that depend on them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/search/oriented_parts.hh"
#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_hypotheses.hh"
#include "core/search/phrase_prepare.hh"
#include "core/search/phrase_search.hh"

namespace dragoman::search {

// Works on one sentence at a time; everything that it refers to must outlive it.
class Transitions {
 public:
  Transitions(const PhraseFeatures& features, const Prepared& prepared, const Coverages& coverages);

  // `part_sums` are those of weighted_parts.
  void start(const PhraseBatch& batch, int64_t sentence, std::span<const double> part_sums);

  // What recombination must compare of the phrase just put after `before`, the rest of `h` being known.
  void complete(const Hypothesis& before, const Option& o, Hypothesis& h) {
    h.carry = o.carry;
    h.last_end = o.span.end;
    h.last_begin = -1;
    if (uses_begin_ && o.span.begin > 0 && !coverages_.is_covered(h.coverage, o.span.begin - 1))
      h.last_begin = o.span.begin;
    h.blocks = tracks_blocks_ ? blocks_.shift(before.blocks, o.span, o.target) : 0;
    if (parts_.has_blocks()) sum_blocks();
  }

  double score(const Hypothesis& h, size_t option) {
    if (orientations_.empty() && prepared_.oriented.empty()) return 0;
    const Option& o = prepared_.options[option];
    const grammar::Orientation by_blocks = orient(h, o.span);
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
    return prepared_.oriented.empty() ? sum : sum + oriented_score(h, option, by_blocks);
  }

  // The features behind that score.
  void append_features(const Hypothesis& h, const Option& o, std::vector<forest::Feature>& out) {
    append(h, o, true, true, out);
  }
  // Those of them that the new phrase has, and those of the phrase before, which `h` carries, when one over `next` is
  // put after it. Nothing of the latter depends on more than the types.
  void append_entering(const Hypothesis& h, const Option& o, std::vector<forest::Feature>& out) {
    append(h, o, true, false, out);
  }
  void append_leaving(const Hypothesis& h, SourceSpan next, std::vector<forest::Feature>& out) {
    append(h, {next, 0, 0, 0, {}, -1, 0, 0}, false, true, out);
  }
  // By model with forward features, the orientation; valid until the next call.
  std::span<const int8_t> leaving_types(const Hypothesis& h, SourceSpan next);

 private:
  using Sums = std::array<double, templates::kOrientations>;

  void append(const Hypothesis& h, const Option& o, bool is_entering, bool is_leaving,
              std::vector<forest::Feature>& out);

  // Orientations of every model: backward ones, then those of the phrase before. Gives the one by blocks, if they are
  // tracked.
  grammar::Orientation orient(const Hypothesis& h, SourceSpan span) {
    const size_t n_models = features_.reordering.size();
    const grammar::Orientation by_blocks =
        tracks_blocks_ ? blocks_.backward(h.blocks, span) : grammar::Orientation::kMono;
    for (size_t m = 0; m < n_models; ++m) {
      const ReorderingFeatures& model = features_.reordering[m];
      grammar::Orientation back = by_blocks, forth;
      if (model.hierarchical)
        forth = forward_by_blocks(h, span);
      else
        back = forth = orientation_after({h.last_begin, h.last_end}, span);
      orientations_[m] = static_cast<int8_t>(orientation_column(back, model.n_orientations));
      orientations_[n_models + m] = static_cast<int8_t>(orientation_column(forth, model.n_orientations));
    }
    return by_blocks;
  }

  // Of orientation templates: sums that are known for the option, for the block and for the words before each position.
  double oriented_score(const Hypothesis& h, size_t option, grammar::Orientation orientation) const {
    const auto column = static_cast<size_t>(orientation);
    double sum = prepared_.oriented[option * templates::kOrientations + column];
    if (!block_sums_.empty()) sum += block_sums_[h.blocks][column];
    if (prepared_.gaps_left.empty()) return sum;
    if (orientation != grammar::Orientation::kLeft && orientation != grammar::Orientation::kRight) return sum;
    const auto& gaps = orientation == grammar::Orientation::kLeft ? prepared_.gaps_left : prepared_.gaps_right;
    const SourceSpan gap = gap_between(blocks_.top(h.blocks).span, prepared_.options[option].span);
    return sum + (gaps[at(gap.end)] - gaps[at(gap.begin)]);
  }

  grammar::Orientation forward_by_blocks(const Hypothesis& h, SourceSpan span) const;
  // Of blocks that are new.
  void sum_blocks();

  const PhraseFeatures& features_;
  const Prepared& prepared_;
  const Coverages& coverages_;
  bool tracks_blocks_ = false;  // of this batch
  bool uses_blocks_ = false, uses_begin_ = false;

  const PhraseBatch* batch_ = nullptr;
  int64_t sentence_ = 0;
  std::span<const double> part_sums_;
  SentenceParts parts_;
  BlockStacks blocks_;
  std::vector<Sums> block_sums_;  // weighted, by stack and orientation; empty without such templates
  std::vector<int8_t> orientations_;
};

}  // namespace dragoman::search
