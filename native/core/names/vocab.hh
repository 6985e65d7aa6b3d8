// Words <-> dense ids. A word's stored form is escaped so that no corpus token can be mistaken for markup
// ("|||", "[X,1]", "<s>") in any text format; see escape_word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ragged.hh"

namespace dragoman::names {

// Appends the escaped form of `word`. A word is escaped when it could be read as markup (it contains "|||", is
// bracketed like "[X,1]", or looks like "<...>") or starts with a backslash: a backslash is prepended, and inside "\"
// becomes "\\" and "|" becomes "\p". A bijection, see unescape_word.
void escape_word(std::string_view word, std::string& out);
std::string unescape_word(std::string_view stored);

// An interning table of byte strings: an arena, offsets, and an open-addressing hash table.
class WordTable {
 public:
  static constexpr int32_t kAbsent = -1;

  WordTable();
  // From stored (already escaped) words: ids are positions. Throws InputError for duplicate or empty words and for too
  // many.
  WordTable(std::string_view blob, const std::vector<int64_t>& offsets);

  int32_t intern(std::string_view word);
  int32_t find(std::string_view word) const;
  // Looks up many words at once, overlapping their memory accesses. ids.size() == words.size() <= kBatch.
  static constexpr size_t kBatch = 32;
  void find_batch(std::span<const std::string_view> words, int32_t absent, std::span<int32_t> ids) const;
  std::string_view word(int32_t id) const;
  int32_t size() const { return static_cast<int32_t>(offsets_.size() - 1); }
  const std::string& blob() const { return blob_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  void grow();
  size_t slot_of(std::string_view word, uint64_t hash) const;

  struct Slot {
    int32_t id;    // or kAbsent
    uint32_t tag;  // part of the word's hash, to avoid touching the arena on a mismatch
  };

  std::string blob_;
  std::vector<int64_t> offsets_;
  std::vector<Slot> slots_;  // size is a power of two
};

// Tokens of consecutive lines. Row i of (offsets, ids) is line i of the block.
struct EncodedLines {
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> ids;
};

// Splits `block` into lines at "\n" only (a last line may lack it), drops one "\r" at the end of a line, splits at
// ASCII space and tab, escapes, and looks up. Growing interns new words; otherwise out-of-vocabulary words become
// `unknown`. Appends to `out`. Throws InputError with the line (counted from `first_line`) for invalid UTF-8.
void encode_lines(std::string_view block, WordTable& table, int64_t first_line, EncodedLines& out);
void encode_lines_frozen(std::string_view block, const WordTable& table, int32_t unknown, int64_t first_line,
                         EncodedLines& out);

// The fold of each sentence in [0, n_folds): a hash of its words and the seed, so that identical sentences are in the
// same fold and a sentence keeps its fold when the rest of the corpus changes.
std::vector<uint8_t> assign_folds(const WordTable& table, const Sentences& sentences, int n_folds, uint64_t seed);

// Length in bytes of the longest valid UTF-8 prefix of `text`.
size_t valid_utf8_prefix(std::string_view text);

}  // namespace dragoman::names
