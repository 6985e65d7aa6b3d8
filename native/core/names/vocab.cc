#include "core/names/vocab.hh"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/errors.hh"

namespace dragoman::names {

namespace {

uint64_t hash_bytes(std::string_view s) {
  // FNV-1a in 8-byte steps with a final mix: fast for short strings.
  uint64_t h = 0xcbf29ce484222325ull ^ s.size();
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t chunk;
    std::memcpy(&chunk, s.data() + i, 8);
    h = (h ^ chunk) * 0x9fb21c651e98df25ull;
    h ^= h >> 32;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, s.data() + i, s.size() - i);
  h = (h ^ tail) * 0x9fb21c651e98df25ull;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 32);
}

bool needs_escape(std::string_view w) {
  const char first = w.front();
  if (first == '\\') return true;
  if (w.size() >= 2) {
    const char last = w.back();
    if (first == '[' && last == ']') return true;
    if (first == '<' && last == '>') return true;
  }
  return w.size() >= 3 && w.find("|||") != std::string_view::npos;
}

// Interns words, assigning new ids.
class Interning {
 public:
  Interning(WordTable& table, std::vector<int32_t>& ids) : table_(table), ids_(ids) {}
  size_t size() const { return ids_.size(); }
  void add(std::string_view word) { ids_.push_back(table_.intern(word)); }
  void add_escaped(std::string_view word) {
    scratch_.clear();
    escape_word(word, scratch_);
    add(scratch_);
  }
  void finish() {}

 private:
  WordTable& table_;
  std::vector<int32_t>& ids_;
  std::string scratch_;
};

// Words are looked up in batches.
class Finding {
 public:
  Finding(const WordTable& table, int32_t unknown, std::vector<int32_t>& ids)
      : table_(table), unknown_(unknown), ids_(ids) {}
  size_t size() const { return ids_.size() + n_; }
  void add(std::string_view word) {
    words_[n_++] = word;
    if (n_ == WordTable::kBatch) finish();
  }
  void add_escaped(std::string_view word) {
    scratch_[n_].clear();
    escape_word(word, scratch_[n_]);
    add(scratch_[n_]);
  }
  void finish() {
    const size_t begin = ids_.size();
    ids_.resize(begin + n_);
    table_.find_batch({words_, n_}, unknown_, std::span(ids_).subspan(begin));
    n_ = 0;
  }

 private:
  const WordTable& table_;
  int32_t unknown_;
  std::vector<int32_t>& ids_;
  std::string_view words_[WordTable::kBatch];
  std::string scratch_[WordTable::kBatch];
  size_t n_ = 0;
};

template <typename Sink>
void encode(std::string_view block, int64_t first_line, std::vector<int64_t>& offsets, Sink&& sink) {
  const size_t valid = valid_utf8_prefix(block);
  if (valid != block.size()) {
    int64_t line = first_line;
    for (size_t i = 0; i < valid; ++i) line += block[i] == '\n';
    throw InputError("invalid UTF-8 (byte " + std::to_string(static_cast<unsigned char>(block[valid])) +
                         "); convert the file to UTF-8, for instance with iconv",
                     line);
  }
  size_t pos = 0;
  while (pos < block.size()) {
    const void* newline = std::memchr(block.data() + pos, '\n', block.size() - pos);
    const size_t end = newline ? static_cast<size_t>(static_cast<const char*>(newline) - block.data()) : block.size();
    size_t stop = end;
    if (stop > pos && block[stop - 1] == '\r') --stop;
    size_t i = pos;
    while (i < stop) {
      while (i < stop && (block[i] == ' ' || block[i] == '\t')) ++i;
      const size_t start = i;
      while (i < stop && block[i] != ' ' && block[i] != '\t') ++i;
      if (i == start) break;
      const std::string_view word = block.substr(start, i - start);
      needs_escape(word) ? sink.add_escaped(word) : sink.add(word);
    }
    offsets.push_back(static_cast<int64_t>(sink.size()));
    pos = end + 1;
  }
  sink.finish();
}

}  // namespace

void escape_word(std::string_view word, std::string& out) {
  if (word.empty() || !needs_escape(word)) {
    out += word;
    return;
  }
  out += '\\';
  for (const char c : word) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '|')
      out += "\\p";
    else
      out += c;
  }
}

std::string unescape_word(std::string_view stored) {
  if (stored.empty() || stored.front() != '\\') return std::string(stored);
  std::string word;
  for (size_t i = 1; i < stored.size(); ++i) {
    if (stored[i] == '\\' && i + 1 < stored.size()) {
      ++i;
      word += stored[i] == 'p' ? '|' : stored[i];
    } else {
      word += stored[i];
    }
  }
  return word;
}

WordTable::WordTable() : offsets_{0}, slots_(1024, {kAbsent, 0}) {}

WordTable::WordTable(std::string_view blob, const std::vector<int64_t>& offsets) : WordTable() {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<int64_t>(blob.size()))
    throw InputError("vocabulary offsets do not match the words");
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (offsets[i + 1] <= offsets[i]) throw InputError("empty word in the vocabulary", static_cast<int64_t>(i) + 1);
    const auto word = blob.substr(static_cast<size_t>(offsets[i]), static_cast<size_t>(offsets[i + 1] - offsets[i]));
    if (intern(word) != static_cast<int32_t>(i))
      throw InputError("duplicate word '" + std::string(word) + "' in the vocabulary", static_cast<int64_t>(i) + 1);
  }
}

size_t WordTable::slot_of(std::string_view word, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = static_cast<size_t>(hash) & mask;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (;; slot = (slot + 1) & mask) {
    const Slot& found = slots_[slot];
    if (found.id == kAbsent || (found.tag == tag && this->word(found.id) == word)) return slot;
  }
}

int32_t WordTable::intern(std::string_view word) {
  const uint64_t hash = hash_bytes(word);
  size_t slot = slot_of(word, hash);
  if (slots_[slot].id != kAbsent) return slots_[slot].id;
  if (size() == std::numeric_limits<int32_t>::max()) throw InputError("more than 2^31 distinct words");
  if (2 * (static_cast<size_t>(size()) + 1) > slots_.size()) {
    grow();
    slot = slot_of(word, hash);
  }
  const int32_t id = size();
  blob_ += word;
  offsets_.push_back(static_cast<int64_t>(blob_.size()));
  slots_[slot] = {id, static_cast<uint32_t>(hash >> 32)};
  return id;
}

int32_t WordTable::find(std::string_view word) const { return slots_[slot_of(word, hash_bytes(word))].id; }

void WordTable::find_batch(std::span<const std::string_view> words, int32_t absent, std::span<int32_t> ids) const {
  const size_t mask = slots_.size() - 1;
  uint64_t hashes[kBatch];
  for (size_t i = 0; i < words.size(); ++i) {
    hashes[i] = hash_bytes(words[i]);
    __builtin_prefetch(&slots_[hashes[i] & mask]);
  }
  // The first slot is usually the right one.
  for (size_t i = 0; i < words.size(); ++i) {
    ids[i] = std::max(slots_[hashes[i] & mask].id, 0);
    __builtin_prefetch(&offsets_[static_cast<size_t>(ids[i])]);
  }
  for (const int32_t id : ids) __builtin_prefetch(blob_.data() + offsets_[static_cast<size_t>(id)]);
  for (size_t i = 0; i < words.size(); ++i) {
    const int32_t id = slots_[slot_of(words[i], hashes[i])].id;
    ids[i] = id == kAbsent ? absent : id;
  }
}

std::string_view WordTable::word(int32_t id) const {
  const auto i = static_cast<size_t>(id);
  return std::string_view(blob_).substr(static_cast<size_t>(offsets_[i]),
                                        static_cast<size_t>(offsets_[i + 1] - offsets_[i]));
}

void WordTable::grow() {
  slots_.assign(slots_.size() * 2, {kAbsent, 0});
  const size_t mask = slots_.size() - 1;
  for (int32_t id = 0; id < size(); ++id) {
    const uint64_t hash = hash_bytes(word(id));
    size_t slot = static_cast<size_t>(hash) & mask;
    while (slots_[slot].id != kAbsent) slot = (slot + 1) & mask;
    slots_[slot] = {id, static_cast<uint32_t>(hash >> 32)};
  }
}

void encode_lines(std::string_view block, WordTable& table, int64_t first_line, EncodedLines& out) {
  encode(block, first_line, out.offsets, Interning(table, out.ids));
}

void encode_lines_frozen(std::string_view block, const WordTable& table, int32_t unknown, int64_t first_line,
                         EncodedLines& out) {
  encode(block, first_line, out.offsets, Finding(table, unknown, out.ids));
}

std::vector<uint8_t> assign_folds(const WordTable& table, const Sentences& sentences, int n_folds, uint64_t seed) {
  std::vector<uint8_t> folds;
  folds.reserve(static_cast<size_t>(sentences.size()));
  for (int64_t s = 0; s < sentences.size(); ++s) {
    uint64_t hash = 0x9e3779b97f4a7c15ull * (seed + 1);
    for (const int32_t id : sentences[s]) {
      if (id < 0 || id >= table.size()) throw std::invalid_argument("a word id is out of range");
      hash = (hash ^ hash_bytes(table.word(id))) * 0xbf58476d1ce4e5b9ull;
      hash ^= hash >> 31;
    }
    folds.push_back(static_cast<uint8_t>(hash % static_cast<uint64_t>(n_folds)));
  }
  return folds;
}

size_t valid_utf8_prefix(std::string_view text) {
  const auto* s = reinterpret_cast<const unsigned char*>(text.data());
  const size_t n = text.size();
  size_t i = 0;
  const auto continues = [&](size_t at) { return at < n && (s[at] & 0xC0) == 0x80; };
  while (i < n) {
    if (i + 8 <= n) {  // eight ASCII bytes at a time
      uint64_t chunk;
      std::memcpy(&chunk, s + i, 8);
      if ((chunk & 0x8080808080808080ull) == 0) {
        i += 8;
        continue;
      }
    }
    const unsigned char c = s[i];
    if (c < 0x80) {
      i += 1;
    } else if (c >= 0xC2 && c <= 0xDF) {
      if (!continues(i + 1)) return i;
      i += 2;
    } else if ((c & 0xF0) == 0xE0) {
      if (!continues(i + 1) || !continues(i + 2)) return i;
      if (c == 0xE0 && s[i + 1] < 0xA0) return i;  // overlong
      if (c == 0xED && s[i + 1] > 0x9F) return i;  // surrogate
      i += 3;
    } else if (c >= 0xF0 && c <= 0xF4) {
      if (!continues(i + 1) || !continues(i + 2) || !continues(i + 3)) return i;
      if (c == 0xF0 && s[i + 1] < 0x90) return i;  // overlong
      if (c == 0xF4 && s[i + 1] > 0x8F) return i;  // beyond U+10FFFF
      i += 4;
    } else {
      return i;
    }
  }
  return n;
}

}  // namespace dragoman::names
