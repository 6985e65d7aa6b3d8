// Auli et al. (2014), section 7, SparseHRMLocal: the orientation of a phrase with its first or last word on either
// side, for the most frequent words. Orientations are the five of the hierarchical model.
#include "core/templates/orientation_template.hh"

namespace dragoman::templates {

namespace {

class ReorderLocal final : public OrientationTemplate {
 public:
  ReorderLocal(const RuleSides& sides, std::span<const int64_t> values)
      : sides_(&sides),
        source_(sides.source.most_frequent(static_cast<size_t>(values[0]))),
        target_(sides.target.most_frequent(static_cast<size_t>(values[0]))) {}

  void parts(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target,
             std::vector<Part>& out) const override {
    const auto add = [&](int32_t place, grammar::Symbol word, const std::vector<bool>& is_frequent) {
      const auto id = static_cast<size_t>(word);
      if (id < is_frequent.size() && is_frequent[id]) out.push_back({place, word});
    };
    if (!source.empty()) {
      add(0, source.front(), source_);
      add(1, source.back(), source_);
    }
    if (!target.empty()) {
      add(2, target.front(), target_);
      add(3, target.back(), target_);
    }
  }

  void name(const Part& part, std::string_view orientation, FeatureRows& out) const override {
    constexpr std::array<std::string_view, 4> kPlaces{"f_first", "f_last", "e_first", "e_last"};
    const auto [place, word] = part;
    out.add(1, orientation, kPlaces[static_cast<size_t>(place)],
            (place < 2 ? sides_->source : sides_->target).text(word));
  }

 private:
  const RuleSides* sides_;
  std::vector<bool> source_, target_;
};

const RegisterTemplate kReorderLocal(
    {"reorder_local",
     "the orientation of a phrase to the block before it, with its first or last word on either side if frequent",
     {{"top", 80, 1, kAllWords}},
     make_template<ReorderLocal>,
     /*for_rules_only=*/false,
     /*for_phrases_only=*/true});

}  // namespace

}  // namespace dragoman::templates
