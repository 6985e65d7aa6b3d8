// Watanabe et al. (2007), section 3.2.1: pairs of linked words; rare words are one class, and an unaligned word is
// paired with a mark.
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class WordPair final : public RuleTemplate {
 public:
  WordPair(const RuleSides& sides, std::span<const int64_t> values)
      : source_(sides.source, values[0]), target_(sides.target, values[0]) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    for (const grammar::PhraseLink link : rule.links) {
      const grammar::Symbol f = rule.source[link.source], e = rule.target[link.target];
      if (is_word(f) && is_word(e)) out.add(1, source_.name(f), target_.name(e));
    }
    const LinkedPlaces linked(rule);
    for (size_t i = 0; i < rule.source.size(); ++i)
      if (is_word(rule.source[i]) && !linked.source(i)) out.add(1, source_.name(rule.source[i]), kUnaligned);
    for (size_t j = 0; j < rule.target.size(); ++j)
      if (is_word(rule.target[j]) && !linked.target(j)) out.add(1, kUnaligned, target_.name(rule.target[j]));
  }

 private:
  FrequentWords source_, target_;
};

const RegisterTemplate kWordPair(
    {"word_pair",
     "linked word pairs, the most frequent words by name, others as <other>, and <unaligned>",
     {{"top", 80, 1, kAllWords}},
     make_template<WordPair>});

}  // namespace

}  // namespace dragoman::templates
