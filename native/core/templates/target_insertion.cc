// Unaligned target words, the most frequent by name, or those most frequently unaligned (Eidelman, Marton and Resnik
// 2013, section 4.2). With `aligned`, every target word (Hopkins and May 2011, phrase-based systems).
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class TargetInsertion final : public RuleTemplate {
 public:
  TargetInsertion(const RuleSides& sides, std::span<const int64_t> values)
      : target_(sides.target_words(values[0], CountedBy{values[2]})), counts_aligned_(values[1] != 0) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    const LinkedPlaces linked(rule);
    for (size_t j = 0; j < rule.target.size(); ++j)
      if (is_word(rule.target[j]) && (counts_aligned_ || !linked.target(j))) out.add(1, target_.name(rule.target[j]));
  }

 private:
  FrequentWords target_;
  bool counts_aligned_;
};

const RegisterTemplate kRegister({"target_insertion",
                                  "unaligned target words, the most frequent by name, others as <other>",
                                  {{"top", 50, 1, kAllWords}, {"aligned", 0, 0, 1}, TemplateSetting::counted_by()},
                                  make_template<TargetInsertion>});

}  // namespace

}  // namespace dragoman::templates
