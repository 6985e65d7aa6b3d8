#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/errors.hh"
#include "core/lm/arpa.hh"

namespace dragoman::lm {

namespace {

constexpr size_t kBlock = 1 << 20;

void append_log10(std::string& out, float natural) {
  // Nine digits are enough for an exact round trip of the natural log.
  constexpr int kDigits = 9;
  char buffer[32];
  const double value = natural == 0 ? 0.0 : static_cast<double>(natural) / kLn10;
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, kDigits).ptr;
  out.append(buffer, end);
}

[[noreturn]] void damaged() {
  throw InputError("the binary language model is damaged: its n-grams are inconsistent; build it again");
}

}  // namespace

ArpaWriter::ArpaWriter(const Model& model)
    : model_(model), spelling_(model.n_nodes(), {0, 0}), n_ngrams_(static_cast<size_t>(model.order()), 0) {
  n_ngrams_[0] = model.n_words();
  const auto spell = [&](uint32_t node, uint32_t word, uint32_t next) {
    // The context after an n-gram is the n-gram itself if it is a context, else a suffix of it.
    if (next < model.n_nodes() && model.depth(next) == model.depth(node) + 1) spelling_[next] = {node, word};
  };
  for (uint32_t word = 0; word < model.n_words(); ++word) spell(0, word, model.unigrams()[word].next);
  for (const Entry& entry : model.table()) {
    if (entry.key == kEmptyKey) continue;
    const uint64_t key = unmix_key(entry.key);
    const auto node = static_cast<uint32_t>(key >> 32), word = static_cast<uint32_t>(key);
    if (node == 0 || node >= model.n_nodes() || word >= model.n_words()) damaged();
    spell(node, word, entry.next);
    ++n_ngrams_[static_cast<size_t>(model.depth(node))];
  }
}

void ArpaWriter::collect(size_t n) {
  ngrams_.clear();
  for (const Entry& entry : model_.table()) {
    if (entry.key == kEmptyKey) continue;
    const uint64_t key = unmix_key(entry.key);
    if (model_.depth(static_cast<uint32_t>(key >> 32)) + 1 == static_cast<int>(n))
      ngrams_.push_back({key, entry.prob, entry.next});
  }
  std::sort(ngrams_.begin(), ngrams_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

void ArpaWriter::next(std::string& out) {
  out.clear();
  const auto order = static_cast<size_t>(model_.order());
  if (n_ > order) return;
  if (n_ == 0) {
    out += "\\data\\\n";
    for (size_t n = 1; n <= order; ++n)
      out += "ngram " + std::to_string(n) + "=" + std::to_string(n_ngrams_[n - 1]) + "\n";
    out += "\n\\1-grams:\n";
    n_ = 1;
  }
  while (out.size() < kBlock) {
    if (i_ < static_cast<size_t>(n_ngrams_[n_ - 1])) {
      if (n_ == 1) {
        const auto word = static_cast<uint32_t>(i_);
        const Unigram& unigram = model_.unigrams()[word];
        append_ngram(out, 0, word, unigram.prob, unigram.next);
      } else {
        const Entry& entry = ngrams_[i_];
        append_ngram(out, static_cast<uint32_t>(entry.key >> 32), static_cast<uint32_t>(entry.key), entry.prob,
                     entry.next);
      }
      ++i_;
      continue;
    }
    if (++n_ > order) {
      out += "\n\\end\\\n";
      return;
    }
    out += "\n\\" + std::to_string(n_) + "-grams:\n";
    collect(n_);
    i_ = 0;
  }
}

void ArpaWriter::append_ngram(std::string& out, uint32_t node, uint32_t word, float prob, uint32_t next) {
  append_log10(out, -std::fabs(prob));
  out += '\t';
  if (node != last_node_) {
    last_context_.clear();
    append_context(last_context_, node);
    last_node_ = node;
  }
  out += last_context_;
  out += model_.words().word(static_cast<int32_t>(word));
  if (n_ < static_cast<size_t>(model_.order())) {
    const bool is_context = next < model_.n_nodes() && model_.depth(next) == static_cast<int>(n_);
    out += '\t';
    append_log10(out, is_context ? model_.nodes()[next].backoff : 0.0F);
  }
  out += '\n';
}

void ArpaWriter::append_context(std::string& out, uint32_t node) const {
  if (node == 0) return;
  const Spelling& spelling = spelling_[node];
  if (model_.depth(spelling.context) + 1 != model_.depth(node)) damaged();
  append_context(out, spelling.context);
  out += model_.words().word(static_cast<int32_t>(spelling.word));
  out += ' ';
}

}  // namespace dragoman::lm
