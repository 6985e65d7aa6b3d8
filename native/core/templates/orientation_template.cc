#include "core/templates/orientation_template.hh"

namespace dragoman::templates {

OrientationParts::OrientationParts(const TemplateSet& set) : set_(&set), known_(set.templates().size()) {}

void OrientationParts::add_phrase(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target) {
  for (size_t t = 0; t < known_.size(); ++t) {
    const OrientationTemplate* made = set_->templates()[t].orientation;
    if (made == nullptr) continue;
    found_.clear();
    made->parts(source, target, found_);
    for (const OrientationTemplate::Part& part : found_) {
      const auto [known, is_new] = known_[t].try_emplace(part, static_cast<int32_t>(parts_.size()));
      if (is_new) parts_.emplace_back(t, part);
      rows_.values.push_back(known->second);
    }
  }
  rows_.offsets.push_back(static_cast<int64_t>(rows_.values.size()));
}

void OrientationParts::add_passed(grammar::Symbol word) {
  const SideNames& source = set_->sides().source;
  const bool is_known = word >= kFirstWord && word < source.words->size();
  const grammar::Symbol same = is_known ? set_->sides().target.words->find(source.words->word(word)) : -1;
  add_phrase({&word, is_known ? 1u : 0u}, {&same, same >= 0 ? 1u : 0u});
}

FeatureColumns OrientationParts::number(FeatureIds& ids, std::span<const uint8_t> wanted) const {
  FeatureRows rows;
  for (const auto& [t, part] : parts_) {
    const TemplateSet::Named& named = set_->templates()[t];
    rows.use(named.name);
    for (const std::string_view orientation : kOrientationNames) {
      if (wanted.empty() || wanted[rows.n_rows()] != 0) named.orientation->name(part, orientation, rows);
      rows.end_row();
    }
  }
  return number_rows({std::move(rows)}, ids);
}

}  // namespace dragoman::templates
