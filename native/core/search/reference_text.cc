#include "core/search/reference_text.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/at.hh"
#include "core/forest/forest.hh"

namespace dragoman::search {

namespace {

constexpr int kBleuOrder = 4;

}  // namespace

void ReferenceText::start(std::span<const int32_t> words) {
  words_ = words;
  has_ngrams_ = false;
  if (lm_ == nullptr) return;
  states_.assign(1, lm_->begin_state());
  sums_.assign(1, 0);
  for (size_t t = 0; t <= words.size(); ++t) {
    lm::State next;
    const uint32_t word = t == words.size() ? lm::kEos : lm_word(words[t]);
    sums_.push_back(sums_.back() + static_cast<double>(lm_->score(states_.back(), word, next)));
    states_.push_back(next);
  }
}

uint32_t ReferenceText::lm_word(int32_t target_word) const {
  return at(target_word) < lm_words_.size() ? lm_words_[at(target_word)] : lm::kUnk;
}

double ReferenceText::lm_change(std::span<const int32_t> symbols, std::span<const TargetRange> inner,
                                TargetRange target) const {
  if (lm_ == nullptr) return 0;
  const auto n = static_cast<int32_t>(words_.size());
  lm::State state = states_[at(target.begin)];
  double sum = 0;
  const auto read = [&](int32_t from, int32_t to) {
    for (int32_t t = from; t < to; ++t) {
      if (state == states_[at(t)]) {  // from here on as in the reference
        sum += sums_[at(to)] - sums_[at(t)];
        state = states_[at(to)];
        return;
      }
      sum += static_cast<double>(lm_->score(state, lm_word(words_[at(t)]), state));
    }
  };
  for (const int32_t symbol : symbols) {
    if (symbol >= 0) {
      sum += static_cast<double>(lm_->score(state, static_cast<uint32_t>(symbol), state));
    } else {
      const TargetRange& range = inner[at(forest::tail_slot(symbol))];
      read(range.begin, range.end);
    }
  }
  read(target.end, n);
  if (state == states_[at(n)])
    sum += sums_[at(n) + 1] - sums_[at(n)];
  else
    sum += static_cast<double>(lm_->score(state, lm::kEos, state));
  return sum - (sums_[at(n) + 1] - sums_[at(target.begin)]);
}

double ReferenceText::gain(std::span<const int32_t> symbols, std::span<const TargetRange> inner, TargetRange target) {
  if (!std::exchange(has_ngrams_, true)) ngrams_.build(std::span(&words_, 1), kBleuOrder);
  const auto append = [&](int32_t from, int32_t to) {
    string_.insert(string_.end(), words_.begin() + from, words_.begin() + to);
  };
  string_.clear();
  append(0, target.begin);
  for (const int32_t symbol : symbols) {
    if (symbol >= 0) {
      string_.push_back(symbol);
    } else {
      const TargetRange& range = inner[at(forest::tail_slot(symbol))];
      append(range.begin, range.end);
    }
  }
  append(target.end, static_cast<int32_t>(words_.size()));
  if (string_.empty()) return 0;
  std::array<double, kBleuOrder> correct{};
  ngrams_.match(string_, [&](int n, int32_t node, int32_t times) { correct[at(n)] += times <= ngrams_.limit(node); });
  if (correct[0] == 0) return 0;
  const auto length = static_cast<double>(string_.size());
  double sum = 0;
  for (int n = 0; n < kBleuOrder; ++n) {
    const double added = n > 0 ? 1 : 0, possible = std::max(0.0, length - n);
    sum += std::log((correct[at(n)] + added) / (possible + added));
  }
  const double brevity = std::min(0.0, 1 - static_cast<double>(words_.size()) / length);
  return std::exp(sum / kBleuOrder + brevity);
}

}  // namespace dragoman::search
