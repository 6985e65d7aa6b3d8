#include "core/base/json.hh"

#include "core/base/number.hh"

namespace dragoman {

namespace {

constexpr int kMaxDepth = 64;

void append_utf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

void JsonReader::fail(const std::string& expected) const {
  const std::string found = rest_.empty() ? "the end" : quoted(rest_.substr(0, 20));
  throw InputError("invalid JSON: expected " + expected + ", found " + found, line_);
}

void JsonReader::space() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
    rest_.remove_prefix(1);
}

bool JsonReader::take(char c) {
  space();
  if (rest_.empty() || rest_.front() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

void JsonReader::expect(char c) {
  if (!take(c)) fail(quoted({&c, 1}));
}

void JsonReader::end() {
  space();
  if (!rest_.empty()) fail("the end of the line");
}

uint32_t JsonReader::hex4() {
  uint32_t code = 0;
  if (rest_.size() < 4) fail("four hexadecimal digits");
  for (size_t i = 0; i < 4; ++i) {
    const char c = rest_[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) fail("four hexadecimal digits");
    code = code << 4 | static_cast<uint32_t>(digit);
  }
  rest_.remove_prefix(4);
  return code;
}

void JsonReader::string(std::string& out) {
  expect('"');
  out.clear();
  while (true) {
    size_t plain = 0;
    while (plain < rest_.size() && rest_[plain] != '"' && rest_[plain] != '\\' &&
           static_cast<unsigned char>(rest_[plain]) >= 0x20)
      ++plain;
    out += rest_.substr(0, plain);
    rest_.remove_prefix(plain);
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x20) fail("'\"'");
    const bool escape = rest_.front() == '\\';
    rest_.remove_prefix(1);
    if (!escape) return;
    if (rest_.empty()) fail("an escape");
    const char c = rest_.front();
    rest_.remove_prefix(1);
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        uint32_t code = hex4();
        if (code >= 0xD800 && code < 0xDC00) {
          if (rest_.substr(0, 2) != "\\u") fail("the second half of a surrogate pair");
          rest_.remove_prefix(2);
          const uint32_t low = hex4();
          if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a surrogate pair");
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code <= 0xDFFF) {
          fail("no lone surrogate");
        }
        append_utf8(code, out);
        break;
      }
      default:
        fail("a known escape after '\\'");
    }
  }
}

std::string_view JsonReader::number_text() {
  space();
  size_t i = 0;
  const auto digits = [&] {
    const size_t start = i;
    while (i < rest_.size() && rest_[i] >= '0' && rest_[i] <= '9') ++i;
    return i - start;
  };
  if (i < rest_.size() && rest_[i] == '-') ++i;
  const size_t first = i;
  // Python's json writes NaN and Infinity; report them as such rather than as a syntax error.
  for (const std::string_view word : {"NaN", "Infinity"})
    if (rest_.substr(i, word.size()) == word)
      throw InputError("the value " + quoted(rest_.substr(0, i + word.size())) + " is not finite", line_);
  const size_t n_digits = digits();
  if (n_digits == 0 || (n_digits > 1 && rest_[first] == '0')) fail("a number");
  if (i < rest_.size() && rest_[i] == '.') {
    ++i;
    if (digits() == 0) fail("a number");
  }
  if (i < rest_.size() && (rest_[i] == 'e' || rest_[i] == 'E')) {
    ++i;
    if (i < rest_.size() && (rest_[i] == '+' || rest_[i] == '-')) ++i;
    if (digits() == 0) fail("a number");
  }
  const auto text = rest_.substr(0, i);
  rest_.remove_prefix(i);
  return text;
}

double JsonReader::number() {
  double value = 0;
  const auto text = number_text();
  if (!parse_finite(text, value, line_)) fail("a number");
  return value;
}

bool JsonReader::null() {
  constexpr std::string_view kNull = "null";
  space();
  if (!rest_.starts_with(kNull)) return false;
  rest_.remove_prefix(kNull.size());
  return true;
}

void JsonReader::skip(int depth) {
  if (depth > kMaxDepth) throw InputError("JSON nested deeper than " + std::to_string(kMaxDepth) + " levels", line_);
  space();
  if (rest_.empty()) fail("a value");
  std::string ignored;
  if (rest_.front() == '"') {
    string(ignored);
  } else if (rest_.front() == '{') {
    object([&](std::string_view) { skip(depth + 1); });
  } else if (take('[')) {
    if (take(']')) return;
    do {
      skip(depth + 1);
    } while (take(','));
    expect(']');
  } else {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (rest_.substr(0, word.size()) == word) {
        rest_.remove_prefix(word.size());
        return;
      }
    }
    number_text();
  }
}

}  // namespace dragoman
