// The template that CONTRIBUTING.md shows, word for word.
#include "test/test.hh"

// The first words of both sides.
#include "core/templates/rule_template.hh"

namespace dragoman::templates {

namespace {

class FirstWord final : public RuleTemplate {
 public:
  FirstWord(const RuleSides& sides, std::span<const int64_t>) : sides_(sides) {}

  void features(const RuleSight& rule, FeatureRows& out) const override {
    if (rule.source.empty() || rule.target.empty()) return;
    out.add(1, sides_.source.text(rule.source[0]), sides_.target.text(rule.target[0]));
  }

 private:
  const RuleSides& sides_;
};

const RegisterTemplate kRegister({"first_word", "the first words of both sides", {}, make_template<FirstWord>});

}  // namespace

}  // namespace dragoman::templates

TEST(the_template_of_contributing) {
  using namespace dragoman;
  names::WordTable words;
  for (const char* word : {"<unk>", "<s>", "</s>", "a", "b"}) words.intern(word);
  const templates::SideNames side{&words, {}, {"[X,1]"}};
  const std::vector<templates::TemplateChoice> choices{{"first_word", {}}};
  const templates::TemplateSet set({side, side}, choices);
  const std::vector<grammar::Symbol> source{3, -1}, target{4, -1};
  templates::FeatureRows rows;
  set.features({source, target, {}, 1, 0}, rows);
  CHECK(rows.n_features() == 1);
  CHECK(rows.name(0) == "first_word:a,b");
}
