#include "core/grammar/phrase_extract.hh"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/parallel.hh"
#include "core/grammar/extract_text.hh"
#include "core/grammar/orientation.hh"

namespace dragoman::grammar {

namespace {

// Hashes of all spans of a sentence up to a length.
class SpanHashes {
 public:
  void assign(std::span<const Symbol> words, int max_length) {
    max_length_ = max_length;
    hashes_.resize(words.size() * static_cast<size_t>(max_length));
    for (size_t begin = 0; begin < words.size(); ++begin) {
      uint64_t state = kHashStart;
      const size_t n = std::min(words.size() - begin, static_cast<size_t>(max_length));
      for (size_t i = 0; i < n; ++i) {
        state = hash_extend(state, words[begin + i]);
        hashes_[begin * static_cast<size_t>(max_length) + i] = mix64(state);
      }
    }
  }
  uint64_t of(int begin, int end) const { return hashes_[static_cast<size_t>(begin) * max_length_ + (end - begin)]; }

 private:
  int max_length_ = 0;
  std::vector<uint64_t> hashes_;
};

// The extraction of one thread.
class Extractor {
 public:
  Extractor(const ParallelText& text, const align::Links& links, const ExtractOptions& options, GrammarBuilder& builder,
            WordCounter& words)
      : text_(text), links_(links), options_(options), builder_(builder), pairs_(builder), words_(words) {}

  void add(int64_t sentence) {
    const auto source = text_.source[sentence], target = text_.target[sentence];
    const auto links = links_[sentence];
    if (source.empty() || target.empty()) {
      ++n_empty;
      return;
    }
    const auto longest = static_cast<int64_t>(std::max(source.size(), target.size()));
    if (longest > options_.max_sentence_length) {
      ++n_too_long;
      return;
    }
    ++n_sentences;
    check_links(links, source.size(), target.size(), sentence);
    blocks_.assign(static_cast<int>(source.size()), static_cast<int>(target.size()), links, options_.max_length);
    source_hashes_.assign(source, options_.max_length);
    target_hashes_.assign(target, options_.max_length);
    blocks_.each_phrase([&](const PhraseSpan& span) { add_phrase(sentence, span); });
    count_words(source, target, links, text_.folds[static_cast<size_t>(sentence)], blocks_, words_);
  }
  void flush() {
    pairs_.flush();
    words_.flush();
  }

  int64_t n_sentences = 0, n_too_long = 0, n_empty = 0;

 private:
  void add_phrase(int64_t sentence, const PhraseSpan& span) {
    Occurrence o{};
    o.source_hash = source_hashes_.of(span.source_begin, span.source_end);
    o.target_hash = target_hashes_.of(span.target_begin, span.target_end);
    o.alignment = alignment_of(span);
    o.sentence = static_cast<uint32_t>(sentence);
    o.source_begin = static_cast<uint16_t>(span.source_begin);
    o.target_begin = static_cast<uint16_t>(span.target_begin);
    o.kind = blocks_.orientation(span).bits;
    o.source_length = static_cast<uint8_t>(span.source_end - span.source_begin + 1);
    o.target_length = static_cast<uint8_t>(span.target_end - span.target_begin + 1);
    o.amount = 1;
    pairs_.add(o);
  }

  uint64_t alignment_of(const PhraseSpan& span) {
    uint64_t mask = 0;
    bool all_fit = true;
    for (int i = span.source_begin; i <= span.source_end; ++i)
      for (const int32_t j : blocks_.targets_of(i)) {
        const int s = i - span.source_begin, t = j - span.target_begin;
        all_fit = all_fit && AlignmentKeys::fits(s, t);
        if (all_fit) mask |= AlignmentKeys::bit(s, t);
      }
    if (all_fit) return mask;
    inner_.clear();
    for (int i = span.source_begin; i <= span.source_end; ++i)
      for (const int32_t j : blocks_.targets_of(i))
        inner_.push_back({static_cast<uint8_t>(i - span.source_begin), static_cast<uint8_t>(j - span.target_begin)});
    return builder_.alignments().key(inner_);
  }

  const ParallelText& text_;
  const align::Links& links_;
  const ExtractOptions& options_;
  GrammarBuilder& builder_;
  GrammarBuilder::Writer pairs_;
  WordCounter::Writer words_;
  SentenceBlocks blocks_;
  SpanHashes source_hashes_, target_hashes_;
  std::vector<PhraseLink> inner_;
};

}  // namespace

ExtractStats extract_phrases(const ParallelText& text, const align::Links& links, const ExtractOptions& options,
                             Control& control) {
  const int64_t n = text.source.size();
  if (options.max_length < 1 || options.max_length > kMaxPhraseLength)
    throw std::invalid_argument("the maximal phrase length must be from 1 to 255");
  check_text(text, links, options);
  GrammarBuilder builder(text, options.build);
  WordCounter words(options.build.folder, options.build.max_memory_bytes / 4);
  const int n_threads = std::max(1, options.build.n_threads);
  std::vector<Extractor> extractors;
  extractors.reserve(static_cast<size_t>(n_threads));
  for (int i = 0; i < n_threads; ++i) extractors.emplace_back(text, links, options, builder, words);
  parallel_chunks(n, 256, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t i = begin; i < end; ++i) extractors[static_cast<size_t>(worker)].add(i);
  });
  ExtractStats stats;
  for (Extractor& extractor : extractors) {
    extractor.flush();
    stats.n_sentences += extractor.n_sentences;
    stats.n_too_long += extractor.n_too_long;
    stats.n_empty += extractor.n_empty;
  }
  extractors.clear();
  words.write(options.n_source_words, options.n_target_words, n_threads, control);
  stats.build = builder.build(control);
  return stats;
}

}  // namespace dragoman::grammar
