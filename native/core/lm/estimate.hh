// Interpolated modified Kneser-Ney estimation (Chen and Goodman 1998), with the same counts, discounts and pruning as
// KenLM's lmplz.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/lm/model.hh"
#include "core/names/vocab.hh"

namespace dragoman::lm {

// Concatenated word ids of sentences, each between <s> and </s>.
class TrainingText {
 public:
  // Adds the rows whose mark differs from `excluded`; all of them when `marks` is empty. Ids must be below `n_words`
  // and none of them <s> or </s>.
  void add(const Sentences& sentences, int64_t n_words, std::span<const uint8_t> marks, int excluded);
  std::span<const uint32_t> tokens() const { return tokens_; }
  int64_t n_sentences() const { return n_sentences_; }

 private:
  std::vector<uint32_t> tokens_;
  int64_t n_sentences_ = 0;
};

struct EstimateOptions {
  int order = 5;
  // By order: n-grams with at most this count are pruned. Non-decreasing; 0 for unigrams.
  std::vector<int64_t> prune;
  // Fallback discounts for adjusted counts 1, 2 and 3+, used if the text is too small to estimate them. Without them
  // such text is an error.
  bool has_fallback = false;
  std::array<double, 3> fallback{};
};

using Discounts = std::array<double, 4>;  // by adjusted count: 0, 1, 2, 3+

struct Estimated {
  std::unique_ptr<Model> model;
  std::vector<Discounts> discounts;  // by order
  std::vector<int> fallback_orders;  // orders that use the fallback discounts
};

// Words that do not occur in the text are out of vocabulary in the model. Advances `control` by 3 * order * tokens in
// total. Throws InputError.
Estimated estimate(const TrainingText& text, const names::WordTable& words, const EstimateOptions& options,
                   Control& control);

}  // namespace dragoman::lm
