#include "core/grammar/phrase_table_read.hh"

#include <algorithm>

#include "core/base/errors.hh"
#include "core/grammar/table_text.hh"
#include "core/grammar/word_counts.hh"

namespace dragoman::grammar {

namespace {

template <typename Id>
void add_side(std::string_view text, int64_t line, const char* side, std::vector<Symbol>& out,
              std::vector<int64_t>& offsets, Id&& id) {
  std::string stored;
  size_t n = 0;
  each_token(text, [&](std::string_view word) {
    store_word(word, stored);
    out.push_back(id(stored));
    ++n;
  });
  if (n == 0 || n > kMaxSideSymbols)
    throw InputError(std::string("the ") + side + " side has " + std::to_string(n) + " words; expected 1 to 255", line);
  offsets.push_back(static_cast<int64_t>(out.size()));
}

}  // namespace

void MosesTable::add_phrases(std::string_view block, int64_t first_line, names::WordTable& source,
                             names::WordTable& target) {
  each_line(block, first_line, [&](std::string_view text, int64_t line) {
    const auto fields = split_fields(text);
    if (fields.size() < 3)
      throw InputError("expected 'source ||| target ||| four scores ||| alignment ||| counts'", line);
    add_side(fields[0], line, "source", source_, source_offsets_,
             [&](const std::string& w) { return source.intern(w); });
    add_side(fields[1], line, "target", target_, target_offsets_,
             [&](const std::string& w) { return target.intern(w); });
    std::array<float, 5> found{};
    size_t n_scores = 0;
    each_token(fields[2], [&](std::string_view token) {
      // Old tables end with a phrase penalty, e.
      if (n_scores == kNumPhraseScores && parse_number<double>(token, line) == 2.718)
        ++n_scores;
      else if (n_scores < found.size())
        found[n_scores++] = parse_log_prob(token, line);
      else
        ++n_scores;
    });
    if (n_scores < kNumPhraseScores || n_scores > kNumPhraseScores + 1)
      throw InputError("expected four scores, p(f|e) lex(f|e) p(e|f) lex(e|f), not " + std::to_string(n_scores), line);
    scores_.insert(scores_.end(), {found[2], found[0], found[3], found[1]});
    const auto n_source = static_cast<size_t>(source_offsets_.back() - source_offsets_[source_offsets_.size() - 2]);
    const auto n_target = static_cast<size_t>(target_offsets_.back() - target_offsets_[target_offsets_.size() - 2]);
    const size_t first_link = links_.size();
    if (fields.size() > 3) parse_links(fields[3], n_source, n_target, line, links_);
    const auto from = links_.begin() + static_cast<int64_t>(first_link);
    std::sort(from, links_.end());
    links_.erase(std::unique(from, links_.end()), links_.end());
    link_offsets_.push_back(static_cast<int64_t>(links_.size()));
    double count = 1;
    size_t n_counts = 0;
    if (fields.size() > 4)
      each_token(fields[4], [&](std::string_view token) {
        const auto value = parse_number<double>(token, line);
        if (++n_counts == 3) count = value;
      });
    counts_.push_back(to_occurrences(count, line));
    lines_.push_back(line);
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
    add_side(fields[0], line, "source", reordering_source_, reordering_source_offsets_, find(source));
    add_side(fields[1], line, "target", reordering_target_, reordering_target_offsets_, find(target));
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
    reordering_source_offsets_.pop_back();
    reordering_target_offsets_.pop_back();
    reordering_source_.resize(static_cast<size_t>(reordering_source_offsets_.back()));
    reordering_target_.resize(static_cast<size_t>(reordering_target_offsets_.back()));
    reordering_.resize(reordering_.size() - static_cast<size_t>(n));
  });
}

BuildStats MosesTable::write(const BuildOptions& options, int32_t n_source_words, int32_t n_target_words,
                             Control& control) {
  const std::vector<uint8_t> folds(lines_.size(), 0);
  const ParallelText text{{source_offsets_, source_}, {target_offsets_, target_}, folds};
  const Ragged<PhraseLink> links{link_offsets_, links_};
  GrammarBuilder builder(text, options);
  GrammarBuilder::Writer writer(builder);
  for (int64_t row = 0; row < size(); ++row) {
    const auto source = text.source[row], target = text.target[row];
    writer.add({hash_symbols(source),
                hash_symbols(target),
                builder.alignments().key(links[row]),
                static_cast<uint32_t>(row),
                0,
                0,
                0,
                static_cast<uint8_t>(source.size()),
                static_cast<uint8_t>(target.size()),
                counts_[static_cast<size_t>(row)],
                {},
                {}});
  }
  writer.flush();
  // No words are counted; what belongs to them is there and empty.
  WordCounter(options.folder, options.max_memory_bytes).write(n_source_words, n_target_words, 1, control);
  return builder.build(control);
}

void MosesTable::place(const GrammarTables& tables, std::vector<float>& scores, std::vector<float>& reordering) const {
  const auto n_pairs = static_cast<size_t>(tables.n_pairs());
  const auto find = [&](const Ragged<Symbol>& sources, const Ragged<Symbol>& targets, int64_t row) {
    const int64_t source = tables.find_source(sources[row]), target = tables.find_target(targets[row]);
    return source < 0 || target < 0 ? int64_t{-1} : tables.find_pair(source, target);
  };
  scores.assign(n_pairs * kNumPhraseScores, 0);
  std::vector<bool> placed(n_pairs, false);
  std::vector<int64_t> line_of(n_pairs, 0);
  for (int64_t row = 0; row < size(); ++row) {
    const int64_t pair = find({source_offsets_, source_}, {target_offsets_, target_}, row);
    if (pair < 0) throw_damaged_grammar();
    const auto p = static_cast<size_t>(pair);
    if (line_of[p])
      throw InputError("the pair stands in line " + std::to_string(line_of[p]) + " already",
                       lines_[static_cast<size_t>(row)]);
    line_of[p] = lines_[static_cast<size_t>(row)];
    std::copy_n(scores_.begin() + row * kNumPhraseScores, kNumPhraseScores, scores.begin() + pair * kNumPhraseScores);
  }
  const auto m = static_cast<size_t>(n_reordering_);
  reordering.assign(n_pairs * m, 0);
  if (m == 0) return;
  const int64_t n_rows = static_cast<int64_t>(reordering_source_offsets_.size()) - 1;
  for (int64_t row = 0; row < n_rows; ++row) {
    const int64_t pair =
        find({reordering_source_offsets_, reordering_source_}, {reordering_target_offsets_, reordering_target_}, row);
    if (pair < 0) continue;
    placed[static_cast<size_t>(pair)] = true;
    std::copy_n(reordering_.begin() + row * n_reordering_, m, reordering.begin() + pair * n_reordering_);
  }
  for (size_t pair = 0; pair < n_pairs; ++pair)
    if (!placed[pair]) throw InputError("the reordering table lacks this pair", line_of[pair]);
}

}  // namespace dragoman::grammar
