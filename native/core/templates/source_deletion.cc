// Unaligned source words, the most frequent by name, or those most frequently unaligned (Eidelman, Marton and Resnik
// 2013, section 4.2).
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class SourceDeletion final : public RuleTemplate {
 public:
  SourceDeletion(const RuleSides& sides, std::span<const int64_t> values)
      : source_(sides.source_words(values[0], CountedBy{values[1]})) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    const LinkedPlaces linked(rule);
    for (size_t i = 0; i < rule.source.size(); ++i)
      if (is_word(rule.source[i]) && !linked.source(i)) out.add(1, source_.name(rule.source[i]));
  }

 private:
  FrequentWords source_;
};

const RegisterTemplate kRegister({"source_deletion",
                                  "unaligned source words, the most frequent by name, others as <other>",
                                  {{"top", 50, 1, kAllWords}, TemplateSetting::counted_by()},
                                  make_template<SourceDeletion>});

}  // namespace

}  // namespace dragoman::templates
