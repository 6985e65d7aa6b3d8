#include "core/lm/arpa_link.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/errors.hh"

namespace dragoman::lm {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr size_t kAhead = 8;  // prefetch distance, to hide memory latency

// Hash table from the words of an n-gram to its index in a list.
class Index {
 public:
  explicit Index(const NgramList& list) : list_(list), slots_(std::bit_ceil(2 * list.size() + 16), kNone) {}

  uint32_t find(const uint32_t* words) const { return slots_[slot_of(words)]; }
  void prefetch(const uint32_t* words) const { __builtin_prefetch(&slots_[home_of(words)]); }

  // Adds the n-gram at index `place`; returns false for a duplicate.
  bool add(size_t place) {
    if (place >= kNone) throw InputError("more than 2^32 - 1 n-grams of one order");
    if (2 * (n_used_ + 1) > slots_.size()) grow();
    uint32_t& slot = slots_[slot_of(list_.at(place))];
    if (slot != kNone) return false;
    slot = static_cast<uint32_t>(place);
    ++n_used_;
    return true;
  }

 private:
  size_t home_of(const uint32_t* words) const {
    uint64_t hash = 0;
    for (size_t k = 0; k < list_.n; ++k) hash = mix_raw(hash ^ words[k]) ^ hash >> 32;
    return (hash >> 32) & (slots_.size() - 1);
  }

  size_t slot_of(const uint32_t* words) const {
    size_t slot = home_of(words);
    while (slots_[slot] != kNone && !std::equal(words, words + list_.n, list_.at(slots_[slot])))
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void grow() {
    const std::vector<uint32_t> old = std::exchange(slots_, std::vector<uint32_t>(2 * slots_.size(), kNone));
    for (const uint32_t place : old)
      if (place != kNone) slots_[slot_of(list_.at(place))] = place;
  }

  const NgramList& list_;
  std::vector<uint32_t> slots_;
  size_t n_used_ = 0;
};

std::string spell(const uint32_t* ids, size_t n, const names::WordTable& words) {
  std::string text = "'";
  for (size_t k = 0; k < n; ++k) {
    if (k > 0) text += ' ';
    text += words.word(static_cast<int32_t>(ids[k]));
  }
  return text + "'";
}

class Linker {
 public:
  Linker(std::vector<NgramList>& lists, std::vector<Level>& levels,
         const std::function<int64_t(size_t, size_t)>& line_of, const names::WordTable& words)
      : lists_(lists), levels_(levels), line_of_(line_of), words_(words) {
    for (const NgramList& list : lists) n_read_.push_back(list.size());
    n_read_[0] = levels[0].logprob.size();
  }

  void run(Control& control) {
    const size_t order = lists_.size();
    if (order > 1) index_of(order);  // checks for duplicates
    // From the highest order down, because an added n-gram may require others of lower order.
    for (size_t n = order; n >= 2; --n) {
      control.check();
      n == 2 ? link_to_words() : link_to_ngrams(n);
    }
    for (size_t n = 1; n <= order; ++n) {
      control.check();
      complete(n);
    }
  }

 private:
  Index index_of(size_t n) const {
    const NgramList& list = lists_[n - 1];
    Index index(list);
    for (size_t i = 0; i < list.size(); ++i) {
      if (i + kAhead < list.size()) index.prefetch(list.at(i + kAhead));
      if (!index.add(i)) fail(n, i, "is a duplicate");
    }
    return index;
  }

  void link_to_words() {
    const NgramList& list = lists_[1];
    for (size_t i = 0; i < list.size(); ++i) {
      const uint32_t* gram = list.at(i);
      levels_[1].context.push_back(gram[0]);
      levels_[1].suffix.push_back(gram[1]);
      if (i < n_read_[1]) require_backoff(1, gram[0], levels_[0].backoff);
    }
  }

  void link_to_ngrams(size_t n) {
    const NgramList& list = lists_[n - 1];
    NgramList& below = lists_[n - 2];
    Index index = index_of(n - 1);
    const auto place_of = [&](const uint32_t* gram) {
      const uint32_t found = index.find(gram);
      if (found != kNone) return found;
      below.words.insert(below.words.end(), gram, gram + (n - 1));
      below.logprob.push_back(0);  // see complete
      below.backoff.push_back(0);
      index.add(below.size() - 1);
      return static_cast<uint32_t>(below.size() - 1);
    };
    Level& level = levels_[n - 1];
    for (size_t i = 0; i < list.size(); ++i) {
      if (i + kAhead < list.size()) index.prefetch(list.at(i + kAhead) + 1);
      // Files are usually sorted by context.
      const bool same_context = i > 0 && std::equal(list.at(i), list.at(i) + (n - 1), list.at(i - 1));
      level.context.push_back(same_context ? level.context.back() : place_of(list.at(i)));
      level.suffix.push_back(place_of(list.at(i) + 1));
      if (i < n_read_[n - 1]) require_backoff(n - 1, level.context.back(), below.backoff);
    }
  }

  void require_backoff(size_t n, uint32_t place, const std::vector<float>& backoffs) const {
    if (std::isnan(backoffs[place])) fail(n, place, "is a prefix of longer n-grams but has no backoff weight");
  }

  // Moves the values over and gives the added n-grams their backed-off probability.
  void complete(size_t n) {
    Level& level = levels_[n - 1];
    if (n > 1) {
      level.logprob = std::move(lists_[n - 1].logprob);
      level.backoff = std::move(lists_[n - 1].backoff);
      lists_[n - 1] = NgramList{};
      const Level& below = levels_[n - 2];
      for (size_t i = n_read_[n - 1]; i < level.logprob.size(); ++i)
        level.logprob[i] = std::min(0.0F, below.backoff[level.context[i]] + below.logprob[level.suffix[i]]);
    }
    for (float& backoff : level.backoff)
      if (std::isnan(backoff)) backoff = 0;
  }

  [[noreturn]] void fail(size_t n, size_t i, const std::string& what) const {
    const auto id = static_cast<uint32_t>(i);
    throw InputError(
        "the " + std::to_string(n) + "-gram " + spell(n == 1 ? &id : lists_[n - 1].at(i), n, words_) + " " + what,
        line_of_(n, i));
  }

  std::vector<NgramList>& lists_;
  std::vector<Level>& levels_;
  const std::function<int64_t(size_t, size_t)>& line_of_;
  const names::WordTable& words_;
  std::vector<size_t> n_read_;  // by order from 1
};

}  // namespace

void link(std::vector<NgramList>& lists, std::vector<Level>& levels,
          const std::function<int64_t(size_t, size_t)>& line_of, const names::WordTable& words, Control& control) {
  Linker(lists, levels, line_of, words).run(control);
}

}  // namespace dragoman::lm
