#include "core/search/phrase_batch.hh"

#include <stdexcept>

#include "core/search/batch.hh"
#include "core/search/reordering.hh"
#include "core/templates/orientation_template.hh"

namespace dragoman::search {

namespace {

void check_parts(const OrientationFeatures& oriented, size_t n_options, size_t n_words) {
  oriented.of_option.check("parts of options");
  oriented.of_word.check("parts of words");
  oriented.feature_ids.check("features of parts");
  if (at(oriented.of_option.size()) != n_options || at(oriented.of_word.size()) != n_words ||
      at(oriented.feature_ids.size()) % templates::kOrientations != 0 ||
      oriented.feature_values.size() != oriented.feature_ids.values.size())
    throw std::invalid_argument("translation options: the arrays of parts have other lengths");
  const bool has_blocks = !oriented.block_start.empty();
  if (oriented.block_targets.size() != (has_blocks ? 2 * n_options : 0) ||
      oriented.block_passed.size() != (has_blocks ? 2 * n_words : 0) ||
      oriented.block_sources.size() != (has_blocks ? 2 * n_words : 0) ||
      oriented.block_start.size() != (has_blocks ? 4 : 0) ||
      (!oriented.gap_words.empty() && oriented.gap_words.size() != n_words))
    throw std::invalid_argument("translation options: the arrays of blocks and gaps have other lengths");
  const auto n_parts = static_cast<int32_t>(oriented.n_parts());
  const auto check = [&](const std::vector<int32_t>& parts, int32_t least) {
    for (const int32_t part : parts)
      if (part < least || part >= n_parts) throw std::invalid_argument("translation options: there is no such part");
  };
  for (const auto* parts : {&oriented.of_option.values, &oriented.of_word.values, &oriented.block_sources,
                            &oriented.block_start, &oriented.gap_words})
    check(*parts, 0);
  for (const auto* parts : {&oriented.block_targets, &oriented.block_passed}) check(*parts, TargetEdges::kNone);
  if (!all_ids(oriented.feature_ids.values) || !all_finite(oriented.feature_values))
    throw std::invalid_argument("translation options: the features of parts need ids and finite values");
}

}  // namespace

void PhraseBatch::check() const {
  const auto fail = [](const std::string& why) { throw std::invalid_argument("translation options: " + why); };
  pass_through.check("pass_through");
  targets.check("targets");
  feature_ids.check("features");
  const auto n = begin.size();
  if (first.size() != at(size()) + 1) fail("one offset more than there are sentences is needed");
  Ragged<int32_t>{first, begin}.check("translation options");
  if (end.size() != n || at(targets.size()) != n || rules.size() != n || at(feature_ids.size()) != n)
    fail("the arrays have different lengths");
  if (scores.size() != n * at(n_scores)) fail("every option needs a value for each score");
  if (orientations.size() != n * at(n_orientations))
    fail("every option needs a value for each orientation of each reordering model");
  if (feature_values.size() != feature_ids.values.size()) fail("a feature has no value");
  if (!all_ids(feature_ids.values)) fail("feature ids must not be negative");
  if (!all_ids(targets.values) || !all_ids(pass_through.values)) fail("target words must not be negative");
  if (!all_finite(scores)) fail("a score is not finite");
  if (!all_finite(orientations)) fail("an orientation's log probability is not finite");
  if (!all_finite(feature_values)) fail("a feature value is not finite");
  if (oriented) check_parts(*oriented, n, pass_through.values.size());
  for (int64_t s = 0; s < size(); ++s) {
    const auto length = static_cast<int32_t>(pass_through[s].size());
    for (int64_t o = first[at(s)]; o < first[at(s) + 1]; ++o)
      if (begin[at(o)] < 0 || begin[at(o)] >= end[at(o)] || end[at(o)] > length)
        fail("an option's span is not inside its sentence");
  }
}

}  // namespace dragoman::search
