#include "core/search/reference_settings.hh"

#include <stdexcept>

#include "core/base/at.hh"

namespace dragoman::search {

void ReferencePairs::check(const Sentences& sentences) const {
  if (targets.size() != sentences.size() || links.size() != sentences.size())
    throw std::invalid_argument("every sentence needs a translation and its links");
  for (int64_t s = 0; s < sentences.size(); ++s)
    for (const align::Link& link : links[s])
      if (link.source < 0 || link.target < 0 || at(link.source) >= sentences[s].size() ||
          at(link.target) >= targets[s].size())
        throw std::invalid_argument("a link lies outside its sentences");
}

}  // namespace dragoman::search
