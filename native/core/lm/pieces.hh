// Chart states as two numbers, for search that makes pieces of pieces: left states are kept once, and what a piece adds
// after a context is computed once. Scores are those of PieceScorer but for rounding. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/lm/cache.hh"
#include "core/lm/chart.hh"

namespace dragoman::lm {

struct PieceState {
  uint32_t left = 0;  // in Pieces; odd where it is full, 0 where there are no words
  State right;

  friend bool operator==(const PieceState&, const PieceState&) = default;
  uint64_t hash() const { return mix_key(right.node, left); }
};

// A piece that grows to the right; its score is as in BasicPieceScorer.
struct Piece {
  PieceState state;
  double score = 0;
};

class Pieces {
 public:
  explicit Pieces(const Model& model) : model_(model), sums_(size_t{1} << kLogSums) { clear(); }

  // Forgets all states.
  void clear() {
    lefts_.assign(1, {});
    left_slots_.assign(kFirstSlots, 0);
    sums_.assign(sums_.size(), {});
  }

  float score(State in, uint32_t word, State& out) { return model_.score(in, word, out); }
  // <s>, at the beginning of a piece.
  void begin_sentence(Piece& piece) {
    LeftState left;
    left.full = true;
    piece.state = {number_of(left), model_.begin_state()};
  }
  void word(Piece& piece, uint32_t word) {
    if (is_full(piece.state.left)) {
      piece.score += static_cast<double>(model_.score(piece.state.right, word, piece.state.right));
      return;
    }
    BasicPieceScorer scorer(model_, {lefts_[piece.state.left >> 1], piece.state.right}, piece.score);
    scorer.word(word);
    piece = {{number_of(scorer.state().left), scorer.state().right}, scorer.score()};
  }
  void add(Piece& piece, PieceState inner) {
    PieceState& state = piece.state;
    if (state.left == 0) {
      state = inner;
      return;
    }
    const bool full = is_full(state.left);
    if (full && state.right.node == 0) {  // nothing changes without context
      state.right = inner.right;
      return;
    }
    // Words that are all in the left state determine the right one.
    const uint64_t key = full ? mix_key(state.right.node, inner.left) : mix_key(state.left, inner.left | kOpen);
    Sum& sum = sums_[key >> (64 - kLogSums)];
    if (sum.key != key) sum = {key, after(state, inner.left)};
    piece.score += sum.after.score;
    if (!full) state.left = sum.after.state.left;
    state.right = sum.after.state.right == kInner ? inner.right : sum.after.state.right;
  }

 private:
  static constexpr int kLogSums = 14;
  static constexpr size_t kFirstSlots = size_t{1} << 10;
  static constexpr uint32_t kOpen = uint32_t{1} << 31;  // no left state has such a number
  static constexpr State kInner{~uint32_t{0}};          // the right state of the inner piece

  struct Sum {
    uint64_t key = kEmptyKey;
    Piece after;
  };

  static bool is_full(uint32_t left) { return (left & 1) != 0; }

  // What an inner piece with this left state makes of the state before it.
  Piece after(PieceState before, uint32_t left) {
    BasicPieceScorer scorer(model_, {lefts_[before.left >> 1], before.right}, 0);
    scorer.piece({lefts_[left >> 1], kInner});
    return {{is_full(before.left) ? before.left : number_of(scorer.state().left), scorer.state().right},
            scorer.score()};
  }

  uint32_t number_of(const LeftState& left) {
    if (2 * lefts_.size() >= left_slots_.size()) {
      left_slots_.assign(4 * left_slots_.size(), 0);
      for (uint32_t i = 1; i < lefts_.size(); ++i) left_slots_[slot_of(lefts_[i])] = i;
    }
    if (left == lefts_[0]) return 0;
    uint32_t& i = left_slots_[slot_of(left)];
    if (i == 0) {
      i = static_cast<uint32_t>(lefts_.size());
      lefts_.push_back(left);
    }
    return i << 1 | static_cast<uint32_t>(left.full);
  }
  size_t slot_of(const LeftState& left) const {
    const size_t mask = left_slots_.size() - 1;
    size_t slot = left.hash() & mask;
    while (left_slots_[slot] != 0 && lefts_[left_slots_[slot]] != left) slot = (slot + 1) & mask;
    return slot;
  }

  CachedModel model_;
  std::vector<LeftState> lefts_;
  std::vector<uint32_t> left_slots_;  // open addressing: in lefts_, or 0
  std::vector<Sum> sums_;             // recent ones
};

}  // namespace dragoman::lm
