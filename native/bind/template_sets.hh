// Templates as Python gives them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hh"
#include "core/templates/rule_template.hh"

namespace dragoman::bind {

using Templates = std::vector<std::pair<std::string, std::vector<int64_t>>>;

inline std::vector<templates::TemplateChoice> choices_of(const Templates& templates) {
  std::vector<templates::TemplateChoice> choices;
  for (const auto& [name, values] : templates) choices.push_back({name, values});
  return choices;
}

// What Python gives of the words of both sides, kept for the templates that were made from it.
struct SideWords {
  std::vector<int64_t> source_counts, target_counts;
  std::vector<int32_t> source_classes{}, target_classes{};  // a row for each clustering
  std::vector<int32_t> class_sizes{};

  // Throws std::invalid_argument unless classes fit their sizes.
  static SideWords of(const In<int64_t>& source_counts, const In<int64_t>& target_counts,
                      const In2<int32_t>& source_classes, const In2<int32_t>& target_classes,
                      std::vector<int32_t> class_sizes) {
    SideWords result{copy_of(source_counts), copy_of(target_counts), {}, {}, std::move(class_sizes)};
    const auto copy = [&](const In2<int32_t>& classes) {
      if (classes.shape(0) != result.class_sizes.size())
        throw std::invalid_argument("word classes need a row for each clustering");
      for (size_t level = 0; level < classes.shape(0); ++level)
        for (size_t word = 0; word < classes.shape(1); ++word)
          if (classes(level, word) < -1 || classes(level, word) >= result.class_sizes[level])
            throw std::invalid_argument("a word has a class that its clustering lacks");
      return std::vector<int32_t>(classes.data(), classes.data() + classes.size());
    };
    result.source_classes = copy(source_classes);
    result.target_classes = copy(target_classes);
    for (size_t i = 0; i < result.class_sizes.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (result.class_sizes[i] == result.class_sizes[j])
          throw std::invalid_argument("two clusterings have the same number of classes");
    return result;
  }

  // What a template calls nonterminals: on the source side by their label, on the target side by their number. This
  // object must outlive it, at the same address or moved.
  templates::RuleSides sides(const grammar::GrammarTables& tables, const names::WordTable& source,
                             const names::WordTable& target, const std::vector<std::string>& labels) const {
    templates::RuleSides result{{&source, source_counts, {}, {class_sizes, source_classes}},
                                {&target, target_counts, {}, {class_sizes, target_classes}},
                                &tables};
    for (const std::string& label : labels) result.source.nonterminals.push_back("[" + label + "]");
    for (int i = 1; i <= 255; ++i) result.target.nonterminals.push_back("[" + std::to_string(i) + "]");
    return result;
  }
};

}  // namespace dragoman::bind
