// Batch scoring of sentences.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/lm/model.hh"

namespace dragoman::lm {

// Whether sentences start after <s>, and whether </s> is scored.
struct Ends {
  bool begin = true;
  bool end = true;
};

// One entry per sentence. Natural logs.
struct BatchScores {
  std::vector<double> logprob;
  std::vector<double> unknown_logprob;  // the part due to out-of-vocabulary words
  std::vector<int32_t> n_tokens;        // </s> counts when it is scored
  std::vector<int32_t> n_unknown;

  void resize(size_t n);
};

// Throws InputError when an id is not in the model's vocabulary.
BatchScores score_ids(const Model& model, const Sentences& sentences, Ends ends, int n_threads, Control& control);

// Lines of text, split and escaped as by encode_lines. Errors count lines from `first_line`.
BatchScores score_text(const Model& model, std::string_view block, int64_t first_line, Ends ends, int n_threads,
                       Control& control);

}  // namespace dragoman::lm
