#include "core/grammar/table_rows.hh"

#include <algorithm>
#include <string>

#include "core/base/errors.hh"
#include "core/grammar/table_text.hh"
#include "core/grammar/word_counts.hh"

namespace dragoman::grammar {

void TableRows::finish(double count, int64_t line) {
  const auto from = links.values.begin() + links.offsets.back();
  std::sort(from, links.values.end());
  links.values.erase(std::unique(from, links.values.end()), links.values.end());
  links.offsets.push_back(static_cast<int64_t>(links.values.size()));
  counts.push_back(to_occurrences(count, line));
  lines.push_back(line);
}

BuildStats TableRows::write(const BuildOptions& options, int32_t n_source_words, int32_t n_target_words, uint16_t code,
                            Control& control) const {
  const std::vector<uint8_t> folds(lines.size(), 0);
  const ParallelText text{source, target, folds};
  GrammarBuilder builder(text, options);
  GrammarBuilder::Writer writer(builder);
  for (int64_t row = 0; row < size(); ++row)
    writer.add({hash_symbols(source[row]),
                hash_symbols(target[row]),
                builder.alignments().key(links[row]),
                static_cast<uint32_t>(row),
                0,
                0,
                code,
                static_cast<uint8_t>(source[row].size()),
                static_cast<uint8_t>(target[row].size()),
                counts[at(row)],
                {},
                {}});
  writer.flush();
  // No words are counted; the tables of word counts exist and are empty.
  WordCounter(options.folder, options.max_memory_bytes).write(n_source_words, n_target_words, 1, control);
  return builder.build(control);
}

std::vector<int64_t> TableRows::pairs(const GrammarTables& tables, const char* unit) const {
  std::vector<int64_t> result;
  std::vector<int64_t> line_of(at(tables.n_pairs()), 0);
  for (int64_t row = 0; row < size(); ++row) {
    const int64_t pair = tables.find_pair(source[row], target[row]);
    if (pair < 0) throw_damaged_grammar();
    if (int64_t& line = line_of[at(pair)]; line == 0)
      line = lines[at(row)];
    else
      throw InputError(std::string("duplicate ") + unit + "; it is already in line " + std::to_string(line),
                       lines[at(row)]);
    result.push_back(pair);
  }
  return result;
}

}  // namespace dragoman::grammar
