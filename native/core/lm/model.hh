// The backoff n-gram model for decoders. A state is one context id, the shortest context that determines all later
// scores: two states are equal exactly when the model cannot distinguish them.
//
// Scoring runs an automaton: look up (context, word); on a miss, add the backoff weight and continue with the context's
// suffix. A hit makes the context one word longer and a miss shorter, so a word costs about two lookups at most
// (amortised), whatever the order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/pages.hh"
#include "core/lm/format.hh"
#include "core/names/vocab.hh"

namespace dragoman::lm {

struct State {
  uint32_t node = 0;  // 0: the empty context
  friend bool operator==(const State&, const State&) = default;
  uint64_t hash() const { return mix_key(node, 0); }
};

struct Match {
  float logprob;      // natural
  int length;         // of the longest matching n-gram, including the scored word
  bool extends_left;  // the matching n-gram is a suffix of a longer one
};

// The sections of a model in memory, in the order of the file.
struct Parts {
  int order = 0;
  std::vector<int64_t> n_ngrams;
  std::vector<uint64_t> level_begin;  // by context length, kMaxOrder + 1 of them
  std::vector<int64_t> vocab_offsets;
  std::string vocab_blob;
  std::vector<Unigram> unigrams;
  std::vector<Node> nodes;
  Pages<Entry> table;
  uint64_t n_homes = 0;
};

class Model {
 public:
  // Takes an assembled model (assemble.hh). The parts must be consistent.
  explicit Model(Parts&& parts);
  // Maps an open file. Throws InputError when it is not a model or its size does not match its header; with `verify`,
  // also when the checksum of the content differs.
  Model(int descriptor, bool verify);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  int order() const { return order_; }
  uint32_t n_words() const { return n_words_; }
  uint64_t n_nodes() const { return n_nodes_; }
  std::span<const int64_t> n_ngrams() const { return n_ngrams_; }
  const names::WordTable& words() const { return words_; }
  std::span<const Unigram> unigrams() const { return {unigrams_, n_words_}; }
  std::span<const Node> nodes() const { return {nodes_, n_nodes_}; }
  std::span<const Entry> table() const { return {table_, n_slots_}; }
  int depth(uint32_t node) const {
    int depth = 0;
    while (node >= level_begin_[depth + 1]) ++depth;
    return depth;
  }
  bool deeper_than(State state, int length) const { return state.node >= level_begin_[length + 1]; }

  State empty_state() const { return {}; }
  State begin_state() const { return {checked(unigrams_[kBos].next)}; }

  // Natural log probability of `word` (< n_words()) after `in`. `out` may be the same object.
  float score(State in, uint32_t word, State& out) const {
    float backoff = 0;
    for (uint32_t node = in.node; node != 0; node = suffix(node)) {
      if (const Entry* entry = find(node, word)) {
        out.node = checked(entry->next);
        return backoff - std::fabs(entry->prob);
      }
      backoff += nodes_[node].backoff;
    }
    out.node = checked(unigrams_[word].next);
    return backoff - std::fabs(unigrams_[word].prob);
  }

  Match match(State in, uint32_t word, State& out) const {
    float backoff = 0;
    for (uint32_t node = in.node; node != 0; node = suffix(node)) {
      if (const Entry* entry = find(node, word)) {
        out.node = checked(entry->next);
        return {backoff - std::fabs(entry->prob), depth(node) + 1, std::signbit(entry->prob)};
      }
      backoff += nodes_[node].backoff;
    }
    out.node = checked(unigrams_[word].next);
    return {backoff - std::fabs(unigrams_[word].prob), 1, std::signbit(unigrams_[word].prob)};
  }

  // Sum of the backoff weights of `state`'s context and its suffixes that are longer than `length` words.
  float backoff_beyond(State state, int length) const {
    float sum = 0;
    for (uint32_t node = state.node; node != 0 && node >= level_begin_[length + 1]; node = suffix(node))
      sum += nodes_[node].backoff;
    return sum;
  }

  // The steps of score, for callers that interleave many sentences. A table read from a file may contain anything: ids
  // are checked here, the last slot is known to be empty, and suffix ids always decrease.
  const Entry* find(uint32_t node, uint32_t word) const {
    const uint64_t key = mix_key(node, word);
    for (const Entry* bucket = table_ + home_slot(key, n_homes_);; bucket += kBucket) {
      // Branch-free, because the slot is unpredictable.
      const size_t n_smaller = static_cast<size_t>(bucket[0].key < key) + static_cast<size_t>(bucket[1].key < key) +
                               static_cast<size_t>(bucket[2].key < key) + static_cast<size_t>(bucket[3].key < key);
      if (n_smaller < kBucket) return bucket[n_smaller].key == key ? bucket + n_smaller : nullptr;
    }
  }
  void prefetch(uint32_t node, uint32_t word) const {
    __builtin_prefetch(table_ + home_slot(mix_key(node, word), n_homes_));
  }
  void prefetch_node(uint32_t node) const { __builtin_prefetch(nodes_ + node); }
  uint32_t suffix(uint32_t node) const {
    const uint32_t suffix = nodes_[node].suffix;
    return suffix < node ? suffix : 0;
  }
  uint32_t checked(uint32_t node) const { return node < n_nodes_ ? node : 0; }

  // The model as a file: the concatenation of these pieces.
  std::vector<std::string_view> file_pieces() const;

 private:
  struct Mapping;

  std::vector<std::string_view> sections() const;

  int order_ = 0;
  uint32_t n_words_ = 0;
  uint32_t n_nodes_ = 0;
  uint64_t level_begin_[kMaxOrder + 1];
  const Unigram* unigrams_ = nullptr;
  const Node* nodes_ = nullptr;
  const Entry* table_ = nullptr;
  uint64_t n_homes_ = 0;
  uint64_t n_slots_ = 0;
  std::vector<int64_t> n_ngrams_;
  names::WordTable words_;
  Parts parts_;                       // of an assembled model
  std::unique_ptr<Mapping> mapping_;  // of a mapped one
  Header header_{};
};

}  // namespace dragoman::lm
