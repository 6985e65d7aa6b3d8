#include "core/metric/consensus.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/base/parallel.hh"
#include "core/metric/pair_matches.hh"

namespace dragoman::metric {

namespace {

using Texts = std::vector<std::vector<int32_t>>;

double n_grams(size_t length, int n) {
  return static_cast<double>(length > static_cast<size_t>(n) ? length - static_cast<size_t>(n) : 0);
}

// Calls body(worker, begin, end) for every list of distinct candidates, in parallel.
template <typename Body>
void for_each_list(const DistinctLists& distinct, int n_threads, Control& control, Body&& body) {
  const auto n_lists = static_cast<int64_t>(distinct.lists.size()) - 1;
  parallel_chunks(n_lists, 1, n_threads, control, [&](int64_t first, int64_t last, int worker) {
    for (int64_t l = first; l < last; ++l)
      body(worker, static_cast<size_t>(distinct.lists[at(l)]), static_cast<size_t>(distinct.lists[at(l) + 1]));
  });
}

int workers(const DistinctLists& distinct, int n_threads) {
  return static_cast<int>(
      std::clamp<int64_t>(static_cast<int64_t>(distinct.lists.size()) - 1, 1, std::max(1, n_threads)));
}

// Sentence BLEU of sacrebleu: orders without a match count as 1/2, 1/4, ... matches, orders the hypothesis is too
// short for are left out.
class SentenceScore {
 public:
  explicit SentenceScore(int order) : order_(order) {}

  template <typename Counts>
  double operator()(const Counts& matches, size_t hypothesis, size_t reference) const {
    double product = 1, smooth = 1;
    int n = 0;
    bool any = false;
    for (; n < order_ && hypothesis > static_cast<size_t>(n); ++n) {
      const double possible = n_grams(hypothesis, n);
      const auto correct = static_cast<double>(matches[static_cast<size_t>(n)]);
      if (correct > 0) {
        any = true;
        product *= correct / possible;
      } else {
        smooth *= 2;
        product /= smooth * possible;
      }
    }
    if (!any) return 0;
    const double mean = n == 4 ? std::sqrt(std::sqrt(product)) : std::pow(product, 1.0 / n);
    if (hypothesis >= reference) return mean;
    return mean * std::exp(1 - static_cast<double>(reference) / static_cast<double>(hypothesis));
  }

 private:
  int order_;
};

void check_order(int order) {
  if (order < 1 || order > PairMatches::kMostOrders) throw std::invalid_argument("order must be in [1, 8]");
}

void check_spelling(std::span<const int32_t> words, const Ragged<int32_t>& table) {
  for (const int32_t word : words)
    if (word < 0 || word >= table.size())
      throw std::invalid_argument("word " + std::to_string(word) + " is not in the spelling table of " +
                                  std::to_string(table.size()) + " words");
}

// Calls own(candidate, length, matches) for every candidate with itself, then visit(a, b, length of a, of b, matches)
// for all pairs of a list.
template <typename Begin, typename Visit>
void for_each_word_pair(const DistinctLists& distinct, int order, int n_threads, Control& control, Begin&& own,
                        Visit&& visit) {
  struct Scratch {
    PairMatches pairs;
    Texts texts;
  };
  std::vector<Scratch> scratches(static_cast<size_t>(workers(distinct, n_threads)));
  for_each_list(distinct, n_threads, control, [&](int worker, size_t begin, size_t end) {
    auto& [pairs, texts] = scratches[static_cast<size_t>(worker)];
    texts.resize(end - begin);
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto words = distinct.candidates[static_cast<int64_t>(begin + i)];
      texts[i].assign(words.begin(), words.end());
    }
    pairs.reset(texts.size());
    pairs.add(texts, order, 0);
    for (size_t i = 0; i < texts.size(); ++i) {
      PairMatches::Counts matches{};
      for (int n = 0; n < order; ++n)
        matches[static_cast<size_t>(n)] = static_cast<uint32_t>(n_grams(texts[i].size(), n));
      own(begin + i, texts[i].size(), matches);
    }
    size_t row = 0;
    pairs.for_each_pair([&](size_t a, size_t b, const auto& matches) {
      if (a != row) control.check(), row = a;
      visit(begin + a, begin + b, texts[a].size(), texts[b].size(), matches);
    });
  });
}

}  // namespace

void ConsensusInput::check() const {
  candidates.check("candidates");
  if (lists.empty() || lists.front() != 0 || lists.back() != candidates.size())
    throw std::invalid_argument("lists must start with 0 and end with the number of candidates");
  for (size_t l = 1; l < lists.size(); ++l)
    if (lists[l] < lists[l - 1]) throw std::invalid_argument("lists must not decrease");
  if (mass.size() != static_cast<size_t>(candidates.size()))
    throw std::invalid_argument("mass: one number per candidate expected");
  for (const double m : mass)
    if (!(m >= 0) || !std::isfinite(m)) throw std::invalid_argument("mass must be finite and not negative");
}

DistinctLists::DistinctLists(const ConsensusInput& input) : place(static_cast<size_t>(input.candidates.size())) {
  std::vector<int64_t> order;
  for (size_t l = 0; l + 1 < input.lists.size(); ++l) {
    order.clear();
    for (int64_t c = input.lists[l]; c < input.lists[l + 1]; ++c) order.push_back(c);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const auto x = input.candidates[a], y = input.candidates[b];
      if (!std::ranges::equal(x, y)) return std::ranges::lexicographical_compare(x, y);
      return a < b;
    });
    for (size_t i = 0; i < order.size(); ++i) {  // the first of equal ones, by its number in the input
      const bool repeats = i > 0 && std::ranges::equal(input.candidates[order[i]], input.candidates[order[i - 1]]);
      place[at(order[i])] = repeats ? place[at(order[i - 1])] : order[i];
    }
    for (int64_t c = input.lists[l]; c < input.lists[l + 1]; ++c) {
      if (place[at(c)] == c) {
        const auto words = input.candidates[c];
        candidates.values.insert(candidates.values.end(), words.begin(), words.end());
        candidates.offsets.push_back(static_cast<int64_t>(candidates.values.size()));
        place[at(c)] = static_cast<int64_t>(mass.size());
        mass.push_back(input.mass[at(c)]);
      } else {
        place[at(c)] = place[at(place[at(c)])];
        mass[at(place[at(c)])] += input.mass[at(c)];
      }
    }
    lists.push_back(static_cast<int64_t>(mass.size()));
  }
}

std::vector<double> DistinctLists::spread(const std::vector<double>& values, size_t width) const {
  std::vector<double> result;
  result.reserve(place.size() * width);
  for (const int64_t p : place)
    for (size_t k = 0; k < width; ++k) result.push_back(values[at(p) * width + k]);
  return result;
}

std::vector<double> expected_bleu(const ConsensusInput& input, int order, int n_threads, Control& control) {
  input.check();
  check_order(order);
  const DistinctLists distinct(input);
  const SentenceScore score(order);
  std::vector<double> expected(distinct.mass.size());
  for_each_word_pair(
      distinct, order, n_threads, control,
      [&](size_t c, size_t length, const auto& matches) {
        expected[c] += distinct.mass[c] * score(matches, length, length);
      },
      [&](size_t a, size_t b, size_t length_a, size_t length_b, const auto& matches) {
        expected[a] += distinct.mass[b] * score(matches, length_a, length_b);
        expected[b] += distinct.mass[a] * score(matches, length_b, length_a);
      });
  return distinct.spread(expected);
}

std::vector<double> expected_matches(const ConsensusInput& input, int order, int n_threads, Control& control) {
  input.check();
  check_order(order);
  const DistinctLists distinct(input);
  const auto width = static_cast<size_t>(order);
  std::vector<double> expected(distinct.mass.size() * width);
  const auto add = [&](size_t to, double mass, const auto& matches) {
    for (size_t n = 0; n < width; ++n) expected[to * width + n] += mass * static_cast<double>(matches[n]);
  };
  for_each_word_pair(
      distinct, order, n_threads, control,
      [&](size_t c, size_t, const auto& matches) { add(c, distinct.mass[c], matches); },
      [&](size_t a, size_t b, size_t, size_t, const auto& matches) {
        add(a, distinct.mass[b], matches);
        add(b, distinct.mass[a], matches);
      });
  return distinct.spread(expected, width);
}

std::vector<double> expected_chrf(const ConsensusInput& input, const SpellingTables& spelling, int char_order,
                                  int word_order, double beta, int n_threads, Control& control) {
  input.check();
  spelling.characters.check("characters");
  spelling.pieces.check("pieces");
  if (char_order < 0 || word_order < 0) throw std::invalid_argument("orders must not be negative");
  check_order(char_order + word_order);
  if (char_order > 0) check_spelling(input.candidates.values, spelling.characters);
  if (word_order > 0) check_spelling(input.candidates.values, spelling.pieces);
  const DistinctLists distinct(input);
  std::vector<double> expected(distinct.mass.size());
  const auto n_orders = static_cast<size_t>(char_order + word_order);
  const double factor = beta * beta;

  struct Scratch {
    PairMatches pairs;
    Texts characters, words;
    std::vector<double> inverse;  // [text][order]: 1 / n-grams, 0 where there is none
  };
  std::vector<Scratch> scratches(static_cast<size_t>(workers(distinct, n_threads)));
  const auto expand = [&](size_t begin, const Ragged<int32_t>& table, Texts& texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i].clear();
      for (const int32_t word : distinct.candidates[static_cast<int64_t>(begin + i)]) {
        const auto units = table[word];
        texts[i].insert(texts[i].end(), units.begin(), units.end());
      }
    }
  };
  for_each_list(distinct, n_threads, control, [&](int worker, size_t begin, size_t end) {
    auto& [pairs, characters, words, inverse] = scratches[static_cast<size_t>(worker)];
    const size_t n = end - begin;
    pairs.reset(n);
    inverse.assign(n * n_orders, 0);
    const auto add = [&](Texts& texts, const Ragged<int32_t>& table, int order, int first) {
      if (order == 0) return;
      texts.resize(n);
      expand(begin, table, texts);
      pairs.add(texts, order, first);
      for (size_t i = 0; i < n; ++i)
        for (int k = 0; k < order; ++k)
          if (const double grams = n_grams(texts[i].size(), k); grams > 0)
            inverse[i * n_orders + static_cast<size_t>(first + k)] = 1 / grams;
    };
    add(characters, spelling.characters, char_order, 0);
    add(words, spelling.pieces, word_order, char_order);
    // Precision and recall of a against b; of b against a they change places.
    const auto sides = [&](size_t a, size_t b, const auto& matches, double& first, double& second) {
      first = second = 0;
      const double* x = inverse.data() + a * n_orders;
      const double* y = inverse.data() + b * n_orders;
      int effective = 0;
      for (size_t k = 0; k < n_orders; ++k) {
        const bool occurs = x[k] > 0 && y[k] > 0;
        const auto match = static_cast<double>(matches[k]);
        first += match * x[k];  // no match where one has no such n-gram
        second += match * y[k];
        effective += occurs;
      }
      if (effective > 0) first /= effective, second /= effective;
    };
    const auto f_score = [&](double precision, double recall) {
      const double below = factor * precision + recall;
      return below > 0 ? (1 + factor) * precision * recall / below : 0;
    };
    for (size_t i = 0; i < n; ++i) expected[begin + i] += inverse[i * n_orders] > 0 ? distinct.mass[begin + i] : 0;
    size_t row = 0;
    pairs.for_each_pair([&](size_t a, size_t b, const auto& matches) {
      if (a != row) control.check(), row = a;
      double first, second;
      sides(a, b, matches, first, second);
      expected[begin + a] += distinct.mass[begin + b] * f_score(first, second);
      expected[begin + b] += distinct.mass[begin + a] * f_score(second, first);
    });
  });
  return distinct.spread(expected);
}

}  // namespace dragoman::metric
