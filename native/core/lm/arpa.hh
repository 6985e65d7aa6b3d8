// ARPA text to a Model and back. Log base 10 in the file, natural logs in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/control.hh"
#include "core/lm/arpa_link.hh"
#include "core/lm/model.hh"

namespace dragoman::lm {

// Reads the file in blocks of complete lines. Throws InputError with the line.
//
// Words are stored escaped; both escaped files (ours) and plain ones (of other tools) are read. "<UNK>" is "<unk>"; if
// missing, it gets log10 -100. Missing prefixes and suffixes of n-grams (some tools prune them) are added with their
// backed-off probability, so that no score changes.
class ArpaReader {
 public:
  ArpaReader();
  void feed(std::string_view block);
  std::unique_ptr<Model> finish(Control& control);

 private:
  enum class Part { kPreamble, kCounts, kNgrams, kAfterNgrams, kEnd };

  struct Section {
    int64_t n_promised = 0;
    int64_t first_line = 0;
    NgramList ngrams;
  };

  void line(std::string_view text);
  void count_line(std::string_view text);
  void section_line(std::string_view text);
  void end_section();
  void ngram_line(std::string_view text);
  void add_words(std::string_view words);
  uint32_t word_at(size_t k, std::string_view word);
  uint32_t word_id(std::string_view word);
  void require_symbols();
  [[noreturn]] void fail(const std::string& what) const;

  int64_t line_ = 0;
  Part part_ = Part::kPreamble;
  size_t n_ = 0;  // order of the current section
  std::vector<Section> sections_;
  names::WordTable words_;
  std::vector<bool> listed_;  // by word id: whether its 1-gram was read
  std::string stored_;        // scratch
  // The words of the previous line, as views into the block: files are usually sorted, so words repeat.
  std::string_view previous_[kMaxOrder];
  uint32_t previous_ids_[kMaxOrder] = {};
};

// Produces the text in blocks, the n-grams of each order sorted by context, then by word.
class ArpaWriter {
 public:
  // Throws InputError when a mapped model turns out to be damaged.
  explicit ArpaWriter(const Model& model);
  // Replaces `out` with the next block of about 1 MiB; empty at the end.
  void next(std::string& out);

 private:
  void collect(size_t n);
  void append_ngram(std::string& out, uint32_t node, uint32_t word, float prob, uint32_t next);
  void append_context(std::string& out, uint32_t node) const;

  const Model& model_;
  struct Spelling {
    uint32_t context, word;
  };
  std::vector<Spelling> spelling_;  // by context id
  std::vector<int64_t> n_ngrams_;   // as found
  std::vector<Entry> ngrams_;       // of the current order, sorted; keys are plain (context, word)
  size_t n_ = 0;                    // current order
  size_t i_ = 0;                    // next n-gram of this order
  uint32_t last_node_ = 0;          // the context spelled last
  std::string last_context_;
};

}  // namespace dragoman::lm
