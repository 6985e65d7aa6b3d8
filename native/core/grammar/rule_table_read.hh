// Tables of synchronous rules as text: Hiero's, Thrax's and cdec's form and Moses' are read into rows that become a
// grammar with given scores; the former is also written from a view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/grammar/rule_view.hh"
#include "core/grammar/table_rows.hh"
#include "core/names/vocab.hh"

namespace dragoman::grammar {

// Entries in the order of the file.
class RuleTable {
 public:
  // Rules of the goal that only put nonterminals together are glue: noted, not kept.
  explicit RuleTable(std::string goal) : goal_(std::move(goal)) {}

  // Append the lines of a block; words are interned. Throw InputError with the line, counted from first_line.
  void add_hiero(std::string_view block, int64_t first_line, names::WordTable& source, names::WordTable& target);
  // Four probabilities become natural logs in our order.
  void add_moses(std::string_view block, int64_t first_line, names::WordTable& source, names::WordTable& target);

  BuildStats write(const BuildOptions& options, int32_t n_source_words, int32_t n_target_words,
                   Control& control) const {
    return rows_.write(options, n_source_words, n_target_words, static_cast<uint16_t>(RuleKind::kAdded), control);
  }
  // The scores of every rule of the tables that were written, 0 where a line does not say. Throws InputError for
  // duplicates.
  std::vector<float> place(const GrammarTables& tables) const;

  int64_t size() const { return rows_.size(); }
  const std::vector<std::string>& labels() const { return labels_; }
  const std::vector<std::string>& score_names() const { return score_names_; }
  // Labels that glue puts together, in the order of their first mention.
  const std::vector<std::string>& glued() const { return glued_; }

 private:
  struct Token {  // of a side
    bool is_word = true;
    std::string_view word, label;
    int number = 0;  // of a nonterminal, as written
  };
  struct Line;

  void add_rule(const Line& rule, names::WordTable& source, names::WordTable& target);
  bool add_glue(const Line& rule);
  void add_features(std::string_view text, int64_t line);
  int32_t label(std::string_view name, int64_t line);
  uint32_t score(std::string_view name, int64_t line);

  std::string goal_;
  std::vector<std::string> labels_, score_names_, glued_;
  TableRows rows_;  // target sides with the left-hand label in front, as in the grammar
  RaggedVector<std::pair<uint32_t, float>> scores_;
};

// Names that text needs: of labels and scores.
struct RuleNames {
  std::vector<std::string> labels, scores;
};

// Appends the rules of source sides [begin, end) of a view. Words are written in their stored form; on the target side
// nonterminals are written without their label if `bare`.
void format_rules(const RuleView& view, const RuleNames& names, const names::WordTable& source,
                  const names::WordTable& target, int64_t begin, int64_t end, bool bare, std::string& out);

}  // namespace dragoman::grammar
