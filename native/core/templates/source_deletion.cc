// Unaligned source words, the most frequent by name.
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class SourceDeletion final : public RuleTemplate {
 public:
  SourceDeletion(const RuleSides& sides, std::span<const int64_t> values) : source_(sides.source, values[0]) {}

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
                                  {{"top", 50, 1, kAllWords}},
                                  make_template<SourceDeletion>});

}  // namespace

}  // namespace dragoman::templates
