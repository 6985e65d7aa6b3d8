// Numbers of distinct translations: what is computed of a translation once is found again by its number.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/at.hh"

namespace dragoman::forest {

// The distinct translations of many sentences, numbered as they come.
class Translations {
 public:
  struct Number {
    int64_t number;
    bool is_new;
  };

  // `forest`: of the sentence. Forests may have different numbers for a word that is in no vocabulary.
  Number of(int64_t sentence, int32_t forest, std::span<const int32_t> words) {
    key_.assign(words.begin(), words.end());
    key_.push_back(forest);
    if (sentences_.size() <= at(sentence)) sentences_.resize(at(sentence) + 1);
    const auto [found, is_new] = sentences_[at(sentence)].try_emplace(key_, n_);
    n_ += is_new;
    return {found->second, is_new};
  }

 private:
  struct Hash {
    size_t operator()(const std::vector<int32_t>& words) const {
      uint64_t hash = 0x9e3779b97f4a7c15;
      for (const int32_t word : words)
        hash = (hash ^ static_cast<uint32_t>(word)) * 0x2545f4914f6cdd1d, hash ^= hash >> 29;
      return static_cast<size_t>(hash);
    }
  };

  int64_t n_ = 0;
  std::vector<int32_t> key_;
  std::vector<std::unordered_map<std::vector<int32_t>, int64_t, Hash>> sentences_;
};

}  // namespace dragoman::forest
