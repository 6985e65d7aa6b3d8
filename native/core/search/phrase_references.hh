// Forests around given translations by phrase pairs: all segmentations of a word-aligned pair into options that agree
// with the alignment, in the order that the reference demands, and what could stand in place of each option.
//
// A node is an option at its place with what stood before it (the words covered, the blocks) and the orientations of
// what follows, so that an edge, the phrase put after those of its tail, has all features that depend on the option:
// its scores, the jump to it, its orientation to what is before and to what is after. Replaced by another option of the
// same span, only these and the language model's part change.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/align/links.hh"
#include "core/align/minimal_tree.hh"
#include "core/forest/reference_forests.hh"
#include "core/lm/model.hh"
#include "core/search/link_counts.hh"
#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_hypotheses.hh"
#include "core/search/phrase_prepare.hh"
#include "core/search/phrase_search.hh"
#include "core/search/phrase_transition.hh"
#include "core/search/reference_settings.hh"
#include "core/search/reference_text.hh"

namespace dragoman::search {

class PhraseReferences {
 public:
  static constexpr int32_t kMaxWords = 1000;      // pairs with more on a side have no forest
  static constexpr size_t kMaxStates = 1u << 17;  // nor those with more ways to cover words

  PhraseReferences(const PhraseSettings& settings, const PhraseFeatures& features, const lm::Model* lm,
                   std::span<const uint32_t> lm_words, std::span<const double> weights,
                   const ReferenceSettings& reference_settings);
  PhraseReferences(const PhraseReferences&) = delete;
  PhraseReferences& operator=(const PhraseReferences&) = delete;
  // Appends the forest of a sentence.
  void run(const PhraseBatch& batch, int64_t sentence, std::span<const int32_t> target,
           std::span<const align::Link> links, forest::ReferenceForests& out);

 private:
  static constexpr int32_t kHole = -1;
  // An option, or a hole, over target words that begin at a known place.
  struct Arc {
    SourceSpan span;
    int32_t target_end;
    int32_t option;  // in Prepared::options, or kHole
  };
  // Hypotheses that differ in nothing that matters later: `option` is the last one, over `target`.
  struct State {
    Hypothesis hypothesis;
    SourceSpan span;
    TargetRange target;
    int32_t option;
    bool is_alive = false;  // on a way to the end
    int32_t first_group = 0, n_groups = 0;
  };
  using Key = std::array<int32_t, 6>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Step {
    int32_t from, to;  // states
  };
  // A state whose next phrase takes these orientations from here; the node of the forest.
  struct Group {
    int32_t state;
    SourceSpan next;  // one such phrase; empty: none follows
    std::vector<int8_t> types;
  };
  struct Edge {
    int32_t head, tail;  // groups
    int32_t option;
    double score = 0;
  };

  void prepare(const PhraseBatch& batch, int64_t sentence);
  void find_arcs();
  void add_holes(std::span<const align::Link> links);
  // All states; whether one of them is the end.
  bool connect();
  int32_t state_after(int32_t from, const Arc& arc, int32_t target_begin);
  bool leaves_dead_gap(uint32_t coverage, SourceSpan span) const;
  void split();
  int32_t group_of(int32_t state, SourceSpan next);

  void append_features(const Edge& edge, int32_t option, std::vector<forest::Feature>& out);
  float prior_of(int32_t option) const;
  double weigh(std::span<const forest::Feature> features) const;
  void score_edges();
  bool write(forest::ReferenceForests& out);
  void write_wrong(const Edge& edge, int32_t tail, forest::ReferenceForests& out);
  std::span<const int32_t> target_words(int32_t option) const;

  PhraseSettings settings_;
  const PhraseFeatures& features_;
  const lm::Model* lm_;
  std::span<const uint32_t> lm_words_;
  std::span<const double> weights_;
  ReferenceSettings reference_settings_;
  Prepared prepared_;
  Coverages coverages_;
  Transitions transitions_;
  ReferenceText text_;
  align::TreeBuilder trees_;

  const PhraseBatch* batch_ = nullptr;
  int64_t sentence_ = 0;
  std::span<const int32_t> reference_;
  int32_t n_words_ = 0, n_target_ = 0;
  LinkCounts links_;
  std::vector<std::vector<Arc>> arcs_;  // by the first target word
  std::vector<State> states_;
  std::vector<std::vector<int32_t>> states_by_end_;
  std::unordered_map<Key, int32_t, KeyHash> known_;
  std::vector<Step> steps_;
  std::vector<Group> groups_;
  std::vector<Edge> edges_;  // by head; the goal's are those of the last groups
  std::vector<double> inside_, outside_;
  std::vector<int32_t> goals_;  // groups of whole translations
  double best_ = 0;
  std::vector<forest::Feature> row_;
  std::vector<int32_t> symbols_;
};

}  // namespace dragoman::search
