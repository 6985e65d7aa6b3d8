// A model with a cache of recent queries. Chart search repeats the same few words in the same few contexts, and the
// model's table is far larger than the CPU caches. Scores are bit-identical to the model's. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/lm/model.hh"

namespace dragoman::lm {

class CachedModel {
 public:
  explicit CachedModel(const Model& model) : model_(model), slots_(size_t{1} << kLogSlots) {}

  int order() const { return model_.order(); }
  State begin_state() const { return model_.begin_state(); }
  bool deeper_than(State state, int length) const { return model_.deeper_than(state, length); }
  float backoff_beyond(State state, int length) const { return model_.backoff_beyond(state, length); }

  float score(State in, uint32_t word, State& out) {
    const Slot& slot = find(in, word);
    out = slot.next;
    return slot.logprob;
  }
  Match match(State in, uint32_t word, State& out) {
    const Slot& slot = find(in, word);
    out = slot.next;
    return {slot.logprob, static_cast<int>(slot.tag >> 1 & 0xff), (slot.tag & 1) != 0};
  }

 private:
  static constexpr int kLogSlots = 15;
  static_assert(kMaxOrder < 256 && kLogSlots >= 9);
  // The key is mixed by a bijection; its first bits are the slot number. The tag holds the rest, then the match length
  // (never 0, so an empty slot matches no tag) and whether the match extends to the left.
  struct Slot {
    uint64_t tag = 0;
    float logprob = 0;
    State next;
  };

  const Slot& find(State in, uint32_t word) {
    const uint64_t key = mix_key(in.node, word), tag = key << kLogSlots;
    Slot& slot = slots_[key >> (64 - kLogSlots)];
    if (((slot.tag ^ tag) >> 9) != 0 || slot.tag == 0) {
      const Match match = model_.match(in, word, slot.next);
      slot.tag = (tag & ~uint64_t{0x1ff}) | static_cast<uint64_t>(match.length) << 1 | (match.extends_left ? 1 : 0);
      slot.logprob = match.logprob;
    }
    return slot;
  }

  const Model& model_;
  std::vector<Slot> slots_;
};

}  // namespace dragoman::lm
