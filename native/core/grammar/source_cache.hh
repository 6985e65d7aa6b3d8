// Results of source sides with many targets, made on first use and never replaced; threads share them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/grammar/key.hh"

namespace dragoman::grammar {

template <typename List>
class SourceCache {
 public:
  explicit SourceCache(size_t n_slots)
      : n_slots_(n_slots), slots_(std::make_unique<std::atomic<const Kept*>[]>(n_slots)) {}
  ~SourceCache() {
    for (size_t i = 0; i < n_slots_; ++i) delete slots_[i].load(std::memory_order_relaxed);
  }
  SourceCache(const SourceCache&) = delete;
  SourceCache& operator=(const SourceCache&) = delete;

  // The result of a source side, made now if its slots have room; nullptr where others took them.
  template <typename Make>
  const List* get(int64_t source, Make&& make) const {
    const uint64_t hash = mix64(static_cast<uint64_t>(source));
    for (size_t probe = 0; probe < kProbes; ++probe) {
      auto& slot = slots_[(hash + probe) % n_slots_];
      const Kept* found = slot.load(std::memory_order_acquire);
      if (!found) {
        auto made = std::make_unique<Kept>();
        made->source = source;
        make(made->list);
        if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) return &made.release()->list;
      }
      if (found->source == source) return &found->list;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kProbes = 4;
  struct Kept {
    int64_t source = 0;
    List list;
  };
  size_t n_slots_;
  std::unique_ptr<std::atomic<const Kept*>[]> slots_;
};

}  // namespace dragoman::grammar
