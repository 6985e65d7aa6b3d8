#include <charconv>
#include <cmath>

#include "core/grammar/phrase_table_read.hh"

namespace dragoman::grammar {

namespace {

// Seven digits: what a float32 logarithm can tell.
void append_number(double value, std::string& out) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 7).ptr;
  out.append(buffer, end);
}

void append_words(std::span<const Symbol> words, const names::WordTable& table, std::string& out) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (i) out += ' ';
    if (words[i] < 0 || words[i] >= table.size()) throw_damaged_grammar();
    out += table.word(words[i]);
  }
}

}  // namespace

void format_moses(const GrammarTables& tables, const PhraseView& view, const names::WordTable& source,
                  const names::WordTable& target, int64_t begin, int64_t end, std::string& phrases,
                  std::string& reordering) {
  const FoldFilter folds(view.settings().excluded_fold);
  OptionList list;
  for (int64_t s = begin; s < end; ++s) {
    list.clear();
    view.lookup(s, list);
    std::string words;
    append_words(tables.sources[s], source, words);
    const int64_t source_count = folds.sum(tables.source_counts[s]);
    for (size_t i = 0; i < list.options.size(); ++i) {
      const TranslationOption& option = list.options[i];
      std::string pair = words + " ||| ";
      append_words(option.target, target, pair);
      pair += " |||";
      phrases += pair;
      for (const int score : {kScorePFE, kScoreLexFE, kScorePEF, kScoreLexEF}) {
        phrases += ' ';
        append_number(std::exp(static_cast<double>(option.scores[static_cast<size_t>(score)])), phrases);
      }
      phrases += " |||";
      for (const PhraseLink link : option.alignment)
        phrases += ' ' + std::to_string(link.source) + '-' + std::to_string(link.target);
      const int64_t target_count = folds.sum(tables.target_counts[tables.target_of_pair(option.pair)]);
      phrases += " ||| " + std::to_string(target_count) + ' ' + std::to_string(source_count) + ' ' +
                 std::to_string(option.count) + " ||| |||\n";
      if (view.n_reordering() == 0) continue;
      reordering += pair;
      for (const float score : list.reordering_of(i)) {
        reordering += ' ';
        append_number(std::exp(static_cast<double>(score)), reordering);
      }
      reordering += '\n';
    }
  }
}

}  // namespace dragoman::grammar
