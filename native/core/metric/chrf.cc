#include "core/metric/chrf.hh"

#include <algorithm>
#include <limits>
#include <string>

#include "core/metric/ngram_trie.hh"

namespace dragoman::metric {

namespace {

// F score from [hypothesis, reference, match] triples, the arithmetic in the order that the published tool
// has, so that ties between references fall the same way.
double f_score(const double* triples, int n_orders, double beta) {
  const double factor = beta * beta;
  double precision = 0, recall = 0;
  int effective = 0;
  for (int n = 0; n < n_orders; ++n) {
    const double hypothesis = triples[3 * n], reference = triples[3 * n + 1], match = triples[3 * n + 2];
    if (hypothesis > 0 && reference > 0) {
      precision += match / hypothesis;
      recall += match / reference;
      ++effective;
    }
  }
  if (effective == 0) return 0;
  precision /= effective;
  recall /= effective;
  if (precision + recall == 0) return 0;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

// One kind of unit (characters or words) of a sentence: expands word ids, keeps the references' n-grams.
class Level {
 public:
  Level(const Ragged<int32_t>& table, int order) : table_(table), order_(order) {}

  void set_references(std::span<const std::span<const int32_t>> references) {
    n_references_ = references.size();
    if (order_ == 0) return;
    units_.resize(std::max(units_.size(), n_references_));
    views_.clear();
    for (size_t r = 0; r < n_references_; ++r) {
      expand(references[r], units_[r]);
      views_.emplace_back(units_[r]);
    }
    trie_.build(views_, order_);
  }

  // Writes this level's triples of every reference: triples + r * stride + 3 * n.
  void count(std::span<const int32_t> words, double* triples, size_t stride) {
    if (order_ == 0) return;
    expand(words, text_);
    const auto grams = [](size_t length, int n) {
      return static_cast<double>(length > static_cast<size_t>(n) ? length - static_cast<size_t>(n) : 0);
    };
    const size_t width = n_references_;
    matches_.assign(static_cast<size_t>(order_) * width, 0);
    trie_.match(text_, [&](int n, int32_t node, int32_t times) {
      int32_t* row = matches_.data() + static_cast<size_t>(n) * width;
      const int32_t* limits = trie_.counts(node);
      for (size_t r = 0; r < width; ++r) row[r] += times <= limits[r];
    });
    for (size_t r = 0; r < width; ++r) {
      double* row = triples + r * stride;
      for (int n = 0; n < order_; ++n) {
        row[3 * n + 1] = grams(views_[r].size(), n);
        row[3 * n] = row[3 * n + 1] > 0 ? grams(text_.size(), n) : 0;
        row[3 * n + 2] = matches_[static_cast<size_t>(n) * width + r];
      }
    }
  }

 private:
  void expand(std::span<const int32_t> words, std::vector<int32_t>& out) const {
    out.clear();
    for (const int32_t word : words) {
      const auto units = table_[word];
      out.insert(out.end(), units.begin(), units.end());
    }
  }

  Ragged<int32_t> table_;
  int order_;
  size_t n_references_ = 0;
  std::vector<std::vector<int32_t>> units_;
  std::vector<std::span<const int32_t>> views_;
  std::vector<int32_t> text_;
  std::vector<int32_t> matches_;  // [order][reference]
  NgramTrie trie_;
};

void check_words(std::span<const int32_t> words, const Ragged<int32_t>& table, const char* name) {
  for (const int32_t word : words)
    if (word < 0 || word >= table.size())
      throw std::invalid_argument(std::string(name) + ": word " + std::to_string(word) +
                                  " is not in the spelling table of " + std::to_string(table.size()) + " words");
}

}  // namespace

std::vector<double> chrf_statistics(const MetricInput& input, const SpellingTables& spelling, int char_order,
                                    int word_order, double beta, int n_threads, Control& control) {
  input.check();
  n_threads = useful_threads(input, n_threads);
  spelling.characters.check("characters");
  spelling.pieces.check("pieces");
  if (char_order < 0 || word_order < 0 || char_order + word_order < 1)
    throw std::invalid_argument("orders must not be negative, and one of them positive");
  if (char_order > 0) {
    check_words(input.candidates.values, spelling.characters, "candidates");
    check_words(input.references.values, spelling.characters, "references");
  }
  if (word_order > 0) {
    check_words(input.candidates.values, spelling.pieces, "candidates");
    check_words(input.references.values, spelling.pieces, "references");
  }
  const int n_orders = char_order + word_order;
  const size_t width = 3 * static_cast<size_t>(n_orders);
  std::vector<double> statistics(static_cast<size_t>(input.candidates.size()) * width);

  struct Scratch {
    Level characters, words;
    std::vector<double> triples;
  };
  std::vector<Scratch> scratches(static_cast<size_t>(n_threads),
                                 {Level(spelling.characters, char_order), Level(spelling.pieces, word_order), {}});
  for_each_run(input, n_threads, control, [&](int worker, int32_t sentence, int64_t begin, int64_t end) {
    Scratch& scratch = scratches[static_cast<size_t>(worker)];
    const auto references = input.references_of(sentence);
    scratch.characters.set_references(references);
    scratch.words.set_references(references);
    scratch.triples.resize(references.size() * width);
    for (int64_t c = begin; c < end; ++c) {
      double* triples = scratch.triples.data();
      scratch.characters.count(input.candidates[c], triples, width);
      scratch.words.count(input.candidates[c], triples + 3 * char_order, width);
      const double* best = triples;
      double best_score = -1;
      for (size_t r = 0; r < references.size(); ++r) {
        const double score = f_score(triples + r * width, n_orders, beta);
        if (score > best_score) {
          best_score = score;
          best = triples + r * width;
        }
      }
      std::copy(best, best + width, statistics.data() + static_cast<size_t>(c) * width);
    }
  });
  return statistics;
}

}  // namespace dragoman::metric
