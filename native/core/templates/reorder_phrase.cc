// Auli et al. (2014), section 6, SparseHRM+BiPhrases: the orientation of a phrase with its source side, its target side
// and both.
#include "core/templates/orientation_template.hh"

namespace dragoman::templates {

namespace {

class ReorderPhrase final : public OrientationTemplate {
 public:
  ReorderPhrase(const RuleSides& sides, std::span<const int64_t> values) : sides_(sides), orientations_(values[0]) {}

  bool sees(WordPlace) const override { return false; }

  // A key is the number of source words, then the words of both sides; a side that does not count is empty.
  void of_phrase(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target,
                 std::vector<Key>& out) const override {
    const auto add = [&](std::span<const grammar::Symbol> f, std::span<const grammar::Symbol> e) {
      Key& key = out.emplace_back(1, static_cast<int32_t>(f.size()));
      key.insert(key.end(), f.begin(), f.end());
      key.insert(key.end(), e.begin(), e.end());
    };
    if (!source.empty()) add(source, {});
    if (!target.empty()) add({}, target);
    if (!source.empty() && !target.empty()) add(source, target);
  }

  void name(std::span<const int32_t> key, grammar::Orientation orientation, FeatureRows& out) const override {
    const std::string_view name = orientations_[orientation];
    const auto source = key.subspan(1, static_cast<size_t>(key[0])), target = key.subspan(1 + source.size());
    const FeatureRows::Words f{sides_.source, source}, e{sides_.target, target};
    if (target.empty())
      out.add(1, name, std::string_view("f"), f);
    else if (source.empty())
      out.add(1, name, std::string_view("e"), e);
    else
      out.add(1, name, std::string_view("pair"), f, e);
  }

 private:
  const RuleSides& sides_;
  OrientationNames orientations_;
};

const RegisterTemplate kReorderPhrase(
    {"reorder_phrase",
     "the orientation of a phrase to the block before it, with its source side, its target side and both",
     {OrientationNames::setting()},
     make_template<ReorderPhrase>,
     /*for_rules_only=*/false,
     /*for_phrases_only=*/true});

}  // namespace

}  // namespace dragoman::templates
