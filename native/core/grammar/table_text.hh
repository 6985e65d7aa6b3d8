// Lines of tables as text: fields between bars, tokens, numbers. Problems are InputErrors with the line.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.hh"
#include "core/grammar/key.hh"
#include "core/names/vocab.hh"

namespace dragoman::grammar {

constexpr size_t kMaxSideSymbols = 255;

// The parts of a line between "|||". A bar may be the first or last thing of a line: "... ||| |||".
std::vector<std::string_view> split_fields(std::string_view line);

template <typename Body>
void each_token(std::string_view text, Body&& body) {
  while (true) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return;
    const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    body(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

// Calls body(text, line) for every line of a block; invalid UTF-8 is an error.
template <typename Body>
void each_line(std::string_view block, int64_t line, Body&& body) {
  if (const size_t valid = names::valid_utf8_prefix(block); valid < block.size())
    throw InputError("invalid UTF-8; convert the file to UTF-8, for instance with iconv",
                     line + std::count(block.begin(), block.begin() + static_cast<int64_t>(valid), '\n'));
  for (; !block.empty(); ++line) {
    const size_t end = std::min(block.find('\n'), block.size());
    std::string_view text = block.substr(0, end);
    if (text.ends_with('\r')) text.remove_suffix(1);
    body(text, line);
    block.remove_prefix(std::min(end + 1, block.size()));
  }
}

template <typename Number>
Number parse_number(std::string_view token, int64_t line) {
  Number value{};
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size())
    throw InputError("'" + std::string(token.substr(0, 40)) + "' is not a number", line);
  return value;
}

// The natural log of a probability. Moses prints tiny ones as 0 and floors them at e^-100 when it reads them.
float parse_log_prob(std::string_view token, int64_t line);

// The scores p(f|e) lex(f|e) p(e|f) lex(e|f) of Moses' tables, as logs in our order; old tables add a penalty, e.
std::array<float, 4> parse_moses_scores(std::string_view text, int64_t line);
// The joint count of Moses' tables, the third of their counts; 1 if it is missing.
double parse_moses_count(std::string_view text, int64_t line);

// A word's stored form; in tables that we wrote words have it already.
void store_word(std::string_view word, std::string& stored);

// "0-0 1-2": links between places of two sides.
void parse_links(std::string_view text, size_t n_source, size_t n_target, int64_t line, std::vector<PhraseLink>& out);

// A count that need not be whole, as a number of occurrences: at least one.
uint32_t to_occurrences(double count, int64_t line);

}  // namespace dragoman::grammar
