// Two ways to the edit distance that TER asks for thousands of times per sentence.
//
// TER's distance is defined inside a beam around the pseudo-diagonal (BandedDistance). FullDistance ignores
// the beam and works on 64 reference words at a time (Myers 1999, Hyyrö 2003). It is a lower bound of the
// banded distance, and equal to it, with the same traceback, whenever `beam_is_idle` holds, which is nearly
// always.
//
// Rows are hypothesis words, columns reference words. Both remember the rows of a base hypothesis, so that a
// variant that first differs from it in row `same` is evaluated from there.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

namespace dragoman::metric {

enum class EditOp : uint8_t { kMatch, kSubstitute, kDelete, kInsert };  // ties are resolved in this order

inline constexpr int kTerBeam = 25;

// A path with `distance` edits between these lengths strays at most (distance + |difference of lengths|) / 2
// columns from the pseudo-diagonal. One column of the beam is left for the rounding of the pseudo-diagonal.
inline bool beam_is_idle(int distance, int n_hypothesis, int n_reference) {
  return distance + std::abs(n_hypothesis - n_reference) <= 2 * (kTerBeam - 2);
}

// W blocks of 64 reference words.
template <int W>
class FullDistance {
 public:
  // `matches`: per word W blocks with a bit for each of its positions in the reference.
  void set_reference(const uint64_t* matches, int n_reference) {
    matches_ = matches;
    n_reference_ = n_reference;
    for (int b = 0; b < W; ++b) {
      const int bits = n_reference - 64 * b;
      mask_[b] = bits >= 64 ? ~uint64_t{0} : bits <= 0 ? 0 : (uint64_t{1} << bits) - 1;
    }
  }

  int set_base(std::span<const int32_t> words) {
    rows_.resize(words.size() + 1);
    Row row;
    for (int b = 0; b < W; ++b) row.up[b] = ~uint64_t{0}, row.down[b] = 0;
    rows_[0] = row;
    for (size_t i = 0; i < words.size(); ++i) {
      step(words[i], row);
      rows_[i + 1] = row;
    }
    return distance(row, static_cast<int>(words.size()));
  }

  // Of the base's first `same` words followed by `rest`.
  int variant(int same, std::span<const int32_t> rest) const {
    Row row = rows_[static_cast<size_t>(same)];
    for (const int32_t word : rest) step(word, row);
    return distance(row, same + static_cast<int>(rest.size()));
  }

  // How the base's cell (i, j), both positive, was reached.
  EditOp op(int i, int j, bool equal) const {
    if (equal) return EditOp::kMatch;
    const int above = delta(rows_[static_cast<size_t>(i)].right, rows_[static_cast<size_t>(i)].left, j);
    const auto& previous = rows_[static_cast<size_t>(i) - 1];
    if (above + delta(previous.up, previous.down, j) == 1) return EditOp::kSubstitute;
    return above == 1 ? EditOp::kDelete : EditOp::kInsert;
  }

 private:
  // Bit j - 1 tells whether D[i][j] is one more (up) or one less (down) than D[i][j - 1], and one more
  // (right) or one less (left) than D[i - 1][j].
  struct Row {
    uint64_t up[W], down[W], right[W], left[W];
  };

  static int delta(const uint64_t* plus, const uint64_t* minus, int j) {
    const int block = (j - 1) / 64, bit = (j - 1) % 64;
    return static_cast<int>(plus[block] >> bit & 1) - static_cast<int>(minus[block] >> bit & 1);
  }

  void step(int32_t word, Row& row) const {
    const uint64_t* matches = matches_ + static_cast<size_t>(word) * W;
    uint64_t carry_right = 1, carry_left = 0;  // column 0 grows by one with every row
    for (int b = 0; b < W; ++b) {
      const uint64_t up = row.up[b], down = row.down[b];
      const uint64_t vertical = matches[b] | down;
      const uint64_t equal = matches[b] | carry_left;
      const uint64_t horizontal = (((equal & up) + up) ^ up) | equal;
      const uint64_t right = down | ~(horizontal | up);
      const uint64_t left = up & horizontal;
      row.right[b] = right;
      row.left[b] = left;
      const uint64_t right_in = right << 1 | carry_right, left_in = left << 1 | carry_left;
      row.up[b] = left_in | ~(vertical | right_in);
      row.down[b] = right_in & vertical;
      carry_right = right >> 63;
      carry_left = left >> 63;
    }
  }

  int distance(const Row& row, int n_hypothesis) const {
    int d = n_hypothesis;
    for (int b = 0; b < W; ++b) d += std::popcount(row.up[b] & mask_[b]) - std::popcount(row.down[b] & mask_[b]);
    return d;
  }

  const uint64_t* matches_ = nullptr;
  int n_reference_ = 0;
  uint64_t mask_[W] = {};
  std::vector<Row> rows_;
};

class BandedDistance {
 public:
  // `n_hypothesis` is the length of the base and of every variant: a shift keeps it.
  void set_reference(std::span<const int32_t> reference, int n_hypothesis);
  int set_base(std::span<const int32_t> words);
  int variant(int same, std::span<const int32_t> rest);
  EditOp op(int i, int j) const;

 private:
  static constexpr int32_t kUnreached = 1 << 29;
  struct Window {
    int begin, end;  // columns
    size_t at;       // where the row starts in cost_ and op_
  };

  template <bool kKeepOps>
  void fill(const Window& above, const int32_t* above_cost, const Window& window, int32_t word, int32_t* cost,
            EditOp* ops);

  std::span<const int32_t> reference_;
  std::vector<Window> windows_;  // of rows 0 .. n_hypothesis
  std::vector<int32_t> cost_, padded_, rolling_[2];
  std::vector<EditOp> op_;
};

}  // namespace dragoman::metric
