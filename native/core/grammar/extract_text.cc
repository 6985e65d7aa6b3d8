#include "core/grammar/extract_text.hh"

#include <stdexcept>
#include <string>

#include "core/base/errors.hh"

namespace dragoman::grammar {

namespace {

void check_words(const Sentences& text, int32_t n_words, const char* side) {
  for (const Symbol s : text.values)
    if (s < 0 || s >= n_words) throw std::invalid_argument(std::string(side) + ": a word id outside the vocabulary");
}

}  // namespace

void check_text(const ParallelText& text, const align::Links& links, const ExtractOptions& options) {
  const int64_t n = text.source.size();
  if (text.target.size() != n || links.size() != n || static_cast<int64_t>(text.folds.size()) != n)
    throw std::invalid_argument("both sides, the alignment and the folds must have as many rows");
  if (options.max_sentence_length < 1 || options.max_sentence_length > kMaxSentenceLength)
    throw std::invalid_argument("the maximal sentence length must be from 1 to 4096");
  if (n > static_cast<int64_t>(UINT32_MAX)) throw std::invalid_argument("more than 2^32 sentence pairs");
  check_words(text.source, options.n_source_words, "source");
  check_words(text.target, options.n_target_words, "target");
}

void check_links(std::span<const align::Link> links, size_t n_source, size_t n_target, int64_t sentence) {
  const align::Link* previous = nullptr;
  for (const align::Link& link : links) {
    if (link.source < 0 || link.target < 0 || static_cast<size_t>(link.source) >= n_source ||
        static_cast<size_t>(link.target) >= n_target)
      throw InputError("the link " + std::to_string(link.source) + "-" + std::to_string(link.target) +
                           " points beyond a sentence pair of " + std::to_string(n_source) + " and " +
                           std::to_string(n_target) + " words",
                       sentence + 1);
    if (previous && !(*previous < link)) throw InputError("links must be sorted and distinct", sentence + 1);
    previous = &link;
  }
}

}  // namespace dragoman::grammar
