#include "core/names/vocab.hh"

#include <random>
#include <string>

#include "core/base/errors.hh"
#include "test/test.hh"

using dragoman::InputError;
using dragoman::names::EncodedLines;
using dragoman::names::WordTable;

TEST(interning_keeps_ids_while_growing) {
  WordTable table;
  for (int i = 0; i < 5000; ++i) CHECK(table.intern("word" + std::to_string(i)) == i);
  for (int i = 0; i < 5000; ++i) {
    CHECK(table.find("word" + std::to_string(i)) == i);
    CHECK(table.word(i) == "word" + std::to_string(i));
  }
  CHECK(table.find("absent") == WordTable::kAbsent);
}

TEST(random_bytes_never_crash_the_encoder) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string data(random() % 40, '\0');
    for (char& c : data)
      c = static_cast<char>(round % 2 ? random() % 256 : "a \t\n\r|<>[]\\\xc3\xa9\xe2"[random() % 14]);
    WordTable table;
    EncodedLines lines;
    try {
      dragoman::names::encode_lines(data, table, 1, lines);
      CHECK(dragoman::names::valid_utf8_prefix(data) == data.size());
      CHECK(lines.offsets.back() == static_cast<int64_t>(lines.ids.size()));
    } catch (const InputError& error) {
      CHECK(error.line >= 1);
    }
  }
}

TEST(escaping_inverts) {
  std::mt19937 random(2);
  for (int round = 0; round < 20000; ++round) {
    std::string word(1 + random() % 8, '\0');
    for (char& c : word) c = "ab|\\<>[]p"[random() % 9];
    std::string stored;
    dragoman::names::escape_word(word, stored);
    CHECK(dragoman::names::unescape_word(stored) == word);
  }
  CHECK(dragoman::names::unescape_word("\\") == "");
  CHECK(dragoman::names::unescape_word("\\\\") == "\\");
}
