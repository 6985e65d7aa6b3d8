// Chiang, Knight and Wang (2009), section 4.1: one feature for each bin of rule counts, so that rare rules, whose
// probabilities are overestimated, can be penalised.
#include <algorithm>
#include <array>

#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class Discount final : public RuleTemplate {
 public:
  Discount(const RuleSides&, std::span<const int64_t>) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    if (rule.count < 1) return;
    const auto bin = std::find_if(kBins.begin(), kBins.end(), [&](const Bin& b) { return rule.count <= b.most; });
    out.add(1, bin == kBins.end() ? std::string_view("1001+") : bin->name);
  }

 private:
  struct Bin {
    int64_t most;
    std::string_view name;
  };
  // Eleven bins including the open one, as in Hopkins and May (2011).
  static constexpr std::array<Bin, 10> kBins{{{1, "1"},
                                              {2, "2"},
                                              {3, "3"},
                                              {4, "4"},
                                              {5, "5"},
                                              {10, "6-10"},
                                              {20, "11-20"},
                                              {50, "21-50"},
                                              {100, "51-100"},
                                              {1000, "101-1000"}}};
};

const RegisterTemplate kRegister({"discount", "the binned count of the rule", {}, make_template<Discount>});

}  // namespace

}  // namespace dragoman::templates
