#include "core/search/forced.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dragoman::search {

namespace {

void append_row(std::vector<int32_t>&& from, RaggedVector<int32_t>& to) {
  to.values.insert(to.values.end(), from.begin(), from.end());
  to.offsets.push_back(static_cast<int64_t>(to.values.size()));
}

}  // namespace

void ForcedTranslations::append(ForcedTranslation&& one, std::span<const double> weights, const Control& control) {
  append_row(std::move(one.deleted), deleted);
  append_row(std::move(one.inserted), inserted);
  append_row(std::move(one.copied), copied);
  is_complete.push_back(one.is_complete ? 1 : 0);
  forest::append_kbest(one.forest, weights, 1, false, control, lists);
  forests.push_back(std::move(one.forest));
}

void check_pairs(const ForcedPairs& pairs, const Sentences& words) {
  if (pairs.copies.size() != words.size() || !std::ranges::equal(pairs.copies.offsets, words.offsets))
    throw std::invalid_argument("every source word needs the target word that it is");
  if (static_cast<int64_t>(pairs.sentences.size()) != pairs.targets.size())
    throw std::invalid_argument("every pair needs a sentence and a translation");
  for (const int64_t s : pairs.sentences)
    if (s < 0 || s >= words.size()) throw std::invalid_argument("a pair's sentence is not there");
  for (const int32_t word : pairs.targets.values)
    if (word < 0) throw std::invalid_argument("words of translations have ids");
}

void TargetPlaces::start(std::span<const int32_t> target) {
  target_ = target;
  places_.clear();
  is_there_.assign(kBits, 0);
  for (size_t t = 0; t < target.size(); ++t) {
    places_.emplace_back(target[t], static_cast<int32_t>(t));
    is_there_[bit_of(target[t])] = 1;
  }
  std::sort(places_.begin(), places_.end());
}

std::span<const std::pair<int32_t, int32_t>> TargetPlaces::of(int32_t word) const {
  const auto first = std::lower_bound(places_.begin(), places_.end(), std::pair(word, 0));
  auto last = first;
  while (last != places_.end() && last->first == word) ++last;
  return {first, last};
}

bool TargetPlaces::has_all(std::span<const int32_t> symbols) const {
  return std::all_of(symbols.begin(), symbols.end(), [&](int32_t symbol) { return symbol < 0 || has(symbol); });
}

}  // namespace dragoman::search
