// Language model states for chart decoding: pieces of a sentence that grow at both ends (Chiang 2007; Li and Khudanpur
// 2008).
//
// The first words of a piece are scored with the context inside the piece. When the piece is extended to the left, they
// are rescored with the new context, and the score changes by the difference. The left state keeps the words that may
// need rescoring: as long as the first i words of the piece are a suffix of a longer n-gram of the model, further left
// context can change the score of word i.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/lm/model.hh"

namespace dragoman::lm {

struct LeftState {
  // Set when more left context can affect the words after these only by a backoff weight.
  bool full = false;
  uint8_t length = 0;
  uint32_t words[kMaxOrder - 1] = {};
  float logprobs[kMaxOrder - 1] = {};  // of the words inside the piece; determined by the words

  friend bool operator==(const LeftState& a, const LeftState& b) {
    return a.full == b.full && a.length == b.length && std::equal(a.words, a.words + a.length, b.words);
  }
  uint64_t hash() const {
    uint64_t sum = mix_key(length, full);
    for (int i = 0; i < length; ++i) sum = mix_raw(sum ^ words[i]);
    return sum;
  }
};

struct ChartState {
  LeftState left;
  State right;

  friend bool operator==(const ChartState&, const ChartState&) = default;
  uint64_t hash() const { return mix_raw(left.hash() ^ right.node); }
};
static_assert(std::is_trivially_copyable_v<ChartState>);

// Scores one piece from left to right, made of words and previously scored pieces. `score()` is the natural log
// probability of the words, each given its left context in the piece, minus the scores of the added pieces.
template <typename Lm>
class BasicPieceScorer {
 public:
  explicit BasicPieceScorer(Lm& model) : model_(model) {}
  // Continues from a previously scored prefix of the piece.
  BasicPieceScorer(Lm& model, const ChartState& state, double score) : model_(model), state_(state), score_(score) {}

  // The piece begins with <s>; must be the first call.
  void begin_sentence() {
    state_.left.full = true;
    state_.right = model_.begin_state();
  }

  void word(uint32_t word) {
    if (state_.left.full) {
      score_ += model_.score(state_.right, word, state_.right);
      return;
    }
    const Match match = model_.match(state_.right, word, state_.right);
    score_ += match.logprob;
    push_left(word, match);
  }

  void piece(const ChartState& inner) {
    if (state_.left.length == 0 && !state_.left.full) {  // no left context
      state_ = inner;
      return;
    }
    const LeftState& left = inner.left;
    State context = state_.right;
    for (int i = 0; i < left.length; ++i) {
      if (!model_.deeper_than(context, i)) {  // the remaining words are scored as inside the piece
        state_.left.full = true;
        state_.right = inner.right;
        return;
      }
      const Match match = model_.match(context, left.words[i], context);
      score_ += static_cast<double>(match.logprob) - static_cast<double>(left.logprobs[i]);
      if (!state_.left.full) push_left(left.words[i], match);
    }
    if (left.full) {
      score_ += model_.backoff_beyond(context, left.length);
      state_.left.full = true;
      state_.right = inner.right;
    } else {
      state_.right = context;
    }
  }

  double score() const { return score_; }
  const ChartState& state() const { return state_; }

 private:
  // All words of the piece so far are in the left state: it is not full.
  void push_left(uint32_t word, const Match& match) {
    LeftState& left = state_.left;
    const int position = left.length + 1;
    if (match.length != position || !match.extends_left) {
      left.full = true;
      return;
    }
    left.words[left.length] = word;
    left.logprobs[left.length] = match.logprob;
    ++left.length;
    left.full = position == model_.order() - 1;
  }

  Lm& model_;
  ChartState state_;
  double score_ = 0;
};

using PieceScorer = BasicPieceScorer<const Model>;

}  // namespace dragoman::lm
