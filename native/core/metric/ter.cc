#include "core/metric/ter.hh"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/metric/consensus.hh"
#include "core/metric/ngram_trie.hh"
#include "core/metric/ter_distance.hh"

namespace dragoman::metric {

namespace {

constexpr int kMaxShiftSize = 10;
constexpr int kMaxShiftDistance = 50;
constexpr int kMaxShiftCandidates = 1000;  // per hypothesis and reference
constexpr int kMaxBlocks = 4;              // references longer than 256 words use the banded distance alone

// One reference in sentence-local word numbers; 0 is "in no reference of this sentence".
struct Reference {
  std::vector<int32_t> words;
  std::vector<int32_t> position_begin, positions;  // of each word, ascending
  std::vector<uint64_t> matches;                   // [word][n_blocks]
  int n_blocks = 0;                                // 1, 2, 4, or 0 for "too long"

  void set(std::vector<int32_t> local_words, int32_t n_words) {
    words = std::move(local_words);
    const size_t n = words.size();
    n_blocks = n <= 64 ? 1 : n <= 128 ? 2 : n <= 64 * kMaxBlocks ? kMaxBlocks : 0;
    position_begin.assign(static_cast<size_t>(n_words) + 1, 0);
    for (const int32_t w : words) ++position_begin[static_cast<size_t>(w) + 1];
    for (size_t w = 0; w < static_cast<size_t>(n_words); ++w) position_begin[w + 1] += position_begin[w];
    positions.resize(n);
    matches.assign(static_cast<size_t>(n_words) * static_cast<size_t>(n_blocks), 0);
    auto next = position_begin;
    for (size_t j = 0; j < n; ++j) {
      const auto w = static_cast<size_t>(words[j]);
      positions[static_cast<size_t>(next[w]++)] = static_cast<int32_t>(j);
      if (n_blocks) matches[w * static_cast<size_t>(n_blocks) + j / 64] |= uint64_t{1} << (j % 64);
    }
  }
  std::span<const int32_t> positions_of(int32_t word) const {
    const auto w = static_cast<size_t>(word);
    return std::span(positions).subspan(static_cast<size_t>(position_begin[w]),
                                        static_cast<size_t>(position_begin[w + 1] - position_begin[w]));
  }
};

// W blocks, or 0 to do without the full distance.
template <int W>
struct Distances {
  FullDistance<W> full;
  BandedDistance banded;
};
template <>
struct Distances<0> {
  BandedDistance banded;
};

// A block of the hypothesis, and before which of its words it goes.
struct Shift {
  int gain = 0, length = std::numeric_limits<int>::max(), start = 0, target = 0;

  // TER's ranking: more gain, then the longer block, then the earlier one, then the earlier target. The
  // default shift ranks above all that gain nothing.
  bool outranks(const Shift& other) const {
    if (gain != other.gain) return gain > other.gain;
    if (length != other.length) return length > other.length;
    if (start != other.start) return start < other.start;
    return target < other.target;
  }
};

class Ter {
 public:
  int edits(std::span<const int32_t> hypothesis, const Reference& reference) {
    reference_ = &reference;
    words_.assign(hypothesis.begin(), hypothesis.end());
    shifts_.clear();
    if (reference.words.empty()) {
      path_.assign(hypothesis.size(), EditOp::kDelete);
      return n_hypothesis();
    }
    switch (reference.n_blocks) {
      case 1:
        return edits(one_);
      case 2:
        return edits(two_);
      case kMaxBlocks:
        return edits(four_);
      default:
        return edits(banded_);
    }
  }

  // Appends what the last call of edits() did.
  void append_to(TerEdits& out) const {
    std::vector<int32_t> origin(words_.size()), shifted(words_.size());
    std::iota(origin.begin(), origin.end(), 0);
    for (const Shift& shift : shifts_) {
      for (int i = shift.start; i < shift.start + shift.length; ++i)
        shifted[static_cast<size_t>(origin[static_cast<size_t>(i)])] = 1;
      const auto [begin, middle, end] = rotation(shift);
      std::rotate(origin.begin() + begin, origin.begin() + middle, origin.begin() + end);
    }
    int i = 0, j = 0;
    for (auto op = path_.rbegin(); op != path_.rend(); ++op) {
      const bool has_word = *op != EditOp::kInsert, has_reference = *op != EditOp::kDelete;
      const int32_t word = has_word ? origin[static_cast<size_t>(i++)] : -1;
      out.steps.push_back(!has_word               ? TerEdits::kDropped
                          : !has_reference        ? TerEdits::kExcess
                          : *op == EditOp::kMatch ? TerEdits::kMatch
                                                  : TerEdits::kSubstituted);
      out.candidate_words.push_back(word);
      out.reference_words.push_back(has_reference ? j++ : -1);
      out.is_shifted.push_back(has_word ? shifted[static_cast<size_t>(word)] : 0);
    }
    out.n_shifts.push_back(static_cast<int32_t>(shifts_.size()));
    out.offsets.push_back(static_cast<int64_t>(out.steps.size()));
  }

 private:
  int n_hypothesis() const { return static_cast<int>(words_.size()); }
  int n_reference() const { return static_cast<int>(reference_->words.size()); }

  // Greedy search: apply the best shift as long as there is one that lowers the edit distance.
  template <int W>
  int edits(Distances<W>& distances) {
    if constexpr (W > 0) distances.full.set_reference(reference_->matches.data(), n_reference());
    has_banded_reference_ = false;
    const int fewest = fewest_edits();
    n_checked_ = 0;
    for (;;) {
      const int distance = set_base(distances);
      if (distance == fewest) return static_cast<int>(shifts_.size()) + distance;
      const Shift best = best_shift(distances, distance, fewest);
      if (n_checked_ >= kMaxShiftCandidates || best.gain == 0) return static_cast<int>(shifts_.size()) + distance;
      const int same = apply(best);
      std::copy(rest_.begin(), rest_.end(), words_.begin() + same);
      shifts_.push_back(best);
    }
  }

  // No order of the hypothesis' words is nearer to the reference than this.
  int fewest_edits() {
    used_.assign(reference_->position_begin.size(), 0);
    int common = 0;
    for (const int32_t word : words_)
      common += used_[static_cast<size_t>(word)]++ < static_cast<int>(reference_->positions_of(word).size());
    return std::max(n_hypothesis(), n_reference()) - common;
  }

  // Distance and alignment of the current words.
  template <int W>
  int set_base(Distances<W>& distances) {
    if constexpr (W > 0) {
      const int distance = distances.full.set_base(words_);
      beam_idle_ = beam_is_idle(distance, n_hypothesis(), n_reference());
      if (beam_idle_) {
        align([&](int i, int j) {
          return distances.full.op(i, j,
                                   words_[static_cast<size_t>(i) - 1] == reference_->words[static_cast<size_t>(j) - 1]);
        });
        return distance;
      }
    }
    if (!has_banded_reference_) distances.banded.set_reference(reference_->words, n_hypothesis());
    has_banded_reference_ = true;
    beam_idle_ = false;
    const int distance = distances.banded.set_base(words_);
    align([&](int i, int j) { return distances.banded.op(i, j); });
    return distance;
  }

  // From the traceback, which stays in path_: where each reference word aligns to, and running totals of the words in
  // error on each side.
  template <typename Op>
  void align(Op&& op_at) {
    int i = n_hypothesis(), j = n_reference();
    path_.clear();
    aligned_.resize(static_cast<size_t>(j));
    hypothesis_errors_.assign(static_cast<size_t>(i) + 1, 0);
    reference_errors_.assign(static_cast<size_t>(j) + 1, 0);
    while (i > 0 || j > 0) {
      const EditOp op = i == 0 ? EditOp::kInsert : j == 0 ? EditOp::kDelete : op_at(i, j);
      path_.push_back(op);
      const bool error = op != EditOp::kMatch;
      if (op != EditOp::kDelete) {
        aligned_[static_cast<size_t>(j) - 1] = i - 1;
        reference_errors_[static_cast<size_t>(j)] = error;
      }
      if (op != EditOp::kInsert) hypothesis_errors_[static_cast<size_t>(i)] = error;
      i -= op != EditOp::kInsert;
      j -= op != EditOp::kDelete;
    }
    for (size_t k = 1; k < hypothesis_errors_.size(); ++k) hypothesis_errors_[k] += hypothesis_errors_[k - 1];
    for (size_t k = 1; k < reference_errors_.size(); ++k) reference_errors_[k] += reference_errors_[k - 1];
  }

  static bool has_error(const std::vector<int32_t>& running, int begin, int length) {
    return running[static_cast<size_t>(begin + length)] != running[static_cast<size_t>(begin)];
  }

  // Tries every block of up to kMaxShiftSize words that also stands in the reference.
  template <int W>
  Shift best_shift(Distances<W>& distances, int distance, int fewest) {
    Shift best;
    const auto& reference = reference_->words;
    for (int start = 0; start < n_hypothesis(); ++start) {
      for (const int32_t position : reference_->positions_of(words_[static_cast<size_t>(start)])) {
        if (std::abs(position - start) > kMaxShiftDistance) continue;
        const int longest = std::min({kMaxShiftSize, n_hypothesis() - start, n_reference() - position});
        for (int length = 1; length <= longest; ++length) {
          if (words_[static_cast<size_t>(start + length) - 1] != reference[static_cast<size_t>(position + length) - 1])
            break;
          try_targets(distances, start, position, length, distance, fewest, best);
          if (n_checked_ >= kMaxShiftCandidates) return best;
        }
      }
    }
    return best;
  }

  template <int W>
  void try_targets(Distances<W>& distances, int start, int position, int length, int distance, int fewest,
                   Shift& best) {
    if (!has_error(hypothesis_errors_, start, length) || !has_error(reference_errors_, position, length)) return;
    const int now = aligned_[static_cast<size_t>(position)];
    if (start <= now && now < start + length) return;
    int last_target = -1;
    for (int j = position - 1; j < position + length; ++j) {
      const int target = j < 0 ? 0 : aligned_[static_cast<size_t>(j)] + 1;
      if (target == last_target) continue;
      last_target = target;
      ++n_checked_;
      Shift shift{distance - fewest, length, start, target};
      // Taking a block out and putting it back undoes a shift, so a shift gains at most two edits a word.
      if (beam_idle_) shift.gain = std::min(shift.gain, 2 * length);
      if (!shift.outranks(best)) continue;
      const int same = apply(shift);
      if constexpr (W > 0) {
        const int lower_bound = distances.full.variant(same, rest_);
        shift.gain = distance - lower_bound;
        if (!shift.outranks(best)) continue;
        if (!beam_is_idle(lower_bound, n_hypothesis(), n_reference()))
          shift.gain = distance - distances.banded.variant(same, rest_);
      } else {
        shift.gain = distance - distances.banded.variant(same, rest_);
      }
      if (shift.outranks(best)) best = shift;
    }
  }

  struct Rotation {
    int begin, middle, end;  // [middle, end) goes before [begin, middle)
  };

  Rotation rotation(const Shift& shift) const {
    if (shift.target < shift.start) return {shift.target, shift.start, shift.start + shift.length};
    // A target inside the block moves it right by as many words as the target is after the block's start.
    const int beyond = shift.target > shift.start + shift.length
                           ? shift.target
                           : std::min(shift.target + shift.length, n_hypothesis());
    return {shift.start, shift.start + shift.length, beyond};
  }

  // Leaves the shifted words from the first that may differ on in rest_; returns how many before it stay.
  int apply(const Shift& shift) {
    const auto [begin, middle, end] = rotation(shift);
    const auto words = words_.begin();
    rest_.assign(words + middle, words + end);
    rest_.insert(rest_.end(), words + begin, words + middle);
    rest_.insert(rest_.end(), words + end, words_.end());
    return begin;
  }

  const Reference* reference_ = nullptr;
  std::vector<int32_t> words_, rest_, used_;
  std::vector<Shift> shifts_;  // applied, in order
  std::vector<EditOp> path_;   // of the words as they are now, the last first
  std::vector<int32_t> aligned_, hypothesis_errors_, reference_errors_;
  int n_checked_ = 0;
  bool beam_idle_ = false, has_banded_reference_ = false;
  Distances<1> one_;
  Distances<2> two_;
  Distances<kMaxBlocks> four_;
  Distances<0> banded_;
};

// Calls body(ter, candidate, hypothesis, references) for every candidate, in sentence-local word numbers.
template <typename Body>
void for_each_candidate(const MetricInput& input, int n_threads, Control& control, Body&& body) {
  struct Scratch {
    Ter ter;
    NgramTrie vocabulary;
    std::vector<Reference> references;
    std::vector<int32_t> hypothesis;
  };
  std::vector<Scratch> scratches(static_cast<size_t>(n_threads));
  for_each_run(input, n_threads, control, [&](int worker, int32_t sentence, int64_t begin, int64_t end) {
    Scratch& scratch = scratches[static_cast<size_t>(worker)];
    const auto references = input.references_of(sentence);
    scratch.vocabulary.build(references, 1);
    const auto localise = [&](std::span<const int32_t> words, std::vector<int32_t>& out) {
      out.resize(words.size());
      for (size_t i = 0; i < words.size(); ++i) out[i] = scratch.vocabulary.child(NgramTrie::kRoot, words[i]);
    };
    scratch.references.resize(std::max(scratch.references.size(), references.size()));
    for (size_t r = 0; r < references.size(); ++r) {
      std::vector<int32_t> local;
      localise(references[r], local);
      scratch.references[r].set(std::move(local), scratch.vocabulary.n_nodes());
    }
    for (int64_t c = begin; c < end; ++c) {
      localise(input.candidates[c], scratch.hypothesis);
      body(scratch.ter, static_cast<size_t>(c), scratch.hypothesis,
           std::span<const Reference>(scratch.references).first(references.size()));
    }
  });
}

struct Nearest {
  int edits = std::numeric_limits<int>::max();
  size_t reference = 0;  // the first of equally near ones
};

Nearest nearest(Ter& ter, std::span<const int32_t> hypothesis, std::span<const Reference> references,
                Control& control) {
  Nearest found;
  for (size_t r = 0; r < references.size(); ++r) {
    control.check();
    const int edits = ter.edits(hypothesis, references[r]);
    if (edits < found.edits) found = {edits, r};
  }
  return found;
}

}  // namespace

std::vector<double> ter_statistics(const MetricInput& input, int n_threads, Control& control) {
  input.check();
  std::vector<double> statistics(static_cast<size_t>(input.candidates.size()) * 2);
  for_each_candidate(
      input, useful_threads(input, n_threads), control,
      [&](Ter& ter, size_t c, std::span<const int32_t> hypothesis, std::span<const Reference> references) {
        double length = 0;
        for (const Reference& reference : references) length += static_cast<double>(reference.words.size());
        statistics[c * 2] = nearest(ter, hypothesis, references, control).edits;
        statistics[c * 2 + 1] = length / static_cast<double>(references.size());
      });
  return statistics;
}

std::vector<double> expected_ter(const ConsensusInput& input, int n_threads, Control& control) {
  input.check();
  const DistinctLists distinct(input);
  std::vector<int32_t> list_of(distinct.mass.size());
  for (size_t l = 0; l + 1 < distinct.lists.size(); ++l)
    for (int64_t c = distinct.lists[l]; c < distinct.lists[l + 1]; ++c) list_of[at(c)] = static_cast<int32_t>(l);
  const MetricInput pairs{distinct.candidates, list_of, distinct.lists, distinct.candidates};
  std::vector<double> expected(distinct.mass.size());
  for_each_candidate(
      pairs, useful_threads(pairs, n_threads), control,
      [&](Ter& ter, size_t c, std::span<const int32_t> hypothesis, std::span<const Reference> references) {
        const auto first = static_cast<size_t>(distinct.lists[static_cast<size_t>(list_of[c])]);
        for (size_t r = 0; r < references.size(); ++r) {
          control.check();
          const size_t length = references[r].words.size();
          if (first + r == c) {
            expected[c] += distinct.mass[c];
          } else if (length > 0) {
            const double edits = ter.edits(hypothesis, references[r]);
            expected[c] += distinct.mass[first + r] * (1 - edits / static_cast<double>(length));
          }  // otherwise the rate of a candidate that is not empty is 1
        }
      });
  return distinct.spread(expected);
}

TerEdits ter_edits(const MetricInput& input, int n_threads, Control& control) {
  input.check();
  std::vector<TerEdits> rows(static_cast<size_t>(input.candidates.size()));
  for_each_candidate(
      input, useful_threads(input, n_threads), control,
      [&](Ter& ter, size_t c, std::span<const int32_t> hypothesis, std::span<const Reference> references) {
        const size_t reference = nearest(ter, hypothesis, references, control).reference;
        if (reference + 1 < references.size()) ter.edits(hypothesis, references[reference]);
        rows[c].references.push_back(static_cast<int32_t>(reference));
        ter.append_to(rows[c]);
      });
  TerEdits all;
  const auto add = [](std::vector<int32_t>& to, const std::vector<int32_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const TerEdits& one : rows) {
    add(all.references, one.references);
    add(all.n_shifts, one.n_shifts);
    add(all.steps, one.steps);
    add(all.candidate_words, one.candidate_words);
    add(all.reference_words, one.reference_words);
    add(all.is_shifted, one.is_shifted);
    all.offsets.push_back(static_cast<int64_t>(all.steps.size()));
  }
  return all;
}

}  // namespace dragoman::metric
