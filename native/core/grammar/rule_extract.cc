#include "core/grammar/rule_extract.hh"

#include <algorithm>
#include <atomic>
#include <bit>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/pages.hh"
#include "core/base/parallel.hh"
#include "core/grammar/minimal_rules.hh"

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
  Extractor(const ParallelText& text, const align::Links& links, const RuleLimits& limits, const AddedRules& added,
            const ExtractOptions& options, GrammarBuilder& builder, WordCounter& words)
      : text_(text),
        links_(links),
        limits_(limits),
        added_(added),
        options_(options),
        builder_(builder),
        rules_(limits),
        pairs_(builder),
        words_(words) {}

  // Notes which rules there are.
  void survey(int64_t sentence, SeenTwice& seen) {
    if (assign(sentence) != Use::kUsed) return;
    for (int64_t i = 0; i < rules_.size(); ++i)
      if (const Occurrence rule = rules_[i]; may_be_cut(rule)) seen.add(hash_of(rule));
  }
  // Writes the rules, without most of those that occur once if it is known which do.
  void add(int64_t sentence, const SeenTwice* seen) {
    switch (assign(sentence)) {
      case Use::kEmpty:
        ++stats.n_empty;
        return;
      case Use::kTooLong:
        ++stats.n_too_long;
        return;
      case Use::kLeftOut:
        ++stats.n_left_out;
        return;
      case Use::kUsed:
        ++stats.n_sentences;
    }
    for (int64_t i = 0; i < rules_.size(); ++i) {
      Occurrence rule = rules_[i];
      if (seen && is_cut(i, rule, *seen)) continue;
      rules_.complete(i, rule, builder_.alignments());
      pairs_.add(rule);
    }
    if (added_.are_kept) add_minimal(sentence);
    count_words(text_.source[sentence], text_.target[sentence], links_[sentence],
                text_.folds[static_cast<size_t>(sentence)], rules_, words_);
  }
  // Gives the marginals what was not written.
  void add_rest(int64_t sentence, const SeenTwice& seen) {
    if (assign(sentence) != Use::kUsed) return;
    for (int64_t i = 0; i < rules_.size(); ++i)
      if (const Occurrence rule = rules_[i]; is_cut(i, rule, seen)) builder_.add_to_marginals(rule);
  }
  void flush() {
    pairs_.flush();
    words_.flush();
  }

  RuleExtractStats stats;

 private:
  enum class Use { kUsed, kEmpty, kTooLong, kLeftOut };

  Use assign(int64_t sentence) {
    const auto source = text_.source[sentence], target = text_.target[sentence];
    if (source.empty() || target.empty()) return Use::kEmpty;
    const auto longest = static_cast<int64_t>(std::max(source.size(), target.size()));
    if (longest > options_.max_sentence_length) return Use::kTooLong;
    const auto links = links_[sentence];
    check_links(links, source.size(), target.size(), sentence);
    if (added_.max_share < 1) {
      int64_t n_words = 0;
      each_beyond(sentence, [&](size_t, const MinimalRule& rule) { n_words += rule.n_source_words; });
      if (static_cast<double>(n_words) / static_cast<double>(source.size()) > added_.max_share) return Use::kLeftOut;
    }
    rules_.assign(static_cast<uint32_t>(sentence), source, target, links);
    return Use::kUsed;
  }
  // Calls body(node, rule) for the rules of the minimal tree that are beyond the limits.
  template <typename Body>
  void each_beyond(int64_t sentence, Body&& body) {
    minimal_.assign(text_.source[sentence], text_.target[sentence], links_[sentence]);
    for (size_t node = 0; node < minimal_.nodes().size(); ++node)
      if (const MinimalRule rule = minimal_.rule(node); !minimal_.is_within(node, rule, limits_)) body(node, rule);
  }
  // A rule shares the mass of its phrase pair with those that were extracted from it, whose own shares stay.
  void add_minimal(int64_t sentence) {
    each_beyond(sentence, [&](size_t number, const MinimalRule& rule) {
      if (rule.is_too_long) {
        ++stats.n_added_too_long;
        return;
      }
      const align::TreeNode& node = minimal_.nodes()[number];
      const int64_t n_others =
          limits_.fractional ? rules_.n_rules(node.source_begin, node.source_end, node.target_begin, node.target_end)
                             : 0;
      pairs_.add(WrittenRule{rule.source, rule.target, rule.links, static_cast<uint32_t>(sentence),
                             mass_share(static_cast<uint64_t>(n_others) + 1)});
    });
  }
  bool may_be_cut(const Occurrence& rule) const { return options_.build.cut.composed || rule.source_gaps[0].length; }
  bool is_cut(int64_t i, const Occurrence& rule, const SeenTwice& seen) const {
    return may_be_cut(rule) && !seen.has(hash_of(rule)) && (!options_.build.cut.composed || rules_.is_composed(i));
  }

  const ParallelText& text_;
  const align::Links& links_;
  const RuleLimits& limits_;
  const AddedRules& added_;
  const ExtractOptions& options_;
  GrammarBuilder& builder_;
  RuleEnumerator rules_;
  MinimalRules minimal_;
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

RuleExtractStats extract_rules(const ParallelText& text, const align::Links& links, const RuleLimits& limits,
                               const AddedRules& added, ExtractOptions options, Control& control) {
  check_limits(limits);
  if (!(added.max_share >= 0 && added.max_share <= 1)) throw std::invalid_argument("a share must be from 0 to 1");
  check_text(text, links, options);
  options.build.rules = true;
  GrammarBuilder builder(text, options.build);
  WordCounter words(options.build.folder, options.build.max_memory_bytes / 4);
  const int64_t n = text.source.size();
  const int n_threads = std::max(1, options.build.n_threads);
  std::vector<Extractor> extractors;
  extractors.reserve(static_cast<size_t>(n_threads));
  for (int i = 0; i < n_threads; ++i) extractors.emplace_back(text, links, limits, added, options, builder, words);
  const auto each_sentence = [&](auto&& body) {
    parallel_chunks(n, 256, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i) body(extractors[static_cast<size_t>(worker)], i);
    });
  };
  const bool leaves_out = options.build.cut.min_count > 1;
  // As many bits as make meetings rare where a word is in a hundred rules, within a quarter of the memory.
  const auto n_bytes = static_cast<size_t>(
      std::min<int64_t>(options.build.max_memory_bytes / 4, 400 * static_cast<int64_t>(text.source.values.size())));
  SeenTwice seen(leaves_out ? n_bytes : 0);
  if (leaves_out) each_sentence([&](Extractor& extractor, int64_t i) { extractor.survey(i, seen); });
  each_sentence([&](Extractor& extractor, int64_t i) { extractor.add(i, leaves_out ? &seen : nullptr); });
  RuleExtractStats stats;
  for (Extractor& extractor : extractors) {
    extractor.flush();
    stats.n_sentences += extractor.stats.n_sentences;
    stats.n_too_long += extractor.stats.n_too_long;
    stats.n_empty += extractor.stats.n_empty;
    stats.n_left_out += extractor.stats.n_left_out;
    stats.n_added_too_long += extractor.stats.n_added_too_long;
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
