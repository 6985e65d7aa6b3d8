#include <charconv>

#include "core/grammar/rule_table_read.hh"

namespace dragoman::grammar {

namespace {

std::string_view name_of(const std::vector<std::string>& names, int64_t place) {
  if (place < 0 || static_cast<size_t>(place) >= names.size()) throw_damaged_grammar();
  return names[static_cast<size_t>(place)];
}

std::string_view word_of(const names::WordTable& words, Symbol word) {
  if (word >= words.size()) throw_damaged_grammar();
  return words.word(word);
}

}  // namespace

void format_rules(const RuleView& view, const RuleNames& names, const names::WordTable& source,
                  const names::WordTable& target, int64_t begin, int64_t end, bool bare, std::string& out) {
  RuleList list;
  const auto n_scores = static_cast<size_t>(view.n_scores());
  for (int64_t row = begin; row < end; ++row) {
    list.clear();
    view.lookup(row, list);
    std::string side;
    std::vector<std::string_view> labels;
    for (const Symbol symbol : view.tables().sources[row]) {
      side += ' ';
      if (symbol >= 0) {
        side += word_of(source, symbol);
        continue;
      }
      labels.push_back(name_of(names.labels, -1 - int64_t{symbol}));
      side.append("[").append(labels.back()).append("," + std::to_string(labels.size()) + "]");
    }
    for (size_t i = 0; i < list.rules.size(); ++i) {
      const Rule& rule = list.rules[i];
      out.append("[").append(name_of(names.labels, rule.lhs)).append("] |||").append(side).append(" |||");
      for (const Symbol symbol : rule.target) {
        out += ' ';
        if (symbol >= 0) {
          out += word_of(target, symbol);
          continue;
        }
        const int64_t place = -1 - int64_t{symbol};
        if (static_cast<size_t>(place) >= labels.size()) throw_damaged_grammar();
        out += '[';
        if (!bare) out.append(labels[static_cast<size_t>(place)]).append(",");
        out += std::to_string(place + 1) + ']';
      }
      out += " |||";
      for (size_t k = 0; k < n_scores; ++k) {
        char number[40];
        const auto last = std::to_chars(number, number + sizeof number, list.scores[i * n_scores + k]).ptr;
        out.append(" ").append(name_of(names.scores, static_cast<int64_t>(k))).append("=").append(number, last);
      }
      out += " |||";
      for (const PhraseLink link : rule.alignment)
        out += ' ' + std::to_string(link.source) + '-' + std::to_string(link.target);
      out += '\n';
    }
  }
}

}  // namespace dragoman::grammar
