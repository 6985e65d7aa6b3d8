#include "core/grammar/rule_table_read.hh"

#include <algorithm>
#include <optional>

#include "core/base/number.hh"
#include "core/grammar/table_text.hh"

namespace dragoman::grammar {

namespace {

constexpr size_t kMaxNames = 256;  // of labels, and of scores
constexpr size_t kMaxNonterminals = 100;

// The text between the brackets of "[...]".
std::optional<std::string_view> bracketed(std::string_view token) {
  if (token.size() < 3 || !token.starts_with('[') || !token.ends_with(']')) return std::nullopt;
  return token.substr(1, token.size() - 2);
}

std::optional<int> small_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 999) return std::nullopt;
  return value;
}

uint32_t intern_name(std::vector<std::string>& names, std::string_view name, const char* what, int64_t line) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    if (names.size() == kMaxNames)
      throw InputError("more than " + std::to_string(kMaxNames) + " different " + what + "; sparse ones are not read",
                       line);
    names.emplace_back(name);
    return static_cast<uint32_t>(names.size() - 1);
  }
  return static_cast<uint32_t>(found - names.begin());
}

}  // namespace

struct RuleTable::Line {
  int64_t line;
  std::string_view lhs;
  std::vector<Token> source, target;
  std::vector<PhraseLink> links;
  double count = 1;
};

int32_t RuleTable::label(std::string_view name, int64_t line) {
  return static_cast<int32_t>(intern_name(labels_, name, "nonterminal labels", line));
}

uint32_t RuleTable::score(std::string_view name, int64_t line) {
  return intern_name(score_names_, name, "feature names", line);
}

void RuleTable::add_hiero(std::string_view block, int64_t first_line, names::WordTable& source,
                          names::WordTable& target) {
  each_line(block, first_line, [&](std::string_view text, int64_t line) {
    const auto fields = split_fields(text);
    if (fields.size() < 4 || fields.size() > 5)
      throw InputError("expected '[X] ||| source ||| target ||| features ||| alignment'", line);
    Line rule{line, {}, {}, {}, {}, 1};
    each_token(fields[0], [&](std::string_view token) {
      const auto name = bracketed(token);
      if (!name || !rule.lhs.empty()) throw InputError("expected one label such as [X] before the first bar", line);
      rule.lhs = *name;
    });
    if (rule.lhs.empty()) throw InputError("expected a label such as [X] before the first bar", line);
    each_token(fields[1], [&](std::string_view token) {
      const auto inner = bracketed(token);
      const size_t comma = inner ? inner->rfind(',') : std::string_view::npos;
      const auto number = comma == std::string_view::npos ? std::nullopt : small_number(inner->substr(comma + 1));
      if (number && comma > 0)
        rule.source.push_back({false, {}, inner->substr(0, comma), *number});
      else
        rule.source.push_back({true, token, {}, 0});
    });
    each_token(fields[2], [&](std::string_view token) {
      const auto inner = bracketed(token);
      const size_t comma = inner ? inner->rfind(',') : std::string_view::npos;
      const auto number =
          !inner ? std::nullopt : small_number(comma == std::string_view::npos ? *inner : inner->substr(comma + 1));
      if (number && comma != 0)
        rule.target.push_back({false, {}, comma == std::string_view::npos ? "" : inner->substr(0, comma), *number});
      else
        rule.target.push_back({true, token, {}, 0});
    });
    if (add_glue(rule)) return;
    if (fields.size() > 4) parse_links(fields[4], rule.source.size(), rule.target.size(), line, rule.links);
    add_features(fields[3], line);
    add_rule(rule, source, target);
  });
}

// Unnamed features are numbered, as cdec does it.
void RuleTable::add_features(std::string_view text, int64_t line) {
  int n_unnamed = 0;
  const auto first = scores_.values.size();
  each_token(text, [&](std::string_view token) {
    const size_t equals = token.rfind('=');
    const bool named = equals != std::string_view::npos;
    double value = 0;
    if ((named && equals == 0) || !parse_finite(named ? token.substr(equals + 1) : token, value, line))
      throw InputError("expected a number or name=number, not " + quoted(token), line);
    const uint32_t column =
        named ? score(token.substr(0, equals), line) : score("PhraseModel_" + std::to_string(n_unnamed++), line);
    for (size_t i = first; i < scores_.values.size(); ++i)
      if (scores_.values[i].first == column) throw InputError("duplicate feature " + quoted(token), line);
    scores_.values.emplace_back(column, to_feature_value(value, line));
  });
}

void RuleTable::add_moses(std::string_view block, int64_t first_line, names::WordTable& source,
                          names::WordTable& target) {
  each_line(block, first_line, [&](std::string_view text, int64_t line) {
    const auto fields = split_fields(text);
    if (fields.size() < 4)
      throw InputError("expected 'source [X] ||| target [X] ||| four scores ||| alignment ||| counts'", line);
    Line rule{line, {}, {}, {}, {}, 1};
    // A nonterminal is [source label][target label]; the last token is the left-hand side.
    const auto read = [&](std::string_view field, std::vector<Token>& side) {
      each_token(field, [&](std::string_view token) {
        const auto inner = bracketed(token);
        const size_t middle = inner ? inner->find("][") : std::string_view::npos;
        if (middle != std::string_view::npos && middle > 0 && middle + 2 < inner->size()) {
          const auto of_source = inner->substr(0, middle), of_target = inner->substr(middle + 2);
          if (of_source != "X" && of_source != of_target)
            throw InputError("the nonterminal " + quoted(token) + " has two labels; expected [X] or the same first",
                             line);
          side.push_back({false, {}, of_target, 0});
        } else {
          side.push_back({true, token, {}, 0});
        }
      });
      const auto lhs = side.empty() || !side.back().is_word ? std::nullopt : bracketed(side.back().word);
      if (!lhs) throw InputError("expected the left-hand label, such as [X], at the end of each side", line);
      side.pop_back();
      return *lhs;
    };
    read(fields[0], rule.source);
    rule.lhs = read(fields[1], rule.target);
    int n_nonterminals = 0;
    for (Token& token : rule.source)
      if (!token.is_word) token.number = ++n_nonterminals;
    std::vector<PhraseLink> links;
    parse_links(fields[3], rule.source.size(), rule.target.size(), line, links);
    for (const PhraseLink link : links) {
      const Token& from = rule.source[link.source];
      Token& to = rule.target[link.target];
      if (from.is_word != to.is_word) throw InputError("a link joins a word and a nonterminal", line);
      if (from.is_word)
        rule.links.push_back(link);
      else
        to.number = from.number;
    }
    if (add_glue(rule)) return;
    const auto found = parse_moses_scores(fields[2], line);
    for (size_t i = 0; i < found.size(); ++i)
      scores_.values.emplace_back(score(std::array{"p_e_f", "p_f_e", "lex_e_f", "lex_f_e"}[i], line), found[i]);
    if (fields.size() > 4) rule.count = parse_moses_count(fields[4], line);
    add_rule(rule, source, target);
  });
}

// A goal is a label, or a goal and a label; or, for Moses, the marks of a sentence's ends.
bool RuleTable::add_glue(const Line& rule) {
  if (rule.lhs != goal_ || rule.source.size() > 2 || rule.source.size() != rule.target.size()) return false;
  const auto is_end = [](const Token& token) { return token.is_word && (token.word == "<s>" || token.word == "</s>"); };
  for (size_t i = 0; i < rule.source.size(); ++i) {
    const Token &s = rule.source[i], &t = rule.target[i];
    if (s.is_word ? !is_end(s) || s.word != t.word : t.is_word || s.number != t.number) return false;
  }
  for (const Token& token : rule.source)
    if (!token.is_word && token.label != goal_) intern_name(glued_, token.label, "nonterminal labels", rule.line);
  return true;
}

void RuleTable::add_rule(const Line& rule, names::WordTable& source, names::WordTable& target) {
  std::string stored;
  const auto check = [&](const std::vector<Token>& side, const char* name) {
    // The left-hand label takes a place on the target side.
    if (side.empty() || side.size() >= kMaxSideSymbols)
      throw InputError(
          std::string("the ") + name + " side has " + std::to_string(side.size()) + " symbols; expected 1 to 254",
          rule.line);
  };
  check(rule.source, "source");
  check(rule.target, "target");
  std::vector<const Token*> nonterminals;
  for (const Token& token : rule.source) {
    if (token.is_word) {
      store_word(token.word, stored);
      rows_.source.values.push_back(source.intern(stored));
      continue;
    }
    for (const Token* known : nonterminals)
      if (known->number == token.number)
        throw InputError("duplicate nonterminal " + std::to_string(token.number) + " on the source side", rule.line);
    nonterminals.push_back(&token);
    rows_.source.values.push_back(-1 - label(token.label, rule.line));
  }
  if (nonterminals.size() > kMaxNonterminals) throw InputError("more than 100 nonterminals in a rule", rule.line);
  rows_.source.offsets.push_back(static_cast<int64_t>(rows_.source.values.size()));
  rows_.target.values.push_back(-1 - label(rule.lhs, rule.line));
  std::vector<bool> used(nonterminals.size(), false);
  for (const Token& token : rule.target) {
    if (token.is_word) {
      store_word(token.word, stored);
      rows_.target.values.push_back(target.intern(stored));
      continue;
    }
    size_t place = 0;
    while (place < nonterminals.size() && nonterminals[place]->number != token.number) ++place;
    if (place == nonterminals.size() || used[place])
      throw InputError("the nonterminals of both sides must be the same, each once", rule.line);
    if (!token.label.empty() && token.label != nonterminals[place]->label)
      throw InputError("a nonterminal is " + quoted(nonterminals[place]->label) + " on the source side and " +
                           quoted(token.label) + " on the target side",
                       rule.line);
    used[place] = true;
    rows_.target.values.push_back(-1 - static_cast<Symbol>(place));
  }
  if (std::ranges::find(used, false) != used.end())
    throw InputError("the nonterminals of both sides must be the same, each once", rule.line);
  rows_.target.offsets.push_back(static_cast<int64_t>(rows_.target.values.size()));
  for (const PhraseLink link : rule.links)
    if (rule.source[link.source].is_word && rule.target[link.target].is_word) rows_.links.values.push_back(link);
  scores_.offsets.push_back(static_cast<int64_t>(scores_.values.size()));
  rows_.finish(rule.count, rule.line);
}

std::vector<float> RuleTable::place(const GrammarTables& tables) const {
  const size_t n_scores = score_names_.size();
  std::vector<float> result(at(tables.n_pairs()) * n_scores, 0);
  const std::vector<int64_t> rules = rows_.pairs(tables, "rule");
  for (int64_t row = 0; row < size(); ++row)
    for (const auto& [column, value] : scores_[row]) result[at(rules[at(row)]) * n_scores + column] = value;
  return result;
}

}  // namespace dragoman::grammar
