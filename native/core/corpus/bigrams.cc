#include "core/corpus/bigrams.hh"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace dragoman::corpus {

namespace {

// Calls `pair(first, second)` for every bigram of the text, in words of these numbers.
template <typename Pair>
void each_pair(Sentences text, std::span<const int32_t> word_of, int32_t boundary, Control& control, Pair&& pair) {
  for (int64_t s = 0; s < text.size(); ++s) {
    if (s % 4096 == 0) control.check();
    const auto sentence = text[s];
    if (sentence.empty()) continue;
    int32_t last = boundary;
    for (const int32_t id : sentence) {
      const int32_t word = word_of[at(id)];
      pair(last, word);
      last = word;
    }
    pair(last, boundary);
  }
}

}  // namespace

WordBigrams::WordBigrams(Sentences text, int32_t n_ids, Control& control) : n_ids_(n_ids) {
  count_words(text);
  count_pairs(text, control);
}

void WordBigrams::count_words(Sentences text) {
  std::vector<int64_t> by_id(at(n_ids_));
  for (const int32_t id : text.values) {
    if (id < 0 || id >= n_ids_) throw std::invalid_argument("the text has a word that the vocabulary lacks");
    ++by_id[at(id)];
  }
  for (int32_t id = 0; id < n_ids_; ++id)
    if (by_id[at(id)] > 0) ids_.push_back(id);
  std::stable_sort(ids_.begin(), ids_.end(), [&](int32_t a, int32_t b) { return by_id[at(a)] > by_id[at(b)]; });
  word_of_.assign(at(n_ids_), -1);
  for (int32_t word = 0; word < n_words(); ++word) {
    word_of_[at(id(word))] = word;
    counts_.push_back(by_id[at(id(word))]);
  }
  int64_t n_sentences = 0;
  for (int64_t s = 0; s < text.size(); ++s) n_sentences += text[s].empty() ? 0 : 1;
  counts_.push_back(n_sentences);
}

// Two bucket passes: first words in the order of the second ones, then second words in the order of the first ones, so
// that the bigrams of each first word lie together, sorted by the second. A word is first as often as it is second.
void WordBigrams::count_pairs(Sentences text, Control& control) {
  const int32_t n = n_words() + 1;
  std::vector<int64_t> begins(at(n) + 1);
  std::partial_sum(counts_.begin(), counts_.end(), begins.begin() + 1);
  std::vector<int32_t> firsts(at(begins.back())), seconds(at(begins.back()));
  std::vector<int64_t> next(begins.begin(), begins.end() - 1);
  each_pair(text, word_of_, boundary(), control,
            [&](int32_t first, int32_t second) { firsts[at(next[at(second)]++)] = first; });
  std::copy(begins.begin(), begins.end() - 1, next.begin());
  for (int32_t second = 0; second < n; ++second)
    for (int64_t i = begins[at(second)]; i < begins[at(second) + 1]; ++i)
      seconds[at(next[at(firsts[at(i)])]++)] = second;
  control.check();
  std::vector<int64_t> n_before(at(n) + 1);
  for (int32_t first = 0; first < n; ++first) {
    for (int64_t i = begins[at(first)]; i < begins[at(first) + 1];) {
      const int64_t begin = i;
      const int32_t second = seconds[at(begin)];
      while (i < begins[at(first) + 1] && seconds[at(i)] == second) ++i;
      after_.values.push_back({second, i - begin});
      ++n_before[at(second) + 1];
    }
    after_.offsets.push_back(static_cast<int64_t>(after_.values.size()));
  }
  std::partial_sum(n_before.begin(), n_before.end(), n_before.begin());
  before_.offsets = n_before;
  before_.values.resize(after_.values.size());
  for (int32_t first = 0; first < n; ++first)
    for (const Neighbour& right : after_[first]) before_.values[at(n_before[at(right.word)]++)] = {first, right.count};
}

}  // namespace dragoman::corpus
