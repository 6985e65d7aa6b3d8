#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/errors.hh"
#include "core/grammar/random_bitext.hh"
#include "core/grammar/rule_extract.hh"
#include "core/grammar/rule_table_read.hh"
#include "core/search/rule_match.hh"
#include "test/test.hh"

namespace {

using namespace dragoman;

std::map<std::string, std::string> extract(const grammar::RandomBitext& bitext, const grammar::RuleLimits& limits,
                                           const grammar::RuleCut& cut, uint64_t hash_mask, int n_threads,
                                           int64_t max_memory_bytes) {
  grammar::TempFolder folder;
  grammar::ExtractOptions options{0, 100, 50, 50, {folder.path, max_memory_bytes, n_threads, hash_mask}};
  options.build.cut = cut;
  Control control;
  const auto stats = grammar::extract_rules(bitext.text(), bitext.aligned(), limits, {true, 0.9}, options, control);
  CHECK(stats.build.n_pairs > 0 && stats.build.n_events >= stats.build.n_pairs);
  return grammar::contents(folder.path);
}

}  // namespace

TEST(collisions_threads_and_spilling_change_no_rules) {
  for (const bool tight : {false, true})
    for (const grammar::RuleCut cut : {grammar::RuleCut{1}, {2}, {3}, {2, true}}) {
      const grammar::RandomBitext bitext(7, 3);
      grammar::RuleLimits limits;
      limits.tight = tight;
      limits.adjacent = tight;
      const auto expected = extract(bitext, limits, cut, ~uint64_t{0}, 1, 1 << 30);
      CHECK(expected.size() == 26 && !expected.at("events.mass").empty());
      CHECK(extract(bitext, limits, cut, 0, 2, 1 << 30) == expected);
      CHECK(extract(bitext, limits, cut, uint64_t{3} << 60, 3, 1) == expected);
      CHECK(extract(bitext, limits, cut, 0x1f, 1, 1 << 30) == expected);
    }
}

TEST(wild_tables_of_rules_are_refused_or_read) {
  std::mt19937 random(3);
  const std::string hiero = "[X] ||| a [X,1] ||| [1] b ||| p=0.5 1 ||| 0-1\n[S] ||| [S,1] [X,2] ||| [1] [2] ||| 1\n";
  const std::string moses = "[X][X] a [X] ||| b [X][X] [X] ||| 0.5 0.25 1 0 ||| 0-1 1-0 ||| 2 3 1.6 ||| |||\n";
  int n_read = 0;
  for (int round = 0; round < 20000; ++round) {
    const bool is_hiero = round % 2;
    std::string text = is_hiero ? hiero : moses + moses;
    for (unsigned k = random() % 4; k > 0; --k)
      text[random() % text.size()] = "abX|0.1-, \n\t\\[]<=\xc3"[random() % 19];
    grammar::RuleTable table("S");
    names::WordTable source, target;
    try {
      if (is_hiero)
        table.add_hiero(text, 1, source, target);
      else
        table.add_moses(text, 1, source, target);
      CHECK(table.labels().size() <= 8);
      ++n_read;
    } catch (const InputError& error) {
      CHECK(error.line >= 1 && error.line <= 6);
    }
  }
  CHECK(n_read > 1000);
}

// A trie of "a [X] b", "[X]" and "a": symbols 0 and 1 are words.
TEST(rules_match_within_their_spans) {
  const std::vector<grammar::Symbol> symbols{0, -1, 0, -1, 1};
  const std::vector<int64_t> children{1, 3, 3, 4, 5, 5};
  const std::vector<int32_t> source{-1, 0, 1, -1, 2};
  grammar::GrammarTables tables;
  tables.trie_symbols = symbols;
  tables.trie_children = children;
  tables.trie_source = source;
  const auto match = [&](const std::vector<grammar::Symbol>& sentence, int max_span, int max_gap) {
    std::vector<int64_t> found;
    search::RuleMatcher(tables, {max_span, max_gap}).match(sentence, found);
    return found;
  };
  using Found = std::vector<int64_t>;
  CHECK(match({}, 9, 9) == Found());
  CHECK(match({1}, 9, 9) == Found({0}));
  CHECK(match({0, 1}, 9, 9) == Found({0, 1}));
  CHECK(match({0, 5, 5, 1}, 9, 9) == Found({0, 1, 2}));
  CHECK(match({0, 5, 5, 1}, 3, 9) == Found({0, 1}));
  CHECK(match({0, 5, 5, 1}, 9, 1) == Found({0, 1}));
  CHECK(match({0, 0, 5, 1}, 3, 9) == Found({0, 1, 2}));
}
