// Auli et al. (2014), section 6: the orientation of a phrase with the first or last word, on either side, of the phrase
// (SparseHRMLocal) and of the block before it, and with the source words between the two where the phrase jumps over
// them. Words are represented by themselves if they are frequent, and by their classes. Orientations are the five of
// the hierarchical model.
#include "core/templates/orientation_template.hh"
#include "core/templates/word_forms.hh"

namespace dragoman::templates {

namespace {

constexpr std::array<std::string_view, 3> kTemplates{"reorder_local", "reorder_stack", "reorder_gap"};
constexpr size_t template_of(WordPlace place) { return static_cast<size_t>(place) / 4; }

template <size_t kTemplate>
class ReorderWords final : public OrientationTemplate {
 public:
  ReorderWords(const RuleSides& sides, std::span<const int64_t> values)
      : source_(sides.source, values[0], values[1] != 0, kTemplates[kTemplate]),
        target_(sides.target, values[0], values[1] != 0, kTemplates[kTemplate]),
        orientations_(values[2]) {}

  bool sees(WordPlace place) const override { return template_of(place) == kTemplate; }

  void of_word(WordPlace place, grammar::Symbol word, std::vector<Key>& out) const override {
    forms(place).each(
        word, [&](int32_t level, int32_t value) { out.push_back({static_cast<int32_t>(place), level, value}); });
  }

  void name(std::span<const int32_t> key, grammar::Orientation orientation, FeatureRows& out) const override {
    constexpr std::array<std::string_view, 4> kPlaces{"f_first", "f_last", "e_first", "e_last"};
    const auto place = static_cast<WordPlace>(key[0]);
    const std::string_view name = orientations_[orientation];
    if (place != WordPlace::kGap)
      forms(place).name(key[1], key[2], out, name, kPlaces[static_cast<size_t>(place) % 4]);
    else if (orientation == grammar::Orientation::kLeft || orientation == grammar::Orientation::kRight)
      source_.name(key[1], key[2], out, name);
  }

 private:
  const WordForms& forms(WordPlace place) const { return is_source(place) ? source_ : target_; }

  WordForms source_, target_;
  OrientationNames orientations_;
};

template <size_t kTemplate>
TemplateKind kind(std::string summary) {
  return {std::string(kTemplates[kTemplate]),
          std::move(summary),
          {{"top", 80, 0, kAllWords}, {"classes", 0, 0, 1}, OrientationNames::setting()},
          make_template<ReorderWords<kTemplate>>,
          /*for_rules_only=*/false,
          /*for_phrases_only=*/true};
}

const RegisterTemplate kLocal(
    kind<0>("the orientation of a phrase to the block before it, with its first or last word "
            "on either side: the word if frequent, its classes"));
const RegisterTemplate kStack(
    kind<1>("the orientation of a phrase to the block before it, with the block's first or "
            "last word on either side: the word if frequent, its classes"));
const RegisterTemplate kGap(
    kind<2>("the orientation of a phrase left or right of the block before it, with the source "
            "words between the two: the word if frequent, its classes"));

}  // namespace

}  // namespace dragoman::templates
