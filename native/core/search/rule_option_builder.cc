#include "core/search/rule_option_builder.hh"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/grammar/extract_text.hh"
#include "core/grammar/minimal_rules.hh"
#include "core/templates/feature_columns.hh"

namespace dragoman::search {

namespace {

constexpr int64_t kChunk = 64;            // source sides that are looked up together
constexpr int64_t kContextSentences = 8;  // sentences whose contexts are named together

template <typename T>
void copy_to(std::span<const T> from, std::vector<T>& to, int64_t place) {
  std::copy(from.begin(), from.end(), to.begin() + place);
}

// Calls body(symbol, length, position) for every place where words of a source side that stand side by side stand in a
// sentence, with enough words around them for the other symbols.
template <typename Body>
void each_place(std::span<const grammar::Symbol> pattern, std::span<const int32_t> sentence, Body&& body) {
  for (size_t first = 0; first < pattern.size(); ++first) {
    if (!templates::is_word(pattern[first]) || (first > 0 && templates::is_word(pattern[first - 1]))) continue;
    size_t end = first + 1;
    while (end < pattern.size() && templates::is_word(pattern[end])) ++end;
    const auto words = pattern.subspan(first, end - first);
    for (size_t p = first; p + (pattern.size() - first) <= sentence.size(); ++p)
      if (std::equal(words.begin(), words.end(), sentence.begin() + static_cast<std::ptrdiff_t>(p)))
        body(first, words.size(), p);
  }
}

void copy_columns(templates::FeatureColumns&& columns, RaggedVector<int32_t>& ids, std::vector<float>& values) {
  ids.offsets.assign(columns.offsets.begin(), columns.offsets.end());
  ids.values = std::move(columns.ids);
  values = std::move(columns.values);
}

}  // namespace

// Source sides to look up, those of each sentence by their numbers among them, and rules to add whatever the limit on
// targets.
struct RuleOptionBuilder::Wanted {
  std::vector<int64_t> sources;
  std::vector<std::vector<int64_t>> of_sentence;
  RaggedVector<int64_t> rules;  // by source side, or none at all
  // Only source sides that have a rule whose target words are all in the sentence's row; single words stay.
  const Sentences* readings = nullptr;
};

// The rules of all patterns, before they are copied: looked up in chunks of source sides.
struct RuleOptionBuilder::Found {
  struct Chunk {
    grammar::RuleList list;
    std::vector<int64_t> first;  // rule of the list, by source side
  };
  const grammar::GrammarTables& tables;
  std::vector<int64_t> sources;
  std::vector<Chunk> chunks;
  std::vector<int64_t> of_pattern;  // rows of `sources`

  const Chunk& chunk(int64_t source) const { return chunks[at(source / kChunk)]; }
  std::span<const grammar::Symbol> symbols(int64_t source) const { return tables.sources[sources[at(source)]]; }
  std::span<const grammar::Rule> rules(int64_t source) const {
    const Chunk& c = chunk(source);
    const auto begin = at(c.first[at(source % kChunk)]), end = at(c.first[at(source % kChunk) + 1]);
    return std::span<const grammar::Rule>(c.list.rules).subspan(begin, end - begin);
  }
  templates::RuleSight view(int64_t source, const grammar::Rule& rule) const {
    return {symbols(source), rule.target, rule.alignment, rule.count, rule.rule, rule.lhs};
  }
  std::vector<std::vector<int64_t>> readable(const Wanted& wanted, int n_threads, Control& control) const;
};

std::vector<std::vector<int64_t>> RuleOptionBuilder::Found::readable(const Wanted& wanted, int n_threads,
                                                                     Control& control) const {
  std::vector<std::vector<int64_t>> result(wanted.of_sentence.size());
  parallel_chunks(static_cast<int64_t>(result.size()), 16, n_threads, control, [&](int64_t begin, int64_t end, int) {
    std::vector<int32_t> known;
    const auto is_known = [&](grammar::Symbol symbol) {
      return symbol < 0 || std::binary_search(known.begin(), known.end(), symbol);
    };
    for (int64_t s = begin; s < end; ++s) {
      const auto row = (*wanted.readings)[s];
      known.assign(row.begin(), row.end());
      std::sort(known.begin(), known.end());
      std::ranges::copy_if(wanted.of_sentence[at(s)], std::back_inserter(result[at(s)]), [&](int64_t source) {
        const auto side = symbols(source);
        return (side.size() == 1 && templates::is_word(side[0])) ||
               std::ranges::any_of(rules(source), [&](const grammar::Rule& rule) {
                 return std::ranges::all_of(rule.target, is_known);
               });
      });
    }
  });
  return result;
}

RuleOptionBuilder::RuleOptionBuilder(const grammar::RuleView& view, const MatchLimits& limits,
                                     templates::TemplateSet templates, std::vector<size_t> score_columns,
                                     std::vector<std::string> labels)
    : view_(view),
      limits_(limits),
      templates_(std::move(templates)),
      score_columns_(std::move(score_columns)),
      labels_(std::move(labels)) {
  if (limits.max_span < 1 || limits.max_gap < 1) throw std::invalid_argument("spans have at least one word");
  for (const size_t column : score_columns_)
    if (column >= at(view.n_scores())) throw std::invalid_argument("the grammar has no such score");
}

RuleOptionBuilder::Draft RuleOptionBuilder::draft(const Sentences& sentences, int n_threads, Control& control,
                                                  const AlignedPairs* pairs) const {
  std::vector<std::vector<int64_t>> patterns(at(sentences.size()));
  parallel_chunks(sentences.size(), 4, n_threads, control, [&](int64_t begin, int64_t end, int) {
    RuleMatcher matcher(view_.tables(), limits_);
    SpanFilter filter;
    for (int64_t s = begin; s < end; ++s) {
      if (pairs == nullptr) {
        matcher.match(sentences[s], patterns[at(s)]);
        continue;
      }
      grammar::check_links(pairs->links[s], sentences[s].size(), pairs->targets[s].size(), s);
      filter.assign(static_cast<int32_t>(sentences[s].size()), static_cast<int32_t>(pairs->targets[s].size()),
                    pairs->links[s], std::min(limits_.max_span, limits_.max_gap));
      matcher.match(sentences[s], patterns[at(s)], &filter);
    }
  });
  // What sentences share is looked up once.
  Wanted wanted;
  for (const auto& row : patterns) wanted.sources.insert(wanted.sources.end(), row.begin(), row.end());
  std::sort(wanted.sources.begin(), wanted.sources.end());
  wanted.sources.erase(std::unique(wanted.sources.begin(), wanted.sources.end()), wanted.sources.end());
  for (auto& row : patterns)
    for (int64_t& source : row)
      source = std::lower_bound(wanted.sources.begin(), wanted.sources.end(), source) - wanted.sources.begin();
  wanted.of_sentence = std::move(patterns);
  if (pairs != nullptr && !pairs->wide) wanted.readings = &pairs->targets;
  return draft_of(sentences, wanted, n_threads, control);
}

RuleOptionBuilder::Draft RuleOptionBuilder::draft_minimal(const Sentences& sentences, const Sentences& targets,
                                                          const align::Links& links, int n_threads,
                                                          Control& control) const {
  const grammar::GrammarTables& tables = view_.tables();
  using SourceRule = std::pair<int64_t, int64_t>;
  std::vector<std::vector<SourceRule>> rules(at(sentences.size()));
  parallel_chunks(sentences.size(), 16, n_threads, control, [&](int64_t begin, int64_t end, int) {
    grammar::MinimalRules minimal;
    for (int64_t s = begin; s < end; ++s) {
      auto& found = rules[at(s)];
      grammar::check_links(links[s], sentences[s].size(), targets[s].size(), s);
      minimal.assign(sentences[s], targets[s], links[s]);
      const auto nodes = minimal.nodes();
      for (size_t node = 0; node < nodes.size(); ++node) {
        const grammar::MinimalRule rule = minimal.rule(node);
        const int64_t id = rule.is_too_long ? -1 : tables.find_pair(rule.source, rule.target);
        if (id < 0) continue;
        if (nodes[node].source_end - nodes[node].source_begin > limits_.max_span || view_.is_added(id))
          found.emplace_back(tables.source_of_pair(id), id);
        else if (nodes[node].parent < 0)  // it may be wider than what a chart matches, too
          found.emplace_back(tables.source_of_pair(id), -1);
      }
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
  });
  // Every sentence has its own, since what competes with a rule must not depend on other sentences.
  Wanted wanted;
  for (const auto& found : rules) {
    auto& own = wanted.of_sentence.emplace_back();
    int64_t last = -1;
    for (const auto& [source, rule] : found) {
      if (source != last) {
        own.push_back(static_cast<int64_t>(wanted.sources.size()));
        wanted.sources.push_back(source);
        wanted.rules.offsets.push_back(wanted.rules.offsets.back());
        last = source;
      }
      if (rule < 0) continue;
      wanted.rules.values.push_back(rule);
      ++wanted.rules.offsets.back();
    }
  }
  return draft_of(sentences, wanted, n_threads, control);
}

RuleOptionBuilder::Draft RuleOptionBuilder::draft_of(const Sentences& sentences, const Wanted& wanted, int n_threads,
                                                     Control& control) const {
  Found found{view_.tables(), wanted.sources, {}, {}};
  const auto& sources = found.sources;
  const auto n_sources = static_cast<int64_t>(sources.size());
  found.chunks.resize(at((n_sources + kChunk - 1) / kChunk));
  Draft draft;
  if (!templates_.empty()) draft.rows.resize(found.chunks.size());
  parallel_chunks(static_cast<int64_t>(found.chunks.size()), 1, n_threads, control, [&](int64_t c, int64_t, int) {
    Found::Chunk& chunk = found.chunks[at(c)];
    const int64_t end = std::min(n_sources, (c + 1) * kChunk);
    for (int64_t i = c * kChunk; i < end; ++i) {
      chunk.first.push_back(static_cast<int64_t>(chunk.list.rules.size()));
      view_.lookup(sources[at(i)], chunk.list);
      if (wanted.rules.size() == 0) continue;
      for (const int64_t rule : wanted.rules[i]) {
        const auto own = std::span(chunk.list.rules).subspan(at(chunk.first.back()));
        if (std::ranges::none_of(own, [&](const grammar::Rule& known) { return known.rule == rule; }))
          view_.rule(rule, chunk.list);
      }
    }
    chunk.first.push_back(static_cast<int64_t>(chunk.list.rules.size()));
  });
  std::vector<std::vector<int64_t>> readable;
  if (wanted.readings != nullptr) readable = found.readable(wanted, n_threads, control);
  const auto& patterns = wanted.readings == nullptr ? wanted.of_sentence : readable;
  std::vector<char> is_used(at(n_sources), wanted.readings == nullptr);
  for (const auto& row : readable)
    for (const int64_t source : row) is_used[at(source)] = 1;
  parallel_chunks(static_cast<int64_t>(draft.rows.size()), 1, n_threads, control, [&](int64_t c, int64_t, int) {
    for (int64_t i = c * kChunk; i < std::min(n_sources, (c + 1) * kChunk); ++i)
      for (const grammar::Rule& rule : found.rules(i)) {
        if (is_used[at(i)])
          templates_.features(found.view(i, rule), draft.rows[at(c)]);
        else
          draft.rows[at(c)].end_row();
      }
  });
  std::vector<int64_t> first_row{0};  // by chunk
  for (const Found::Chunk& chunk : found.chunks) first_row.push_back(first_row.back() + chunk.first.back());

  // Places in the arrays; source sides without rules in the view are left out.
  RuleBatch& out = draft.rules;
  out.words = {{sentences.offsets.begin(), sentences.offsets.end()},
               {sentences.values.begin(), sentences.values.end()}};
  out.labels = labels_;
  out.n_scores = static_cast<int64_t>(score_columns_.size());
  out.pass_through.assign(sentences.values.size(), kMustPass);
  out.first_pattern.push_back(0);
  out.first_rule.push_back(0);
  for (int64_t s = 0; s < sentences.size(); ++s) {
    for (const int64_t i : patterns[at(s)]) {
      const auto n_rules = static_cast<int64_t>(found.rules(i).size());
      if (n_rules == 0) continue;
      found.of_pattern.push_back(i);
      if (const auto symbols = found.symbols(i); symbols.size() == 1)
        for (size_t w = 0; w < sentences[s].size(); ++w)
          if (sentences[s][w] == symbols[0]) out.pass_through[at(sentences.offsets[at(s)]) + w] = 0;
      out.patterns.offsets.push_back(out.patterns.offsets.back() + static_cast<int64_t>(found.symbols(i).size()));
      out.first_rule.push_back(out.first_rule.back() + n_rules);
      draft.row_of_pattern.push_back(first_row[at(i / kChunk)] + found.chunk(i).first[at(i % kChunk)]);
    }
    out.first_pattern.push_back(static_cast<int64_t>(found.of_pattern.size()));
  }
  const auto n_rules = at(out.first_rule.back());
  const auto n_all = at(view_.n_scores()), n_scores = score_columns_.size();
  out.targets.offsets.assign(n_rules + 1, 0);
  for (size_t p = 0; p < found.of_pattern.size(); ++p) {
    auto r = at(out.first_rule[p]);
    for (const grammar::Rule& rule : found.rules(found.of_pattern[p])) {
      out.targets.offsets[r + 1] = out.targets.offsets[r] + static_cast<int64_t>(rule.target.size());
      ++r;
    }
  }
  out.patterns.values.resize(at(out.patterns.offsets.back()));
  out.lhs.resize(n_rules);
  out.rules.resize(n_rules);
  out.scores.resize(n_rules * n_scores);
  out.targets.values.resize(at(out.targets.offsets.back()));
  parallel_chunks(static_cast<int64_t>(found.of_pattern.size()), 1024, n_threads, control,
                  [&](int64_t begin, int64_t end, int) {
                    for (int64_t p = begin; p < end; ++p) {
                      const int64_t i = found.of_pattern[at(p)];
                      const Found::Chunk& chunk = found.chunk(i);
                      copy_to(found.symbols(i), out.patterns.values, out.patterns.offsets[at(p)]);
                      const int64_t from = chunk.first[at(i % kChunk)];
                      const int64_t n = out.first_rule[at(p) + 1] - out.first_rule[at(p)];
                      const float* row = chunk.list.scores.data() + at(from) * n_all;
                      float* goal = out.scores.data() + at(out.first_rule[at(p)]) * n_scores;
                      for (int64_t k = 0; k < n; ++k, row += n_all)
                        for (const size_t column : score_columns_) *goal++ = row[column];
                      int64_t r = out.first_rule[at(p)];
                      for (const grammar::Rule& rule : found.rules(i)) {
                        out.lhs[at(r)] = rule.lhs;
                        out.rules[at(r)] = rule.rule;
                        copy_to(rule.target, out.targets.values, out.targets.offsets[at(r)]);
                        ++r;
                      }
                    }
                  });
  if (templates_.has_contexts()) add_contexts(sentences, found, draft, n_threads, control);
  if (templates_.has_gaps()) add_gaps(found, draft, n_threads, control);
  return draft;
}

void RuleOptionBuilder::add_contexts(const Sentences& sentences, const Found& found, Draft& draft, int n_threads,
                                     Control& control) const {
  const RuleBatch& rules = draft.rules;
  const auto n_chunks = at((sentences.size() + kContextSentences - 1) / kContextSentences);
  struct Places {
    std::vector<int32_t> n_of_pattern, symbols, positions;
  };
  std::vector<Places> places(n_chunks);
  draft.context_rows.assign(n_chunks, templates::ContextRows(templates_));
  parallel_chunks(sentences.size(), kContextSentences, n_threads, control, [&](int64_t begin, int64_t end, int) {
    Places& here = places[at(begin / kContextSentences)];
    templates::ContextRows& rows = draft.context_rows[at(begin / kContextSentences)];
    for (int64_t s = begin; s < end; ++s) {
      const auto words = sentences[s];
      for (auto p = at(rules.first_pattern[at(s)]); p < at(rules.first_pattern[at(s) + 1]); ++p) {
        const int64_t source = found.of_pattern[p];
        const size_t n_before = here.symbols.size();
        each_place(found.symbols(source), words, [&](size_t symbol, size_t length, size_t position) {
          here.symbols.push_back(static_cast<int32_t>(symbol));
          here.positions.push_back(static_cast<int32_t>(position));
          const size_t after = position + length;
          for (const grammar::Rule& rule : found.rules(source)) {
            rows.add(found.view(source, rule), symbol, symbol + length,
                     position == 0 ? templates::kSentenceBegin : words[position - 1],
                     after == words.size() ? templates::kSentenceEnd : words[after]);
            rows.end_row();
          }
        });
        here.n_of_pattern.push_back(static_cast<int32_t>(here.symbols.size() - n_before));
      }
    }
    rows.finish();
  });
  RuleContexts& out = draft.rules.contexts.emplace();
  out.first_place.push_back(0);
  out.first_row.push_back(0);
  for (const Places& here : places) {
    out.symbols.insert(out.symbols.end(), here.symbols.begin(), here.symbols.end());
    out.positions.insert(out.positions.end(), here.positions.begin(), here.positions.end());
    for (const int32_t n : here.n_of_pattern) {
      const size_t p = out.first_place.size() - 1;
      out.first_place.push_back(out.first_place.back() + n);
      for (int32_t i = 0; i < n; ++i)
        out.first_row.push_back(out.first_row.back() + rules.first_rule[p + 1] - rules.first_rule[p]);
    }
  }
}

void RuleOptionBuilder::add_gaps(const Found& found, Draft& draft, int n_threads, Control& control) const {
  const templates::GapClasses classes(templates_);
  draft.gap_rows = classes.rows();
  RuleGaps& out = draft.rules.gaps.emplace();
  out.max_length = classes.max_length();
  out.first_class.push_back(0);
  for (const int64_t source : found.of_pattern) {
    const auto symbols = found.symbols(source);
    const auto arity = symbols.size() - at(std::count_if(symbols.begin(), symbols.end(), templates::is_word));
    out.first_class.push_back(out.first_class.back() + static_cast<int64_t>(arity * found.rules(source).size()));
  }
  out.classes.resize(at(out.first_class.back()));
  parallel_chunks(static_cast<int64_t>(found.of_pattern.size()), 1024, n_threads, control,
                  [&](int64_t begin, int64_t end, int) {
                    for (int64_t p = begin; p < end; ++p) {
                      const int64_t source = found.of_pattern[at(p)];
                      const auto symbols = found.symbols(source);
                      auto next = at(out.first_class[at(p)]);
                      for (const grammar::Rule& rule : found.rules(source)) {
                        int32_t slot = 0;
                        for (size_t place = 0; place < symbols.size(); ++place)
                          if (!templates::is_word(symbols[place]))
                            out.classes[next++] = classes.of(found.view(source, rule), place, slot++);
                      }
                    }
                  });
}

RuleBatch RuleOptionBuilder::finish(Draft&& draft, const PassedWords& passed, const names::FeatureIndex& index,
                                    bool keep_new, const templates::Blocks* blocks) {
  RuleBatch& out = draft.rules;
  const size_t n_rules = out.rules.size();
  pass(passed, out.pass_through);
  out.own_words = passed.own_words;
  auto& offsets = out.feature_ids.offsets;
  offsets.assign(n_rules + 1, 0);
  templates::FeatureIds numbers(index, keep_new, blocks);
  const templates::FeatureColumns columns = templates::number_rows(draft.rows, numbers);
  if (out.gaps)
    copy_columns(templates::number_rows({draft.gap_rows}, numbers), out.gaps->feature_ids, out.gaps->feature_values);
  if (out.contexts) {
    templates::FeatureColumns found;
    for (const templates::ContextRows& rows : draft.context_rows) rows.number(numbers, found);
    copy_columns(std::move(found), out.contexts->feature_ids, out.contexts->feature_values);
  }
  out.new_features = numbers.new_features();
  out.index_size = index.size();
  if (draft.rows.empty()) return checked(std::move(out));
  const auto each_rule = [&](auto&& body) {
    for (size_t p = 0; p + 1 < out.first_rule.size(); ++p) {
      size_t row = at(draft.row_of_pattern[p]);
      for (auto r = at(out.first_rule[p]); r < at(out.first_rule[p + 1]); ++r) body(r, row++);
    }
  };
  each_rule([&](size_t r, size_t row) {
    offsets[r + 1] = offsets[r] + static_cast<int64_t>(columns.offsets[row + 1] - columns.offsets[row]);
  });
  out.feature_ids.values.resize(at(offsets.back()));
  out.feature_values.resize(at(offsets.back()));
  each_rule([&](size_t r, size_t row) {
    const size_t from = columns.offsets[row], n = columns.offsets[row + 1] - from;
    copy_to(std::span<const int32_t>(columns.ids).subspan(from, n), out.feature_ids.values, offsets[r]);
    copy_to(std::span<const float>(columns.values).subspan(from, n), out.feature_values, offsets[r]);
  });
  return checked(std::move(out));
}

}  // namespace dragoman::search
