// Numbers of words on the source side, on the target side, and both together. Longer sides share a class.
#include <algorithm>

#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class Length {
 public:
  explicit Length(std::span<const int64_t> values) : most_(values[0]), longer_(std::to_string(values[0] + 1) + "+") {}
  std::string name(std::span<const grammar::Symbol> side) const {
    const auto n = std::count_if(side.begin(), side.end(), is_word);
    return n > most_ ? longer_ : std::to_string(n);
  }

 private:
  int64_t most_;
  std::string longer_;
};

class SourceLength final : public RuleTemplate {
 public:
  SourceLength(const RuleSides&, std::span<const int64_t> values) : length_(values) {}
  void features(const RuleSight& rule, FeatureRows& out) const override { out.add(1, length_.name(rule.source)); }

 private:
  Length length_;
};

class TargetLength final : public RuleTemplate {
 public:
  TargetLength(const RuleSides&, std::span<const int64_t> values) : length_(values) {}
  void features(const RuleSight& rule, FeatureRows& out) const override { out.add(1, length_.name(rule.target)); }

 private:
  Length length_;
};

class JointLength final : public RuleTemplate {
 public:
  JointLength(const RuleSides&, std::span<const int64_t> values) : length_(values) {}
  void features(const RuleSight& rule, FeatureRows& out) const override {
    out.add(1, length_.name(rule.source), length_.name(rule.target));
  }

 private:
  Length length_;
};

const TemplateSetting kMost{"max", 7, 1, 255};
const RegisterTemplate kSource({"source_length", "the number of source words", {kMost}, make_template<SourceLength>});
const RegisterTemplate kTarget({"target_length", "the number of target words", {kMost}, make_template<TargetLength>});
const RegisterTemplate kJoint({"joint_length", "both numbers of words", {kMost}, make_template<JointLength>});

}  // namespace

}  // namespace dragoman::templates
