// Chiang, Marton and Resnik (2008), section 4.2: whether a rule reorders a nonterminal, and how many words the
// nonterminal covers. A nonterminal is reordered if it swaps order with another one or with a pair of linked words.
#include <algorithm>

#include "core/templates/application_template.hh"

namespace dragoman::templates {

namespace {

class StructuralDistortion final : public GapTemplate {
 public:
  StructuralDistortion(const RuleSides&, std::span<const int64_t> values) : most_(static_cast<int32_t>(values[0])) {}

  int32_t n_classes() const override { return 2; }
  int32_t max_length() const override { return most_ + 1; }

  int32_t gap_class(const RuleSight& rule, size_t place, int32_t slot) const override {
    const size_t own = place_of(rule.target, slot);
    const auto crosses = [&](size_t source, size_t target) {
      return (source < place && target > own) || (source > place && target < own);
    };
    int32_t other = 0;
    for (size_t i = 0; i < rule.source.size(); ++i)
      if (!is_word(rule.source[i]) && crosses(i, place_of(rule.target, other++))) return kReordered;
    return std::any_of(rule.links.begin(), rule.links.end(), [&](grammar::PhraseLink link) {
      return is_word(rule.source[link.source]) && crosses(link.source, link.target);
    });
  }

  void gap_features(int32_t gap_class, int32_t length, FeatureRows& out) const override {
    const std::string_view order = gap_class == kReordered ? "reordered" : "monotone";
    if (length > most_)
      out.add(1, order, std::to_string(most_ + 1) + "+");
    else
      out.add(1, order, int64_t{length});
  }

 private:
  static constexpr int32_t kReordered = 1;
  static size_t place_of(std::span<const grammar::Symbol> target, int32_t slot) {
    return static_cast<size_t>(std::find(target.begin(), target.end(), -1 - slot) - target.begin());
  }

  int32_t most_;
};

const RegisterTemplate kRegister({"structural_distortion",
                                  "whether a nonterminal is reordered, and how many words it covers",
                                  {{"max", 10, 1, 255}},
                                  make_template<StructuralDistortion>,
                                  /*for_rules_only=*/true});

}  // namespace

}  // namespace dragoman::templates
