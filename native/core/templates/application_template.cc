#include "core/templates/application_template.hh"

#include <algorithm>

namespace dragoman::templates {

void ContextTemplate::features(const RuleSight& rule, FeatureRows& out) const {
  std::vector<Arguments> found;
  for (size_t i = 1; i < rule.source.size(); ++i) {
    if (!is_word(rule.source[i - 1]) || !is_word(rule.source[i])) continue;
    beside(rule, i - 1, Neighbour::kAfter, rule.source[i], found);
    beside(rule, i, Neighbour::kBefore, rule.source[i - 1], found);
  }
  for (const Arguments& arguments : found) name(arguments, out);
}

GapClasses::GapClasses(const TemplateSet& set) {
  for (const TemplateSet::Named& t : set.templates()) {
    if (t.gap == nullptr) continue;
    templates_.push_back(&t);
    n_classes_ *= t.gap->n_classes();
    max_length_ = std::max(max_length_, t.gap->max_length());
  }
}

int32_t GapClasses::of(const RuleSight& rule, size_t place, int32_t slot) const {
  int32_t result = 0;
  for (const auto* t : templates_) result = result * t->gap->n_classes() + t->gap->gap_class(rule, place, slot);
  return result;
}

FeatureRows GapClasses::rows() const {
  FeatureRows rows;
  for (int32_t c = 0; c < n_classes_; ++c)
    for (int32_t length = 1; length <= max_length_; ++length) {
      int32_t rest = c;
      for (auto t = templates_.rbegin(); t != templates_.rend(); ++t) {
        const GapTemplate& gap = *(*t)->gap;
        rows.use((*t)->name);
        gap.gap_features(rest % gap.n_classes(), std::min(length, gap.max_length()), rows);
        rest /= gap.n_classes();
      }
      rows.end_row();
    }
  return rows;
}

}  // namespace dragoman::templates
