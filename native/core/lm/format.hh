// The language model's binary format: a header, then five sections, each aligned to 64 bytes. Once `Header` matches the
// file size, queries are memory-safe for any content: see model.hh.
//
//   vocab offsets   int64 [n_words + 1]
//   vocab words     char  [vocab_bytes]      stored (escaped) forms
//   unigrams        Unigram [n_words]        by word id
//   nodes           Node [n_nodes]           by context id; contexts of equal length are consecutive
//   table           Entry [n_slots]          n-grams of order 2 and higher
//
// A *context* is an n-gram that has extensions or a backoff weight, so that it predicts differently from its suffix.
// Context 0 is empty. An n-gram's key is (context id, word id).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/checksum.hh"

namespace dragoman::lm {

inline constexpr int kMaxOrder = 10;
inline constexpr uint32_t kUnk = 0, kBos = 1, kEos = 2;
// log10 -100, for models that do not list <unk>.
inline constexpr double kLn10 = 2.302585092994045684;
inline constexpr float kMissingUnk = static_cast<float>(-100 * kLn10);

// The natural log probability is -|prob|. A set sign bit means that the n-gram is a proper suffix of another one in the
// model, so that words further left matter. `next` is the context after the n-gram.
struct Unigram {
  float prob;
  uint32_t next;
};

// `suffix` is the longest proper suffix that is also a context; its id is smaller.
struct Node {
  float backoff;
  uint32_t suffix;
};

struct Entry {
  uint64_t key;
  float prob;
  uint32_t next;
};

inline constexpr char kMagic[8] = {'D', 'R', 'A', 'G', 'O', 'L', 'M', '\n'};
inline constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t order;
  uint64_t n_words;
  uint64_t vocab_bytes;
  uint64_t n_nodes;
  uint64_t n_homes;  // buckets a key may hash to; the table has more, and its last slot is empty
  uint64_t n_slots;  // kBucket for each bucket
  uint64_t n_ngrams[kMaxOrder];
  uint64_t level_begin[kMaxOrder + 1];  // first context id of each length; past the longest: n_nodes
  uint64_t content_checksum;
  uint64_t header_checksum;  // of the bytes before
};
static_assert(sizeof(Unigram) == 8 && sizeof(Node) == 8 && sizeof(Entry) == 16 && sizeof(Header) == 240);

// The table is an array of buckets of one cache line each. Keys are stored mixed by a bijection, so equality is exact
// and the table can be sorted by them: keys increase within a run of full slots, a search from a key's home bucket ends
// at the first larger key, and an empty slot is larger than any key.
inline constexpr uint64_t kBucket = 4;
inline constexpr uint64_t kEmptyKey = ~uint64_t{0};

// The key of no n-gram (context 2^32 - 1) is mapped to kEmptyKey.
inline constexpr uint64_t kMixShift = mix_raw(kEmptyKey) ^ kEmptyKey;

constexpr uint64_t mix_key(uint32_t node, uint32_t word) {
  return mix_raw(static_cast<uint64_t>(node) << 32 | word) ^ kMixShift;
}

constexpr uint64_t inverse_odd(uint64_t a) {
  uint64_t x = a;
  for (int i = 0; i < 6; ++i) x *= 2 - a * x;  // Newton: doubles the correct low bits
  return x;
}

constexpr uint64_t unmix_key(uint64_t mixed) {
  uint64_t key = (mixed ^ kMixShift) * inverse_odd(kMixB);
  key ^= key >> 32;
  return key * inverse_odd(kMixA);
}
static_assert(unmix_key(mix_key(123456789, 987654321)) == (uint64_t{123456789} << 32 | 987654321));
static_assert(mix_key(0xffffffffu, 0xffffffffu) == kEmptyKey);

// The first slot of the key's home bucket.
inline uint64_t home_slot(uint64_t mixed, uint64_t n_homes) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(mixed) * n_homes >> 64) * kBucket;
}

}  // namespace dragoman::lm
