// A strict pull parser of one JSON text, for JSON Lines. The input must be valid UTF-8 (checked per block).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/errors.hh"

namespace dragoman {

class JsonReader {
 public:
  JsonReader(std::string_view text, int64_t line) : rest_(text), line_(line) {}

  // Calls body(key) for each member; body must read the value with exactly one call.
  template <typename Body>
  void object(Body&& body) {
    expect('{');
    if (take('}')) return;
    std::string key;
    do {
      string(key);
      expect(':');
      body(std::string_view(key));
    } while (take(','));
    expect('}');
  }
  void string(std::string& out);
  std::string_view number_text();
  double number();
  // Whether null comes next; takes it.
  bool null();
  void skip() { skip(0); }
  // Only white space may follow.
  void end();

 private:
  void space();
  bool take(char c);
  void expect(char c);
  void skip(int depth);
  uint32_t hex4();
  [[noreturn]] void fail(const std::string& expected) const;

  std::string_view rest_;
  int64_t line_;
};

}  // namespace dragoman
