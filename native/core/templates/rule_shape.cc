// Chiang, Marton and Resnik (2008), section 4.2: the sequences of words and nonterminals of a rule. Adjacent words are
// collapsed into one mark; nonterminals keep their numbers, so that reordering is visible.
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class RuleShape final : public RuleTemplate {
 public:
  RuleShape(const RuleSides&, std::span<const int64_t>) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    int next = 0;
    const std::string source = shape(rule.source, [&](grammar::Symbol) { return next++; });
    out.add(1, source, shape(rule.target, [](grammar::Symbol symbol) { return -1 - symbol; }));
  }

 private:
  template <typename Slot>
  static std::string shape(std::span<const grammar::Symbol> side, Slot&& slot) {
    std::string text;
    for (size_t i = 0; i < side.size(); ++i) {
      if (i > 0 && is_word(side[i]) && is_word(side[i - 1])) continue;
      if (!text.empty()) text += ' ';
      text += is_word(side[i]) ? "w" : "[" + std::to_string(slot(side[i]) + 1) + "]";
    }
    return text;
  }
};

const RegisterTemplate kRegister({"rule_shape",
                                  "the sequences of words and nonterminals on both sides",
                                  {},
                                  make_template<RuleShape>,
                                  /*for_rules_only=*/true});

}  // namespace

}  // namespace dragoman::templates
