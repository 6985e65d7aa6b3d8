// A grammar as a decoder sees it: all data or all but one fold, scored, cut and limited. Nothing is computed before a
// source side is looked up; a view is immutable and threads share it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/grammar/lexical_weights.hh"
#include "core/grammar/source_cache.hh"
#include "core/grammar/tables.hh"

namespace dragoman::grammar {

enum class PhraseSmoothing : uint8_t { kNone, kKneserNey };

struct ReorderingChoice {
  ReorderingModel model = ReorderingModel::kWord;
  // 3: mono, swap, discontinuous. 4: the latter split into left and right. 5 (hierarchical only): mono split into mono
  // and mono after (before) one block of everything.
  int n_orientations = 3;
};

struct PhraseViewOptions {
  int excluded_fold = -1;  // -1: none
  int max_targets = 20;    // of a source side, the best by p(e|f); 0: all
  int64_t min_count = 1;   // of a pair
  PhraseSmoothing smoothing = PhraseSmoothing::kNone;
  std::vector<ReorderingChoice> reordering;
  double reordering_smoothing = 0.5;  // added to every orientation's count
};

// Scores are natural logs: p(e|f), p(f|e), lex(e|f), lex(f|e), as the names of the dense features go.
enum : int { kScorePEF = 0, kScorePFE = 1, kScoreLexEF = 2, kScoreLexFE = 3, kNumPhraseScores = 4 };

struct TranslationOption {
  int32_t begin = 0, end = 0;  // source words [begin, end)
  int64_t pair = -1;           // the same in every view
  int64_t count = 0;           // in the view
  std::span<const Symbol> target;
  std::span<const PhraseLink> alignment;  // the most frequent one
  std::array<float, kNumPhraseScores> scores{};
};

// Options and, option by option, their reordering scores: for every chosen model its orientations backward, then
// forward. Spans point into the grammar's tables.
struct OptionList {
  std::vector<TranslationOption> options;
  std::vector<float> reordering;
  int n_reordering = 0;

  std::span<const float> reordering_of(size_t option) const {
    return std::span(reordering).subspan(option * static_cast<size_t>(n_reordering), static_cast<size_t>(n_reordering));
  }
  void clear() {
    options.clear();
    reordering.clear();
  }
};

class PhraseView {
 public:
  // The tables must outlive the view. Only smoothing takes time here: it counts all pairs once.
  PhraseView(const GrammarTables& tables, const PhraseViewOptions& options, int n_threads, Control& control);
  PhraseView(const PhraseView&) = delete;
  PhraseView& operator=(const PhraseView&) = delete;

  // Appends the options of all spans of a sentence: by begin, end, falling p(e|f).
  void options(std::span<const Symbol> sentence, OptionList& out) const;
  // Appends the options of one source side, by falling p(e|f), as spans [0, its length).
  void lookup(int64_t source, OptionList& out) const;
  // The scores of one pair, whatever the limits; nothing where it does not occur in the view.
  std::optional<TranslationOption> pair(int64_t pair, std::vector<float>& reordering) const;
  // Whether the training data of this view has the word.
  bool knows_source(int32_t word) const;
  bool knows_target(int32_t word) const;
  int n_reordering() const { return n_reordering_; }
  const GrammarTables& tables() const { return tables_; }
  const PhraseViewOptions& settings() const { return options_; }

 private:
  struct Source;
  struct Candidate;
  struct Counts {  // of counts, over the pairs of one side
    uint32_t n1 = 0, n2 = 0, n3 = 0;
    void add(int64_t count);
    int64_t distinct() const { return int64_t{n1} + n2 + n3; }
  };

  void count_for_smoothing(int n_threads, Control& control);
  double discount(int64_t count) const;
  double discounted(const Counts& counts) const;
  void compute(int64_t source, OptionList& out) const;
  Source read_source(int64_t source) const;
  int64_t count(int64_t pair) const;
  double p_target(const Source& source, int64_t pair, int64_t count) const;
  double p_source(const Source& source, int64_t pair, int64_t count) const;
  double score(const Source& source, const Candidate& candidate, TranslationOption& option) const;
  void reorder(int64_t pair, std::vector<float>& out) const;

  const GrammarTables& tables_;
  PhraseViewOptions options_;
  FoldFilter folds_;
  LexicalWeights lexical_;
  int n_reordering_ = 0;
  static constexpr int64_t kCachedPairs = 64;  // source sides with more are kept once computed
  // Kneser-Ney: discounts of counts 1, 2, 3 and more; counts of counts of every target side; distinct pairs.
  std::array<double, 3> discounts_{};
  std::vector<Counts> target_counts_;
  int64_t n_distinct_ = 0;
  SourceCache<OptionList> cache_{1 << 14};
};

}  // namespace dragoman::grammar
