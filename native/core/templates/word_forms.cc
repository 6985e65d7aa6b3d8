#include "core/templates/word_forms.hh"

#include "core/base/errors.hh"

namespace dragoman::templates {

WordForms::WordForms(const SideNames& side, int64_t top, bool classes, std::string_view what) : side_(&side) {
  if (top > 0) is_frequent_ = side.most_frequent(static_cast<size_t>(top));
  if (!classes) return;
  if (side.classes.sizes.empty())
    throw InputError(std::string(what) +
                     "(classes=1) needs word classes, which this system lacks: train it with "
                     "`classes=(20, 50, 80)`, or leave classes=1 out");
  const size_t n_words = side.classes.n_words();
  for (size_t level = 0; level < side.classes.sizes.size(); ++level) {
    classes_.push_back(side.classes.of_word.subspan(level * n_words, n_words));
    clusterings_.push_back("c" + std::to_string(side.classes.sizes[level]));
  }
}

}  // namespace dragoman::templates
