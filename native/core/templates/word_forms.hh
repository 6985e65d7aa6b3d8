// How templates represent a word: by itself if it is frequent, and by its classes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/templates/rule_template.hh"

namespace dragoman::templates {

class WordForms {
 public:
  // `top` 0: all words. Throws InputError where counts or classes are needed and unavailable; `what` is the template.
  WordForms(const SideNames& side, int64_t top, bool classes, std::string_view what);

  // Calls visit(level, value): level 0 with the word itself, level i with its class by clustering i - 1. The beginning
  // of the sentence is a word without classes; words that the side does not know have nothing.
  template <typename Visit>
  void each(grammar::Symbol word, Visit&& visit) const {
    if (word == kSentenceBegin) visit(0, word);
    if (word < kFirstWord || word >= side_->words->size()) return;
    const auto id = static_cast<size_t>(word);
    if (is_frequent_.empty() || is_frequent_[id]) visit(0, word);
    for (size_t level = 0; level < classes_.size(); ++level)
      if (id < classes_[level].size() && classes_[level][id] != WordClasses::kNone)
        visit(static_cast<int32_t>(level) + 1, classes_[level][id]);
  }
  // Adds the feature of a representation: the arguments, then the word, or the clustering and the class.
  template <typename... Arguments>
  void name(int32_t level, int32_t value, FeatureRows& out, const Arguments&... arguments) const {
    if (level == 0)
      out.add(1, arguments..., side_->text(value));
    else
      out.add(1, arguments..., std::string_view(clusterings_[static_cast<size_t>(level) - 1]), int64_t{value});
  }

 private:
  const SideNames* side_;
  std::vector<bool> is_frequent_;                  // empty: all are
  std::vector<std::span<const int32_t>> classes_;  // by level, of words
  std::vector<std::string> clusterings_;           // names
};

}  // namespace dragoman::templates
