// The rule itself, named by its words, with the left-hand side where it has one: the same name in every system that has
// it.
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class RuleId final : public RuleTemplate {
 public:
  RuleId(const RuleSides& sides, std::span<const int64_t> values) : sides_(sides), min_count_(values[0]) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    if (rule.count < min_count_) return;
    const FeatureRows::Words source{sides_.source, rule.source}, target{sides_.target, rule.target};
    if (rule.lhs < 0)
      out.add(1, source, target);
    else
      out.add(1, sides_.source.text(grammar::label_symbol(rule.lhs)), source, target);
  }

 private:
  const RuleSides& sides_;
  int64_t min_count_;
};

const RegisterTemplate kRegister({"rule_id",
                                  "the rule itself, where it was seen min_count times",
                                  {{"min_count", 0, 0, int64_t{1} << 40}},
                                  make_template<RuleId>});

}  // namespace

}  // namespace dragoman::templates
