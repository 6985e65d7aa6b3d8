#include "core/grammar/table_text.hh"

#include <cmath>
#include <limits>

namespace dragoman::grammar {

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t at = line.find("|||");
    fields.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return fields;
    line.remove_prefix(at + 3);
  }
}

float parse_log_prob(std::string_view token, int64_t line) {
  const auto p = parse_number<double>(token, line);
  if (!(p >= 0) || p > 1.001) throw InputError("'" + std::string(token.substr(0, 40)) + "' is not a probability", line);
  return static_cast<float>(std::max(-100.0, std::log(p)));
}

std::array<float, 4> parse_moses_scores(std::string_view text, int64_t line) {
  std::array<float, 5> found{};
  size_t n = 0;
  each_token(text, [&](std::string_view token) {
    const bool is_penalty = n == 4 && parse_number<double>(token, line) == 2.718;
    if (!is_penalty && n < found.size()) found[n] = parse_log_prob(token, line);
    ++n;
  });
  if (n < 4 || n > 5)
    throw InputError("expected four scores, p(f|e) lex(f|e) p(e|f) lex(e|f), not " + std::to_string(n), line);
  return {found[2], found[0], found[3], found[1]};
}

double parse_moses_count(std::string_view text, int64_t line) {
  double count = 1;
  size_t n = 0;
  each_token(text, [&](std::string_view token) {
    const auto value = parse_number<double>(token, line);
    if (++n == 3) count = value;
  });
  return count;
}

void store_word(std::string_view word, std::string& stored) {
  stored.clear();
  if (word.starts_with('\\')) names::escape_word(names::unescape_word(word), stored);
  if (stored == word) return;
  stored.clear();
  names::escape_word(word, stored);
}

void parse_links(std::string_view text, size_t n_source, size_t n_target, int64_t line, std::vector<PhraseLink>& out) {
  each_token(text, [&](std::string_view token) {
    const size_t dash = token.find('-');
    const auto s = parse_number<uint32_t>(token.substr(0, dash), line);
    const auto t = parse_number<uint32_t>(dash == std::string_view::npos ? "" : token.substr(dash + 1), line);
    if (s >= n_source || t >= n_target)
      throw InputError("the link " + std::string(token.substr(0, 40)) + " points beyond the phrases", line);
    out.push_back({static_cast<uint8_t>(s), static_cast<uint8_t>(t)});
  });
}

uint32_t to_occurrences(double count, int64_t line) {
  if (!(count >= 0)) throw InputError("the count of a pair must not be negative", line);
  return static_cast<uint32_t>(
      std::clamp(std::round(count), 1.0, static_cast<double>(std::numeric_limits<uint32_t>::max())));
}

}  // namespace dragoman::grammar
