// Linked words with the source word before or after (Chiang, Knight and Wang 2009, section 4.2). `top` keeps the most
// frequent words of each side, `pairs` the most frequent pairs of linked words and the source words in them (Eidelman,
// Marton and Resnik 2013, section 4.2); everything else is one class. 0 keeps all.
#include <algorithm>
#include <utility>

#include "core/grammar/word_counts.hh"
#include "core/templates/application_template.hh"

namespace dragoman::templates {

namespace {

constexpr int32_t kOther = -1;

// Keys of the most frequent pairs in all folds, ascending; ties are broken by the words' bytes.
std::vector<uint64_t> frequent_pairs(const RuleSides& sides, size_t n) {
  const grammar::GrammarTables& tables = sides.pair_counts("word_context(pairs=...)");
  const auto keys = tables.word_pairs.values;
  std::vector<std::pair<int64_t, uint64_t>> pairs;
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool has_both = keys[i] >> 32 != 0 && static_cast<uint32_t>(keys[i]) != 0;  // 0 is the empty word
    const auto counts = tables.word_pair_counts[static_cast<int64_t>(i)];
    if (has_both) pairs.emplace_back(grammar::FoldFilter().sum(counts), keys[i]);
  }
  const auto words = [&](uint64_t key) {
    return std::pair(sides.source.text(static_cast<grammar::Symbol>((key >> 32) - 1)),
                     sides.target.text(static_cast<grammar::Symbol>(static_cast<uint32_t>(key) - 1)));
  };
  n = std::min(n, pairs.size());
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(n), pairs.end(),
                    [&](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : words(a.second) < words(b.second);
                    });
  std::vector<uint64_t> result;
  for (size_t i = 0; i < n; ++i) result.push_back(pairs[i].second);
  std::sort(result.begin(), result.end());
  return result;
}

class WordContext final : public ContextTemplate {
 public:
  WordContext(const RuleSides& sides, std::span<const int64_t> values) : sides_(sides) {
    if (values[0] > 0) {
      source_ = sides.source.most_frequent(static_cast<size_t>(values[0]));
      target_ = sides.target.most_frequent(static_cast<size_t>(values[0]));
    }
    limits_pairs_ = values[1] > 0;
    if (!limits_pairs_) return;
    pairs_ = frequent_pairs(sides, static_cast<size_t>(values[1]));
    in_pairs_.resize(static_cast<size_t>(sides.source.words->size()));
    for (const uint64_t pair : pairs_)
      if (const auto word = static_cast<size_t>((pair >> 32) - 1); word < in_pairs_.size()) in_pairs_[word] = true;
  }

  void beside(const RuleSight& rule, size_t place, Neighbour which, grammar::Symbol word,
              std::vector<Arguments>& out) const override {
    for (const grammar::PhraseLink link : rule.links) {
      if (link.source != place || !is_word(rule.target[link.target])) continue;
      grammar::Symbol f = rule.source[place], e = rule.target[link.target];
      if (limits_pairs_ && !std::binary_search(pairs_.begin(), pairs_.end(), grammar::word_pair_key(f, e)))
        f = e = kOther;
      out.push_back({class_of(source_, f), class_of(target_, e), which == Neighbour::kBefore ? -1 : 1,
                     is_end(word) ? word : class_of(source_, in_a_pair(word))});
    }
  }

  void name(const Arguments& arguments, FeatureRows& out) const override {
    const auto [f, e, side, word] = arguments;
    out.add(1, text(sides_.source, f), text(sides_.target, e), std::string_view(side < 0 ? "-1" : "+1"),
            text(sides_.source, word));
  }

 private:
  static bool is_end(grammar::Symbol word) { return word == kSentenceBegin || word == kSentenceEnd; }
  static int32_t class_of(const std::vector<bool>& frequent, grammar::Symbol word) {
    if (word < 0 || frequent.empty()) return word;
    return static_cast<size_t>(word) < frequent.size() && frequent[static_cast<size_t>(word)] ? word : kOther;
  }
  grammar::Symbol in_a_pair(grammar::Symbol word) const {
    const auto place = static_cast<size_t>(word);
    return !limits_pairs_ || (place < in_pairs_.size() && in_pairs_[place]) ? word : kOther;
  }
  static std::string_view text(const SideNames& side, int32_t word) {
    return word == kOther ? FrequentWords::kOther : side.text(word);
  }

  const RuleSides& sides_;
  std::vector<bool> source_, target_, in_pairs_;
  std::vector<uint64_t> pairs_;
  bool limits_pairs_ = false;
};

const RegisterTemplate kRegister({"word_context",
                                  "linked words with the source word before or after, frequent ones by name",
                                  {{"top", 100, 0, kAllWords}, {"pairs", 0, 0, kAllWords}},
                                  make_template<WordContext>});

}  // namespace

}  // namespace dragoman::templates
