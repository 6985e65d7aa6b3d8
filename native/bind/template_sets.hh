// Templates as Python gives them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/templates/rule_template.hh"

namespace dragoman::bind {

using Templates = std::vector<std::pair<std::string, std::vector<int64_t>>>;

inline std::vector<templates::TemplateChoice> choices_of(const Templates& templates) {
  std::vector<templates::TemplateChoice> choices;
  for (const auto& [name, values] : templates) choices.push_back({name, values});
  return choices;
}

// What a template calls nonterminals: on the source side by their label, on the target side by their number.
inline templates::RuleSides sides_of(const grammar::GrammarTables& tables, const names::WordTable& source,
                                     const names::WordTable& target, std::span<const int64_t> source_counts,
                                     std::span<const int64_t> target_counts, const std::vector<std::string>& labels) {
  templates::RuleSides sides{{&source, source_counts, {}}, {&target, target_counts, {}}, &tables};
  for (const std::string& label : labels) sides.source.nonterminals.push_back("[" + label + "]");
  for (int i = 1; i <= 255; ++i) sides.target.nonterminals.push_back("[" + std::to_string(i) + "]");
  return sides;
}

}  // namespace dragoman::bind
