// The rows of a table read from text, and the grammar that they become.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ragged.hh"
#include "core/grammar/build.hh"
#include "core/grammar/tables.hh"

namespace dragoman::grammar {

struct TableRows {
  RaggedVector<Symbol> source, target;
  RaggedVector<PhraseLink> links;
  std::vector<uint32_t> counts;
  std::vector<int64_t> lines;

  int64_t size() const { return static_cast<int64_t>(lines.size()); }
  // Ends a row whose two sides are complete and whose links were appended.
  void finish(double count, int64_t line);
  // Writes the tables of a grammar; `code` is the orientation of phrase pairs, or the RuleKind.
  BuildStats write(const BuildOptions& options, int32_t n_source_words, int32_t n_target_words, uint16_t code,
                   Control& control) const;
  // The pair of each row in the tables that were written. Throws InputError for a duplicate; `unit` names it.
  std::vector<int64_t> pairs(const GrammarTables& tables, const char* unit) const;
};

}  // namespace dragoman::grammar
