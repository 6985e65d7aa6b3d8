#include "core/metric/ribes.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/metric/pair_gains.hh"

namespace dragoman::metric {

namespace {

using Words = std::span<const int32_t>;

void check_exponents(RibesExponents exponents) {
  for (const double exponent : {exponents.precision, exponents.brevity})
    if (!(exponent >= 0) || !std::isfinite(exponent))
      throw std::invalid_argument("exponents of RIBES must be finite and not negative");
}

// A word corresponds to the word of the reference that ends the shortest n-gram to its left, or begins the shortest one
// to its right, that both texts have exactly once; that to the left if both are of a length.
class Ribes {
 public:
  double operator()(Words words, Words reference, RibesExponents exponents) {
    if (words.empty() || reference.empty()) return words.size() == reference.size() ? 1 : 0;
    const auto n = static_cast<double>(words.size()), m = static_cast<double>(reference.size());
    correspond(words, reference);
    const auto found = static_cast<double>(places_.size());
    double order;
    if (places_.size() == 1 && reference.size() == 1) {
      order = 1;
    } else if (places_.size() < 2) {
      return 0;
    } else {
      order = ascending() / (found * (found - 1) / 2);
    }
    const double brevity = std::min(1.0, std::exp(1 - m / n));
    return order * std::pow(found / n, exponents.precision) * std::pow(brevity, exponents.brevity);
  }

 private:
  // The shortest n-gram at a word that both texts have once, and where it is in the reference.
  struct Context {
    int32_t length = kNone, place = -1;
  };
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

  void correspond(Words words, Words reference) {
    contexts(words, reference, left_);
    // Both texts from their ends: n-grams to the right.
    backward_.assign(words.rbegin(), words.rend());
    reference_backward_.assign(reference.rbegin(), reference.rend());
    contexts(backward_, reference_backward_, right_);
    places_.clear();
    for (size_t i = 0; i < words.size(); ++i) {
      const Context &left = left_[i], &right = right_[words.size() - 1 - i];
      if (left.length == kNone && right.length == kNone) continue;
      places_.push_back(left.length <= right.length ? left.place
                                                    : static_cast<int32_t>(reference.size()) - 1 - right.place);
    }
  }

  // For each word the shortest n-gram that ends there: longer than those that end alike elsewhere in either text.
  void contexts(Words words, Words reference, std::vector<Context>& out) {
    out.assign(words.size(), {});
    in_reference_.assign(reference.size(), 0);
    in_words_.assign(words.size(), 0);
    for (size_t i = 0; i < words.size(); ++i) {
      int32_t longest = 0, second = 0, place = -1;
      for (size_t j = reference.size(); j-- > 0;) {
        const int32_t common = extended(in_reference_, j, words[i] == reference[j]);
        if (common > longest) {
          second = std::exchange(longest, common);
          place = static_cast<int32_t>(j);
        } else {
          second = std::max(second, common);
        }
      }
      for (size_t j = words.size(); j-- > 0;) {
        const int32_t common = extended(in_words_, j, words[i] == words[j]);
        if (j != i) second = std::max(second, common);
      }
      if (second < longest) out[i] = {second + 1, place};
    }
  }

  // Words that the text up to word j and the other one up to the present word have in common at their ends; `row` holds
  // those of the word before, and is overwritten from its end.
  static int32_t extended(std::vector<int32_t>& row, size_t j, bool same) {
    row[j] = same ? 1 + (j > 0 ? row[j - 1] : 0) : 0;
    return row[j];
  }

  double ascending() const {
    int64_t n = 0;
    for (size_t i = 0; i < places_.size(); ++i)
      for (size_t j = i + 1; j < places_.size(); ++j) n += places_[i] < places_[j];
    return static_cast<double>(n);
  }

  std::vector<Context> left_, right_;
  std::vector<int32_t> backward_, reference_backward_, in_reference_, in_words_, places_;
};

}  // namespace

std::vector<double> ribes_scores(const MetricInput& input, RibesExponents exponents, int n_threads, Control& control) {
  input.check();
  check_exponents(exponents);
  std::vector<double> scores(static_cast<size_t>(input.candidates.size()));
  const int n_workers = useful_threads(input, n_threads);
  std::vector<Ribes> scratches(static_cast<size_t>(n_workers));
  for_each_run(input, n_workers, control, [&](int worker, int32_t sentence, int64_t begin, int64_t end) {
    Ribes& ribes = scratches[static_cast<size_t>(worker)];
    const auto references = input.references_of(sentence);
    for (int64_t c = begin; c < end; ++c) {
      double& best = scores[static_cast<size_t>(c)];
      for (const auto& reference : references) {
        control.check();
        best = std::max(best, ribes(input.candidates[c], reference, exponents));
      }
    }
  });
  return scores;
}

std::vector<double> expected_ribes(const ConsensusInput& input, RibesExponents exponents, int n_threads,
                                   Control& control) {
  check_exponents(exponents);
  return expected_pair_gains<Ribes>(input, n_threads, control, [&](Ribes& ribes, Words a, Words b) {
    return std::pair{ribes(a, b, exponents), ribes(b, a, exponents)};
  });
}

}  // namespace dragoman::metric
