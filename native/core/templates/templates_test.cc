// Templates on handmade rules: phrases, rules with nonterminals, and damaged grammars.
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/errors.hh"
#include "core/search/phrase_option_builder.hh"
#include "core/templates/context_rows.hh"
#include "core/templates/orientation_template.hh"
#include "core/templates/rule_template.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

struct Words {
  Words() {
    for (const char* word : {"<unk>", "<s>", "</s>", "a", "b,c", "\\<other>"}) table.intern(word);
  }
  names::WordTable table;
  std::vector<int64_t> counts{9, 9, 9, 3, 1, 2};
  templates::SideNames side() const { return {&table, counts, {"[X,1]", "[X,2]"}}; }
};

// For rules.
std::vector<templates::TemplateChoice> all_templates() {
  std::vector<templates::TemplateChoice> choices;
  for (const templates::TemplateKind& kind : templates::template_kinds()) {
    if (kind.for_phrases_only) continue;
    choices.push_back({kind.name, {}});
    for (const templates::TemplateSetting& setting : kind.settings) choices.back().values.push_back(setting.value);
  }
  return choices;
}

std::map<std::string, float> features(const templates::TemplateSet& set, const templates::RuleSight& rule) {
  templates::FeatureRows rows;
  set.features(rule, rows);
  CHECK(rows.n_rows() == 1);
  std::map<std::string, float> result;
  for (size_t f = 0; f < rows.n_features(); ++f) result[std::string(rows.name(f))] += rows.value(f);
  return result;
}

}  // namespace

TEST(templates_see_rules_with_nonterminals) {
  const Words words;
  const std::vector<templates::TemplateChoice> choices{{"word_pair", {2}}, {"source_length", {7}}, {"rule_id", {0}}};
  const templates::TemplateSet set({words.side(), words.side()}, choices);
  const std::vector<grammar::Symbol> source{3, -1, 4}, target{-1, 5, 3};
  const std::vector<grammar::PhraseLink> links{{0, 2}, {1, 0}};
  const std::map<std::string, float> expected{{"word_pair:a,a", 1.0f},
                                              {"word_pair:<other>,<unaligned>", 1.0f},
                                              {"word_pair:<unaligned>,\\\\<other>", 1.0f},
                                              {"source_length:2", 1.0f},
                                              {"rule_id:a\\s[X\\,1]\\sb\\,c,[X\\,1]\\s\\\\<other>\\sa", 1.0f}};
  CHECK(features(set, {source, target, links, 1, 0}) == expected);
}

TEST(templates_of_phrases_refuse_those_of_rules) {
  const Words words;
  CHECK(test::throws<InputError>([&] {
    templates::TemplateSet({words.side(), words.side()},
                           std::vector{templates::TemplateChoice{"structural_distortion", {10}}}, false);
  }));
}

TEST(contexts_are_named_once_and_counted_by_row) {
  const Words words;
  const templates::TemplateSet set({words.side(), words.side()},
                                   std::vector{templates::TemplateChoice{"word_context", {0, 0}}});
  const std::vector<grammar::Symbol> source{3, -1}, target{5, 5};
  const std::vector<grammar::PhraseLink> links{{0, 0}, {0, 1}};
  templates::ContextRows rows(set);
  for (const grammar::Symbol before : {templates::kSentenceBegin, grammar::Symbol{999}, templates::kSentenceBegin}) {
    rows.add({source, target, links, 1, 0, 0}, 0, 1, before, 4);
    rows.end_row();
  }
  rows.finish();
  names::FeatureIndex index;
  CHECK(index.intern("word_context:a,\\\\<other>,-1,<unk>") == 0);
  templates::FeatureIds numbers(index, /*keep_new=*/true);
  templates::FeatureColumns columns;
  rows.number(numbers, columns);
  CHECK(index.size() == 1 && numbers.new_features()->size() == 2);
  constexpr int32_t kFirst = names::NewFeatures::kFirst;
  CHECK(numbers.new_features()->name(kFirst) == "word_context:a,\\\\<other>,-1,<s>");
  CHECK((columns.ids == std::vector<int32_t>{kFirst, kFirst + 1, 0, kFirst + 1, kFirst, kFirst + 1}));
  CHECK(columns.values == std::vector<float>(6, 2.0f));
  templates::FeatureIds known(index, /*keep_new=*/false);
  templates::FeatureColumns less;
  rows.number(known, less);
  CHECK((less.ids == std::vector<int32_t>{0}) && known.new_features() == nullptr);
  CHECK((less.offsets == std::vector<size_t>{0, 0, 1, 1}));
}

TEST(blocks_stand_for_the_features_they_cover) {
  names::FeatureIndex index;
  for (const char* name : {"a", "b", "c", "d", "one", "two"}) index.intern(name);
  const auto vector = [&](int32_t feature, std::vector<int32_t> ids, std::vector<double> values) {
    const names::Sorted sorted = names::sort_features(index, ids);
    std::vector<double> coefficients;
    for (const int64_t i : sorted.order) coefficients.push_back(values[static_cast<size_t>(i)]);
    return templates::Blocks::Vector{feature, sorted.table, coefficients};
  };
  const double third = 1.0 / 3;
  const templates::Blocks blocks({vector(4, {0, 1, 2}, {third, 0, 2}), vector(5, {0, 2}, {-1, 1})});
  CHECK(blocks.terms("a")->size() == 2 && blocks.terms("b")->empty() && !blocks.terms("d") && !blocks.terms("none"));
  templates::FeatureRows rows;
  rows.use("");
  const auto add = [&](const char* name, float value) {
    rows.use(name);
    rows.add(value);
  };
  add("a", 1);
  add("d", 2);
  add("b", 5);
  rows.end_row();
  add("a", 1);
  add("c", 1);
  add("e", 1);
  rows.end_row();
  templates::FeatureIds ids(index, /*keep_new=*/true, &blocks);
  const templates::FeatureColumns columns = templates::number_rows({rows}, ids);
  constexpr int32_t kNew = names::NewFeatures::kFirst;
  CHECK((columns.ids == std::vector<int32_t>{3, 4, 4, 5, kNew, 4, 4}));
  CHECK((columns.offsets == std::vector<size_t>{0, 4, 7}));
  const auto value = [&](size_t i) { return static_cast<double>(columns.values[i]); };
  CHECK(std::abs(value(1) + value(2) - third) < 1e-15 && value(3) == -1);
  CHECK(std::abs(value(5) + value(6) - (2 + third)) < 1e-14);
  const templates::Blocks alone({vector(4, {0}, {third})}, /*keep_rest=*/false);
  CHECK(alone.terms("a")->size() == 1 && alone.terms("d")->empty() && alone.covers("a") && !alone.covers("d"));
  templates::FeatureIds few(index, /*keep_new=*/true, &alone);
  CHECK((templates::number_rows({rows}, few).ids == std::vector<int32_t>{4, 4, 4, 4}) && !few.new_features());
  CHECK(test::throws<InputError>([] { templates::parts_of(1e300); }));
  CHECK(test::throws<std::invalid_argument>([&] { templates::Blocks({vector(4, {0}, {std::nan("")})}); }));
}

TEST(templates_refuse_what_does_not_exist) {
  const Words words;
  const auto make = [&](std::vector<templates::TemplateChoice> choices) {
    return [&words, choices] { templates::TemplateSet({words.side(), words.side()}, choices); };
  };
  CHECK(test::throws<std::invalid_argument>(make({{"none", {}}})));
  CHECK(test::throws<std::invalid_argument>(make({{"word_pair", {}}})));
  CHECK(test::throws<std::invalid_argument>(make({{"word_pair", {0}}})));
  CHECK(test::throws<std::invalid_argument>(make({{"discount", {}}, {"discount", {}}})));
  templates::SideNames nameless = words.side();
  nameless.counts = {};
  CHECK(test::throws<InputError>(
      [&] { templates::TemplateSet({nameless, nameless}, std::vector{templates::TemplateChoice{"word_pair", {1}}}); }));
}

TEST(orientations_of_phrases_have_features_by_part) {
  const Words words;
  const std::vector<templates::TemplateChoice> choices{{"reorder_local", {2, 0, 0}}};
  CHECK(test::throws<InputError>([&] { templates::TemplateSet({words.side(), words.side()}, choices); }));
  const templates::TemplateSet set({words.side(), words.side()}, choices, /*has_rules=*/false);
  CHECK(set.has_orientations());
  templates::OrientationParts parts(set);
  // "a" and "\\<other>" are frequent; symbols of a damaged grammar are not.
  const std::vector<grammar::Symbol> source{3, 4, 5}, target{4, 3}, strange{-7, 1000};
  parts.add_phrase(source, target);
  parts.add_phrase(strange, {});
  parts.add_passed(3);
  parts.add_passed(0);
  parts.add_passed(1000);
  CHECK((parts.rows().offsets == std::vector<int64_t>{0, 3, 3, 7, 7, 7}));
  CHECK((parts.rows().values == std::vector<int32_t>{0, 1, 3, 0, 4, 5, 3}));  // part 2 has no features
  CHECK(!parts.has_blocks() && !parts.has_gaps());
  names::FeatureIndex index;
  auto ids = templates::FeatureIds::growing(index);
  std::vector<uint8_t> wanted(parts.size() * templates::kOrientations);
  wanted[1] = wanted[3 * templates::kOrientations + 4] = 1;
  const templates::FeatureColumns columns = parts.number(ids, wanted);
  CHECK(columns.offsets.size() == wanted.size() + 1);
  CHECK(index.size() == 2);
  CHECK(index.name(0) == "reorder_local:s,f_first,a");
  CHECK(index.name(1) == "reorder_local:g,e_last,a");
  CHECK(parts.number(ids).ids.size() == wanted.size() - templates::kOrientations);
}

TEST(words_that_templates_do_not_tell_apart_have_one_part) {
  const Words words;
  templates::SideNames side = words.side();
  const std::vector<templates::TemplateChoice> choices{
      {"reorder_stack", {1, 1, 0}}, {"reorder_gap", {0, 1, 0}}, {"reorder_phrase", {0}}};
  const auto make = [&] { return templates::TemplateSet({side, side}, choices, /*has_rules=*/false); };
  CHECK(test::throws<InputError>(make));
  // Only "a" is frequent; "b,c" and "\\<other>" are in the same classes.
  const std::vector<int32_t> classes{-1, -1, -1, 0, 1, 1, -1, -1, -1, 2, 2, 2};
  side.classes = {{2, 3}, classes};
  const templates::TemplateSet set = make();
  templates::OrientationParts parts(set);
  CHECK(parts.has_blocks() && parts.has_gaps());
  const std::vector<grammar::Symbol> source{4, 3}, target{5, 4};
  parts.add_phrase(source, target);
  parts.add_phrase(source, {});
  const std::vector<int32_t> edges = parts.block_targets();
  CHECK(edges.size() == 4 && edges[0] != edges[1]);
  CHECK(edges[2] == templates::OrientationParts::kNone && edges[3] == templates::OrientationParts::kNone);
  parts.add_phrase({}, std::vector<grammar::Symbol>{4, 5});
  CHECK(parts.block_targets()[4] == edges[0] && parts.block_targets()[5] == edges[1]);
  for (const grammar::Symbol word : {4, 5, 3, 0, 1000}) parts.add_source(word);
  const auto& sources = parts.block_sources();
  CHECK(sources.size() == 10 && sources[0] == sources[2] && sources[1] == sources[3] && sources[0] != sources[4]);
  const auto& gaps = parts.gap_words();
  CHECK(gaps[0] != gaps[1] && gaps[3] == gaps[4]);
  const auto start = parts.block_start();
  names::FeatureIndex index;
  auto ids = templates::FeatureIds::growing(index);
  const templates::FeatureColumns columns = parts.number(ids);
  const auto names_of = [&](int32_t part, grammar::Orientation o) {
    const size_t row = at(part) * templates::kOrientations + static_cast<size_t>(o);
    std::vector<std::string> names;
    for (size_t f = columns.offsets[row]; f < columns.offsets[row + 1]; ++f)
      names.emplace_back(index.name(columns.ids[f]));
    return names;
  };
  using enum grammar::Orientation;
  using Names = std::vector<std::string>;
  CHECK((names_of(edges[0], kSwap) == Names{"reorder_stack:s,e_first,c2,1", "reorder_stack:s,e_first,c3,2"}));
  CHECK((names_of(sources[5], kLeft) ==
         Names{"reorder_stack:l,f_last,a", "reorder_stack:l,f_last,c2,0", "reorder_stack:l,f_last,c3,2"}));
  CHECK((names_of(start[2], kMonoGlobal) == Names{"reorder_stack:g,e_first,<s>"}));
  CHECK((names_of(gaps[0], kRight) == Names{"reorder_gap:r,b\\,c", "reorder_gap:r,c2,1", "reorder_gap:r,c3,2"}));
  CHECK(names_of(gaps[0], kMono).empty() && names_of(gaps[3], kLeft).empty());
  CHECK(parts.rows()[0].size() == 3 && parts.rows()[1].size() == 1 && parts.rows()[2].size() == 1);
  CHECK(parts.rows()[1][0] == parts.rows()[0][0]);
  CHECK((names_of(parts.rows()[0][2], kMono) == Names{"reorder_phrase:m,pair,b\\,c\\sa,\\\\<other>\\sb\\,c"}));
}

TEST(templates_survive_damaged_rules) {
  const Words words;
  const templates::TemplateSet set({words.side(), words.side()}, all_templates());
  const templates::GapClasses classes(set);
  std::mt19937 random(5);
  int n_good = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<grammar::Symbol> source, target;
    std::vector<grammar::PhraseLink> links;
    for (unsigned n = random() % 300; n > 0; --n) source.push_back(static_cast<int32_t>(random() % 9) - 2);
    for (unsigned n = random() % 4; n > 0; --n) target.push_back(static_cast<int32_t>(random() % 9) - 3);
    for (unsigned n = random() % 3; n > 0; --n)
      links.push_back({static_cast<uint8_t>(random()), static_cast<uint8_t>(random() % 4)});
    if (round % 2 == 0 && source.size() > 3) source.resize(3);
    try {
      const templates::RuleSight rule{
          source, target, links, static_cast<int64_t>(random() % 2000), 0, static_cast<int32_t>(random() % 3)};
      CHECK(!features(set, rule).empty());
      for (size_t i = 0, slot = 0; i < source.size(); ++i)
        if (!templates::is_word(source[i])) CHECK(classes.of(rule, i, static_cast<int32_t>(slot++)) < 2);
      ++n_good;
    } catch (const InputError&) {
    }
  }
  CHECK(n_good > 20);
}
