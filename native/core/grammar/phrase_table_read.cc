#include "core/grammar/phrase_table_read.hh"

#include <algorithm>

#include "core/base/errors.hh"
#include "core/grammar/table_text.hh"

namespace dragoman::grammar {

namespace {

template <typename Id>
void add_side(std::string_view text, int64_t line, const char* side, RaggedVector<Symbol>& out, Id&& id) {
  std::string stored;
  size_t n = 0;
  each_token(text, [&](std::string_view word) {
    store_word(word, stored);
    out.values.push_back(id(stored));
    ++n;
  });
  if (n == 0 || n > kMaxSideSymbols)
    throw InputError(std::string("the ") + side + " side has " + std::to_string(n) + " words; expected 1 to 255", line);
  out.offsets.push_back(static_cast<int64_t>(out.values.size()));
}

}  // namespace

void MosesTable::add_phrases(std::string_view block, int64_t first_line, names::WordTable& source,
                             names::WordTable& target) {
  each_line(block, first_line, [&](std::string_view text, int64_t line) {
    const auto fields = split_fields(text);
    if (fields.size() < 3)
      throw InputError("expected 'source ||| target ||| four scores ||| alignment ||| counts'", line);
    add_side(fields[0], line, "source", rows_.source, [&](const std::string& w) { return source.intern(w); });
    add_side(fields[1], line, "target", rows_.target, [&](const std::string& w) { return target.intern(w); });
    const auto scores = parse_moses_scores(fields[2], line);
    scores_.insert(scores_.end(), scores.begin(), scores.end());
    if (fields.size() > 3)
      parse_links(fields[3], rows_.source[size()].size(), rows_.target[size()].size(), line, rows_.links.values);
    rows_.finish(fields.size() > 4 ? parse_moses_count(fields[4], line) : 1, line);
  });
}

void MosesTable::add_reordering(std::string_view block, int64_t first_line, const names::WordTable& source,
                                const names::WordTable& target) {
  each_line(block, first_line, [&](std::string_view text, int64_t line) {
    const auto fields = split_fields(text);
    if (fields.size() != 3) throw InputError("expected 'source ||| target ||| scores'", line);
    bool known = true;
    const auto find = [&](const names::WordTable& table) {
      return [&](const std::string& word) {
        const int32_t id = table.find(word);
        known = known && id != names::WordTable::kAbsent;
        return id;
      };
    };
    add_side(fields[0], line, "source", reordering_source_, find(source));
    add_side(fields[1], line, "target", reordering_target_, find(target));
    int n = 0;
    each_token(fields[2], [&](std::string_view token) {
      reordering_.push_back(parse_log_prob(token, line));
      ++n;
    });
    if (n_reordering_ == 0) n_reordering_ = n;
    if (n != n_reordering_ || n == 0)
      throw InputError("has " + std::to_string(n) + " scores where the first line has " + std::to_string(n_reordering_),
                       line);
    if (known) return;
    for (auto* side : {&reordering_source_, &reordering_target_}) {
      side->offsets.pop_back();
      side->values.resize(at(side->offsets.back()));
    }
    reordering_.resize(reordering_.size() - static_cast<size_t>(n));
  });
}

void MosesTable::place(const GrammarTables& tables, std::vector<float>& scores, std::vector<float>& reordering) const {
  const size_t n_pairs = at(tables.n_pairs()), m = at(n_reordering_);
  const std::vector<int64_t> pairs = rows_.pairs(tables, "pair");
  scores.assign(n_pairs * kNumPhraseScores, 0);
  for (int64_t row = 0; row < size(); ++row)
    std::copy_n(scores_.begin() + row * kNumPhraseScores, kNumPhraseScores,
                scores.begin() + pairs[at(row)] * kNumPhraseScores);
  reordering.assign(n_pairs * m, 0);
  if (m == 0) return;
  std::vector<bool> placed(n_pairs, false);
  for (int64_t row = 0; row < reordering_source_.size(); ++row) {
    const int64_t pair = tables.find_pair(reordering_source_[row], reordering_target_[row]);
    if (pair < 0) continue;
    placed[at(pair)] = true;
    std::copy_n(reordering_.begin() + row * n_reordering_, m, reordering.begin() + pair * n_reordering_);
  }
  for (int64_t row = 0; row < size(); ++row)
    if (!placed[at(pairs[at(row)])]) throw InputError("the reordering table lacks this pair", rows_.lines[at(row)]);
}

}  // namespace dragoman::grammar
