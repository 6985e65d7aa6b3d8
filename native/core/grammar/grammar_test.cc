#include <map>
#include <random>
#include <string>

#include "core/base/errors.hh"
#include "core/grammar/phrase_extract.hh"
#include "core/grammar/phrase_table_read.hh"
#include "core/grammar/random_bitext.hh"
#include "core/grammar/symbol_order.hh"
#include "test/test.hh"

namespace {

using namespace dragoman;

std::map<std::string, std::string> extract(const grammar::RandomBitext& bitext, uint64_t hash_mask, int n_threads,
                                           int64_t max_memory_bytes, int max_length) {
  grammar::TempFolder folder;
  const grammar::ExtractOptions options{max_length, 100, 50, 50, {folder.path, max_memory_bytes, n_threads, hash_mask}};
  Control control;
  const auto stats = grammar::extract_phrases(bitext.text(), bitext.aligned(), options, control);
  CHECK(stats.build.n_pairs > 0 && stats.build.n_events >= stats.build.n_pairs);
  CHECK((stats.build.spilled_bytes > 0) == (max_memory_bytes < 1000));
  return grammar::contents(folder.path);
}

}  // namespace

TEST(collisions_threads_and_spilling_change_nothing) {
  for (const int max_length : {3, 7, 12})
    for (const unsigned seed : {1U, 2U}) {
      const grammar::RandomBitext bitext(seed, 3 + 20 * static_cast<int>(seed));
      const auto expected = extract(bitext, ~uint64_t{0}, 1, 1 << 30, max_length);
      CHECK(expected.size() == 26);
      CHECK(extract(bitext, 0, 2, 1 << 30, max_length) == expected);
      CHECK(extract(bitext, uint64_t{3} << 60, 3, 1, max_length) == expected);
      CHECK(extract(bitext, 0x1f, 1, 1 << 30, max_length) == expected);
    }
}

TEST(wild_moses_tables_are_refused_or_read) {
  std::mt19937 random(3);
  const std::string good = "a b ||| c ||| 0.5 0.25 1 0.125 ||| 0-0 1-0 ||| 2 3 1 ||| |||\n";
  int n_read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good + good;
    for (unsigned k = random() % 4; k > 0; --k) text[random() % text.size()] = "ab|0.1- \n\t\\[<\xc3"[random() % 14];
    grammar::MosesTable table;
    names::WordTable source, target;
    try {
      table.add_phrases(text, 1, source, target);
      CHECK(table.size() >= 1);
      ++n_read;
    } catch (const InputError& error) {
      CHECK(error.line >= 1 && error.line <= 6);
    }
    try {
      table.add_reordering(text, 1, source, target);
    } catch (const InputError& error) {
      CHECK(error.line >= 1 && error.line <= 6);
    }
  }
  CHECK(n_read > 1000);
}

TEST(more_sides_than_ids_of_31_bits_are_refused) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  grammar::check_n_sides(kMost, "source");
  for (const int64_t n : {kMost + 1, 2 * kMost, 2 * kMost + 2})
    CHECK(test::throws<InputError>([&] { grammar::check_n_sides(n, "source"); }));
}
