// Counts of linked words per fold, for lexical weights. An unaligned word counts as linked to the empty word.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bucket_spool.hh"
#include "core/base/control.hh"
#include "core/grammar/key.hh"

namespace dragoman::grammar {

constexpr int32_t kNullWord = -1;

// A pair of words as one integer: ordered by source, then target, the empty word first.
inline uint64_t word_pair_key(int32_t source, int32_t target) {
  return static_cast<uint64_t>(static_cast<uint32_t>(source) + 1U) << 32 | (static_cast<uint32_t>(target) + 1U);
}

class WordCounter {
 public:
  WordCounter(std::string folder, int64_t max_memory_bytes) : folder_(folder), spool_(folder, max_memory_bytes) {}

  class Writer {
   public:
    explicit Writer(WordCounter& counter) : records_(counter.spool_) {}
    void add(int32_t source, int32_t target, uint8_t fold) {
      const uint64_t key = word_pair_key(source, target);
      records_.add(mix64(key), {key, fold});
    }
    void flush() { records_.flush(); }

   private:
    BucketSpool<std::pair<uint64_t, uint8_t>>::Writer records_;
  };

  // Writes word_pairs.{rows,keys,offsets,values} and the marginals {source,target}_words.{offsets,values}, whose row w
  // + 1 belongs to word w. Words are below the sizes of the vocabularies.
  void write(int32_t n_source_words, int32_t n_target_words, int n_threads, Control& control);

 private:
  std::string folder_;
  BucketSpool<std::pair<uint64_t, uint8_t>> spool_;
};

}  // namespace dragoman::grammar
