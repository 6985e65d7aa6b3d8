#include "core/lm/assemble.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/errors.hh"

namespace dragoman::lm {

namespace {

constexpr double kLoad = 0.75;
constexpr uint64_t kSpare = 16;  // buckets
constexpr Entry kEmpty{kEmptyKey, 0, 0};
constexpr size_t kAhead = 16;  // prefetch distance, to hide memory latency

constexpr uint8_t kIsContext = 1, kExtendsLeft = 2;

// A sorted hash table under construction; its last slot stays empty.
class TableBuilder {
 public:
  explicit TableBuilder(uint64_t n_entries)
      : n_homes_(static_cast<uint64_t>(static_cast<double>(n_entries) / (kLoad * kBucket)) + 1),
        slots_((n_homes_ + kSpare) * kBucket, kEmpty) {}

  void add(const Entry& entry) {
    __builtin_prefetch(slots_.data() + home_slot(entry.key, n_homes_), 1);
    if (n_pending_ == kAhead) {
      insert(pending_[next_]);
      pending_[next_] = entry;
      next_ = (next_ + 1) % kAhead;
    } else {
      pending_[n_pending_++] = entry;
    }
  }

  void finish(Parts& parts) {
    for (size_t i = 0; i < n_pending_; ++i) insert(pending_[(next_ + i) % n_pending_]);
    parts.n_homes = n_homes_;
    parts.table = std::move(slots_);
  }

 private:
  void insert(Entry entry) {
    size_t slot = home_slot(entry.key, n_homes_);
    while (slots_[slot].key < entry.key) ++slot;
    if (slots_[slot].key == entry.key) throw InputError("the model has a duplicate n-gram");
    for (; slots_[slot].key != kEmptyKey; ++slot) std::swap(slots_[slot], entry);
    slots_[slot] = entry;
    if (slot + 1 == slots_.size()) grow();
  }

  // Spare buckets after the last home bucket, in case keys overflow there.
  void grow() {
    Pages<Entry> larger(slots_.size() + kSpare * kBucket, kEmpty);
    std::copy_n(slots_.data(), slots_.size(), larger.data());
    slots_ = std::move(larger);
  }

  uint64_t n_homes_;
  Pages<Entry> slots_;
  std::array<Entry, kAhead> pending_{};
  size_t n_pending_ = 0, next_ = 0;
};

// Properties of the n-grams of `level` that follow from the next higher order.
std::vector<uint8_t> flags_of(const Level& level, const Level* above) {
  std::vector<uint8_t> flags(level.logprob.size(), 0);
  for (size_t i = 0; i < level.backoff.size(); ++i)
    if (level.backoff[i] != 0) flags[i] |= kIsContext;
  if (above != nullptr) {
    const auto& contexts = above->context;
    for (size_t i = 0; i < contexts.size(); ++i) {
      if (i + kAhead < contexts.size()) __builtin_prefetch(&flags[contexts[i + kAhead]], 1);
      flags[contexts[i]] |= kIsContext;
    }
    for (const uint32_t i : above->suffix) flags[i] |= kExtendsLeft;
  }
  return flags;
}

float packed(float logprob, uint8_t flags) {
  return std::copysign(logprob, (flags & kExtendsLeft) != 0 ? -1.0F : 1.0F);
}

}  // namespace

std::unique_ptr<Model> assemble(const names::WordTable& words, std::vector<Level>&& levels, Control& control,
                                int64_t step) {
  const size_t order = levels.size();
  const size_t n_words = levels[0].logprob.size();
  Parts parts;
  parts.order = static_cast<int>(order);
  uint64_t n_entries = 0;
  for (const Level& level : levels) {
    parts.n_ngrams.push_back(static_cast<int64_t>(level.logprob.size()));
    n_entries += level.logprob.size();
  }
  parts.vocab_blob = words.blob();
  parts.vocab_offsets = words.offsets();
  parts.nodes.push_back({0, 0});
  TableBuilder table(n_entries - n_words);

  // For the previous order and this one: the context after each n-gram, and its last word.
  std::vector<uint32_t> next_below, next, last_below, last;
  parts.level_begin.push_back(0);
  for (size_t n = 1; n <= order; ++n) {
    control.check();
    Level& level = levels[n - 1];
    const size_t size = level.logprob.size();
    const std::vector<uint8_t> flags = flags_of(level, n < order ? &levels[n] : nullptr);
    parts.level_begin.push_back(parts.nodes.size());
    next.assign(size, 0);
    last.assign(n < order ? size : 0, 0);
    for (size_t i = 0; i < size; ++i) {
      if (n > 1 && i + kAhead < size) __builtin_prefetch(&next_below[level.context[i + kAhead]]);
      const uint32_t suffix = n == 1 ? 0 : next_below[level.suffix[i]];
      next[i] = suffix;
      if ((flags[i] & kIsContext) != 0) {
        if (parts.nodes.size() >= std::numeric_limits<uint32_t>::max())
          throw InputError("more than 2^32 - 1 contexts; prune the model or lower its order");
        next[i] = static_cast<uint32_t>(parts.nodes.size());
        parts.nodes.push_back({level.backoff[i], suffix});
      }
      const float prob = packed(level.logprob[i], flags[i]);
      if (n == 1) {
        parts.unigrams.push_back({prob, next[i]});
        if (n < order) last[i] = static_cast<uint32_t>(i);
        continue;
      }
      const uint32_t word = last_below[level.suffix[i]];
      if (n < order) last[i] = word;
      table.add({mix_key(next_below[level.context[i]], word), prob, next[i]});
    }
    std::swap(next_below, next);
    std::swap(last_below, last);
    level = Level{};
    control.advance(step);
  }
  parts.level_begin.resize(kMaxOrder + 1, parts.nodes.size());
  table.finish(parts);
  return std::make_unique<Model>(std::move(parts));
}

}  // namespace dragoman::lm
