// Moses' phrase and reordering tables as text: read into rows that become a grammar, and written from a view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/grammar/build.hh"
#include "core/grammar/phrase_view.hh"
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

  // Writes the tables of a grammar; a pair that stands there twice is an InputError.
  BuildStats write(const BuildOptions& options, int32_t n_source_words, int32_t n_target_words, Control& control);
  // Per pair of the tables that were written, its scores. Throws InputError for pairs without reordering scores.
  void place(const GrammarTables& tables, std::vector<float>& scores, std::vector<float>& reordering) const;

  int64_t size() const { return static_cast<int64_t>(lines_.size()); }
  int n_reordering() const { return n_reordering_; }

 private:
  std::vector<int64_t> source_offsets_{0}, target_offsets_{0}, link_offsets_{0};
  std::vector<Symbol> source_, target_;
  std::vector<PhraseLink> links_;
  std::vector<float> scores_;
  std::vector<uint32_t> counts_;
  std::vector<int64_t> lines_;
  // The reordering table's own rows.
  int n_reordering_ = 0;
  std::vector<int64_t> reordering_source_offsets_{0}, reordering_target_offsets_{0};
  std::vector<Symbol> reordering_source_, reordering_target_;
  std::vector<float> reordering_;
};

// Appends the lines of source sides [begin, end) of a view: the phrase table's, and the reordering table's if the view
// has reordering scores. Words are written in their stored form.
void format_moses(const GrammarTables& tables, const PhraseView& view, const names::WordTable& source,
                  const names::WordTable& target, int64_t begin, int64_t end, std::string& phrases,
                  std::string& reordering);

}  // namespace dragoman::grammar
