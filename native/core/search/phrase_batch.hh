// The translation options of a batch of sentences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ragged.hh"
#include "core/names/new_features.hh"

namespace dragoman::search {

// Features of orientation templates: what they look at, in parts, has some for each of five orientations.
struct OrientationFeatures {
  RaggedVector<int32_t> of_option, of_word;  // parts of phrases; those of a source word where it passes through
  RaggedVector<int32_t> feature_ids;         // row 5 * p + o: of part p with orientation o
  std::vector<float> feature_values;
  // Parts of words at the edges of the block before, the first and the last: target words of an option and of a source
  // word that passes through (-1: none), and source words. All empty without such templates.
  std::vector<int32_t> block_targets, block_passed, block_sources;
  std::vector<int32_t> block_start;  // before the first phrase: of the source side, then of the target side
  std::vector<int32_t> gap_words;    // parts of source words between a phrase and the block; empty without templates

  size_t n_parts() const { return at(feature_ids.size() / 5); }
};

// Row i of a ragged part belongs to option i.
struct PhraseBatch {
  // For every source word the target id that it is passed through as, where no option covers just it.
  RaggedVector<int32_t> pass_through;
  std::vector<int64_t> first;  // options of sentence s: first[s] to first[s + 1]
  std::vector<int32_t> begin, end;
  RaggedVector<int32_t> targets;
  std::vector<int64_t> rules;
  std::vector<float> scores;        // row-major
  std::vector<float> orientations;  // row-major, log probabilities, the columns of all models
  RaggedVector<int32_t> feature_ids;
  std::vector<float> feature_values;
  int64_t n_scores = 0, n_orientations = 0;  // columns
  std::vector<int64_t> counts{};             // how often each option occurs in the view; empty: not told
  std::vector<std::string> own_words{};      // of target ids beyond the vocabulary
  // Names of feature ids from NewFeatures::kFirst on, and the size of the index that lacks them; null: there are none.
  std::shared_ptr<const names::NewFeatures> new_features{};
  int32_t index_size = 0;
  std::optional<OrientationFeatures> oriented{};  // none without such templates

  int64_t size() const { return pass_through.size(); }
  // Throws std::invalid_argument unless everything fits together; decoders rely on it.
  void check() const;

  // Calls visit(name, vector) for every array, and visit(name, vector, number of columns) for a matrix.
  template <typename Batch, typename Visit>
  static void each_array(Batch& b, Visit&& visit) {
    visit("pass_offsets", b.pass_through.offsets);
    visit("pass_through", b.pass_through.values);
    visit("first", b.first);
    visit("begin", b.begin);
    visit("end", b.end);
    visit("target_offsets", b.targets.offsets);
    visit("targets", b.targets.values);
    visit("rules", b.rules);
    visit("scores", b.scores, b.n_scores);
    visit("orientations", b.orientations, b.n_orientations);
    visit("feature_offsets", b.feature_ids.offsets);
    visit("feature_ids", b.feature_ids.values);
    visit("feature_values", b.feature_values);
    if (!b.oriented) return;
    visit("part_offsets", b.oriented->of_option.offsets);
    visit("parts", b.oriented->of_option.values);
    visit("word_part_offsets", b.oriented->of_word.offsets);
    visit("word_parts", b.oriented->of_word.values);
    visit("part_feature_offsets", b.oriented->feature_ids.offsets);
    visit("part_feature_ids", b.oriented->feature_ids.values);
    visit("part_feature_values", b.oriented->feature_values);
    visit("block_targets", b.oriented->block_targets);
    visit("block_passed", b.oriented->block_passed);
    visit("block_sources", b.oriented->block_sources);
    visit("block_start", b.oriented->block_start);
    visit("gap_words", b.oriented->gap_words);
  }
  template <typename Visit>
  static void each_feature_ids(PhraseBatch& b, Visit&& visit) {
    visit(b.feature_ids.values);
    if (b.oriented) visit(b.oriented->feature_ids.values);
  }
};

}  // namespace dragoman::search
