// After Chiang, Knight and Wang (2009), section 4.1, whose rules are tree fragments: how often each label occurs at a
// node, and where two rules meet. Our rules are flat: each has one node, its left-hand side, and meets another rule at
// each of its nonterminals.
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class NodeCount final : public RuleTemplate {
 public:
  NodeCount(const RuleSides& sides, std::span<const int64_t>) : source_(sides.source) {}
  void features(const RuleSight& rule, FeatureRows& out) const override {
    if (rule.lhs >= 0) out.add(1, source_.text(grammar::label_symbol(rule.lhs)));
  }

 private:
  const SideNames& source_;
};

class RuleOverlap final : public RuleTemplate {
 public:
  RuleOverlap(const RuleSides& sides, std::span<const int64_t>) : source_(sides.source) {}
  void features(const RuleSight& rule, FeatureRows& out) const override {
    for (const grammar::Symbol symbol : rule.source)
      if (!is_word(symbol)) out.add(1, source_.text(symbol));
  }

 private:
  const SideNames& source_;
};

const RegisterTemplate kNodeCount(
    {"node_count", "the label of the rule's left-hand side", {}, make_template<NodeCount>, /*for_rules_only=*/true});
const RegisterTemplate kRuleOverlap({"rule_overlap",
                                     "the labels of the rule's nonterminals",
                                     {},
                                     make_template<RuleOverlap>,
                                     /*for_rules_only=*/true});

}  // namespace

}  // namespace dragoman::templates
