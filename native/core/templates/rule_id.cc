// The rule itself, named by its words: the same name in every system that has it.
#include "core/templates/rule_template.hh"

namespace dragoman {

namespace {

class RuleId final : public RuleTemplate {
 public:
  RuleId(const RuleSides& sides, std::span<const int64_t> values) : sides_(sides), min_count_(values[0]) {}

  void features(const RuleView& rule, FeatureRows& out) const override {
    if (rule.count < min_count_) return;
    out.add(1, FeatureRows::Words{sides_.source, rule.source}, FeatureRows::Words{sides_.target, rule.target});
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

}  // namespace dragoman
