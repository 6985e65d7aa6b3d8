// Moses' phrase and reordering tables as text: read into rows that become a grammar, and written from a view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/grammar/phrase_view.hh"
#include "core/grammar/table_rows.hh"
#include "core/names/vocab.hh"

namespace dragoman::grammar {

// Entries in the order of the file. Scores are natural logs in our order.
class MosesTable {
 public:
  // Appends the lines of `block`; words are interned. Throws InputError with the line, counted from first_line.
  void add_phrases(std::string_view block, int64_t first_line, names::WordTable& source, names::WordTable& target);
  // All lines of a reordering table have as many scores as its first; pairs that are no entries are left out.
  void add_reordering(std::string_view block, int64_t first_line, const names::WordTable& source,
                      const names::WordTable& target);

  BuildStats write(const BuildOptions& options, int32_t n_source_words, int32_t n_target_words,
                   Control& control) const {
    return rows_.write(options, n_source_words, n_target_words, 0, control);
  }
  // Per pair of the tables that were written, its scores. Throws InputError for duplicates and for pairs without
  // reordering scores.
  void place(const GrammarTables& tables, std::vector<float>& scores, std::vector<float>& reordering) const;

  int64_t size() const { return rows_.size(); }
  int n_reordering() const { return n_reordering_; }

 private:
  TableRows rows_;
  std::vector<float> scores_;
  // The reordering table's own rows.
  int n_reordering_ = 0;
  RaggedVector<Symbol> reordering_source_, reordering_target_;
  std::vector<float> reordering_;
};

// Appends the lines of source sides [begin, end) of a view: the phrase table's, and the reordering table's if the view
// has reordering scores. Words are written in their stored form.
void format_moses(const GrammarTables& tables, const PhraseView& view, const names::WordTable& source,
                  const names::WordTable& target, int64_t begin, int64_t end, std::string& phrases,
                  std::string& reordering);

}  // namespace dragoman::grammar
