#include "core/grammar/rule_extract.hh"

#include <algorithm>
#include <atomic>
#include <bit>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/pages.hh"
#include "core/base/parallel.hh"

namespace dragoman::grammar {

namespace {

// Tells of most things that were seen once that they were: two bits for every hash, some of which meet.
class SeenTwice {
 public:
  explicit SeenTwice(size_t n_bytes) : words_(std::bit_floor(std::max<size_t>(n_bytes / 8, 1)), 0) {}

  // Any thread; the result does not depend on their order.
  void add(uint64_t hash) {
    std::atomic_ref word(words_[index(hash)]);
    const uint64_t once = uint64_t{1} << shift(hash), twice = once << 1;
    if (word.load(std::memory_order_relaxed) & twice) return;
    if (word.fetch_or(once, std::memory_order_relaxed) & once) word.fetch_or(twice, std::memory_order_relaxed);
  }
  bool has(uint64_t hash) const { return words_[index(hash)] >> (shift(hash) + 1) & 1; }

 private:
  size_t index(uint64_t hash) const { return hash >> 5 & (words_.size() - 1); }
  static int shift(uint64_t hash) { return static_cast<int>(hash & 31) * 2; }
  Pages<uint64_t> words_;
};

uint64_t hash_of(const Occurrence& rule) { return mix64(rule.source_hash ^ std::rotl(rule.target_hash, 31)); }

// One thread's part.
class Extractor {
 public:
  Extractor(const ParallelText& text, const align::Links& links, const RuleLimits& limits,
            const ExtractOptions& options, GrammarBuilder& builder, WordCounter& words)
      : text_(text),
        links_(links),
        options_(options),
        builder_(builder),
        rules_(limits),
        pairs_(builder),
        words_(words) {}

  // Notes which rules there are.
  void survey(int64_t sentence, SeenTwice& seen) {
    if (!assign(sentence)) return;
    for (int64_t i = 0; i < rules_.size(); ++i)
      if (const Occurrence rule = rules_[i]; rule.source_gaps[0].length) seen.add(hash_of(rule));
  }
  // Writes the rules, without most of those that occur once if it is known which do.
  void add(int64_t sentence, const SeenTwice* seen) {
    const auto source = text_.source[sentence], target = text_.target[sentence];
    if (source.empty() || target.empty()) {
      ++n_empty;
      return;
    }
    if (!assign(sentence)) {
      ++n_too_long;
      return;
    }
    ++n_sentences;
    for (int64_t i = 0; i < rules_.size(); ++i) {
      Occurrence rule = rules_[i];
      if (seen && is_single(rule, *seen)) continue;
      rules_.complete(i, rule, builder_.alignments());
      pairs_.add(rule);
    }
    count_words(source, target, links_[sentence], text_.folds[static_cast<size_t>(sentence)], rules_, words_);
  }
  // Gives the marginals what was not written.
  void add_rest(int64_t sentence, const SeenTwice& seen) {
    if (!assign(sentence)) return;
    for (int64_t i = 0; i < rules_.size(); ++i)
      if (const Occurrence rule = rules_[i]; is_single(rule, seen)) builder_.add_to_marginals(rule);
  }
  void flush() {
    pairs_.flush();
    words_.flush();
  }

  int64_t n_sentences = 0, n_too_long = 0, n_empty = 0;

 private:
  bool assign(int64_t sentence) {
    const auto source = text_.source[sentence], target = text_.target[sentence];
    const auto longest = static_cast<int64_t>(std::max(source.size(), target.size()));
    if (longest > options_.max_sentence_length || source.empty() || target.empty()) return false;
    const auto links = links_[sentence];
    check_links(links, source.size(), target.size(), sentence);
    rules_.assign(static_cast<uint32_t>(sentence), source, target, links);
    return true;
  }
  static bool is_single(const Occurrence& rule, const SeenTwice& seen) {
    return rule.source_gaps[0].length && !seen.has(hash_of(rule));
  }

  const ParallelText& text_;
  const align::Links& links_;
  const ExtractOptions& options_;
  GrammarBuilder& builder_;
  RuleEnumerator rules_;
  GrammarBuilder::Writer pairs_;
  WordCounter::Writer words_;
};

void check_limits(const RuleLimits& limits) {
  const auto in = [](int value, int least, int most) { return least <= value && value <= most; };
  if (!in(limits.max_length, 1, kMaxPhraseLength) || !in(limits.max_gaps, 0, kMaxGaps) ||
      !in(limits.max_symbols, 1, kMaxPhraseLength) || !in(limits.min_source_gap, 1, kMaxPhraseLength) ||
      !in(limits.min_target_gap, 1, kMaxPhraseLength))
    throw std::invalid_argument("a limit of the rules is out of range");
}

}  // namespace

ExtractStats extract_rules(const ParallelText& text, const align::Links& links, const RuleLimits& limits,
                           ExtractOptions options, Control& control) {
  check_limits(limits);
  check_text(text, links, options);
  options.build.rules = true;
  GrammarBuilder builder(text, options.build);
  WordCounter words(options.build.folder, options.build.max_memory_bytes / 4);
  const int64_t n = text.source.size();
  const int n_threads = std::max(1, options.build.n_threads);
  std::vector<Extractor> extractors;
  extractors.reserve(static_cast<size_t>(n_threads));
  for (int i = 0; i < n_threads; ++i) extractors.emplace_back(text, links, limits, options, builder, words);
  const auto each_sentence = [&](auto&& body) {
    parallel_chunks(n, 256, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i) body(extractors[static_cast<size_t>(worker)], i);
    });
  };
  const bool leaves_out = options.build.min_count > 1;
  // As many bits as make meetings rare where a word is in a hundred rules, within a quarter of the memory.
  const auto n_bytes = static_cast<size_t>(
      std::min<int64_t>(options.build.max_memory_bytes / 4, 400 * static_cast<int64_t>(text.source.values.size())));
  SeenTwice seen(leaves_out ? n_bytes : 0);
  if (leaves_out) each_sentence([&](Extractor& extractor, int64_t i) { extractor.survey(i, seen); });
  each_sentence([&](Extractor& extractor, int64_t i) { extractor.add(i, leaves_out ? &seen : nullptr); });
  ExtractStats stats;
  for (Extractor& extractor : extractors) {
    extractor.flush();
    stats.n_sentences += extractor.n_sentences;
    stats.n_too_long += extractor.n_too_long;
    stats.n_empty += extractor.n_empty;
  }
  words.write(options.n_source_words, options.n_target_words, n_threads, control);
  builder.group(control);
  if (leaves_out) {
    each_sentence([&](Extractor& extractor, int64_t i) { extractor.add_rest(i, seen); });
    seen = SeenTwice(0);
  }
  stats.build = builder.finish(control);
  return stats;
}

}  // namespace dragoman::grammar
