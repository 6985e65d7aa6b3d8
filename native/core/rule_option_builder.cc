#include "core/rule_option_builder.hh"

#include <algorithm>
#include <stdexcept>

#include "core/parallel.hh"
#include "core/templates/feature_columns.hh"

namespace dragoman {

namespace {

constexpr int64_t kChunk = 64;  // source sides that are looked up together

size_t at(int64_t i) { return static_cast<size_t>(i); }

template <typename T>
void copy_to(std::span<const T> from, std::vector<T>& to, int64_t place) {
  std::copy(from.begin(), from.end(), to.begin() + place);
}

}  // namespace

RuleOptionBuilder::RuleOptionBuilder(const HieroView& view, const MatchLimits& limits, TemplateSet templates)
    : view_(view), limits_(limits), templates_(std::move(templates)) {
  if (limits.max_span < 1 || limits.max_gap < 1) throw std::invalid_argument("spans have at least one word");
}

RuleOptionBuilder::Draft RuleOptionBuilder::draft(const Sentences& sentences, int n_threads, Control& control) const {
  const GrammarTables& tables = view_.tables();
  std::vector<std::vector<int64_t>> patterns(at(sentences.size()));
  parallel_chunks(sentences.size(), 4, n_threads, control, [&](int64_t begin, int64_t end, int) {
    RuleMatcher matcher(tables, limits_);
    for (int64_t s = begin; s < end; ++s) matcher.match(sentences[s], patterns[at(s)]);
  });

  // What sentences share is looked up once.
  std::vector<int64_t> sources;
  for (const auto& row : patterns) sources.insert(sources.end(), row.begin(), row.end());
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  const auto n_sources = static_cast<int64_t>(sources.size());
  struct Chunk {
    RuleList list;
    std::vector<int64_t> first;  // rule of the list, by source side
  };
  std::vector<Chunk> chunks(at((n_sources + kChunk - 1) / kChunk));
  Draft draft;
  if (!templates_.empty()) draft.rows.resize(chunks.size());
  parallel_chunks(static_cast<int64_t>(chunks.size()), 1, n_threads, control, [&](int64_t c, int64_t, int) {
    Chunk& chunk = chunks[at(c)];
    for (int64_t i = c * kChunk; i < std::min(n_sources, (c + 1) * kChunk); ++i) {
      chunk.first.push_back(static_cast<int64_t>(chunk.list.rules.size()));
      view_.lookup(sources[at(i)], chunk.list);
      if (templates_.empty()) continue;
      for (auto r = at(chunk.first.back()); r < chunk.list.rules.size(); ++r) {
        const Rule& rule = chunk.list.rules[r];
        templates_.features({tables.sources[sources[at(i)]], rule.target, rule.alignment, rule.count, rule.rule},
                            draft.rows[at(c)]);
      }
    }
    chunk.first.push_back(static_cast<int64_t>(chunk.list.rules.size()));
  });
  std::vector<int64_t> first_row{0};  // by chunk
  for (const Chunk& chunk : chunks) first_row.push_back(first_row.back() + chunk.first.back());

  // Places in the arrays; source sides without rules in the view are left out.
  BuiltRules& out = draft.rules;
  std::vector<int64_t> of_pattern;  // rows of `sources`
  out.pass_through.assign(sentences.values.size(), -1);
  out.first_pattern.push_back(0);
  out.symbol_offsets.push_back(0);
  out.first_rule.push_back(0);
  for (int64_t s = 0; s < sentences.size(); ++s) {
    for (const int64_t source : patterns[at(s)]) {
      const int64_t i = std::lower_bound(sources.begin(), sources.end(), source) - sources.begin();
      const Chunk& chunk = chunks[at(i / kChunk)];
      const int64_t n_rules = chunk.first[at(i % kChunk) + 1] - chunk.first[at(i % kChunk)];
      if (n_rules == 0) continue;
      of_pattern.push_back(i);
      if (const auto symbols = tables.sources[source]; symbols.size() == 1)
        for (size_t w = 0; w < sentences[s].size(); ++w)
          if (sentences[s][w] == symbols[0]) out.pass_through[at(sentences.offsets[at(s)]) + w] = 0;
      out.symbol_offsets.push_back(out.symbol_offsets.back() + static_cast<int64_t>(tables.sources[source].size()));
      out.first_rule.push_back(out.first_rule.back() + n_rules);
      draft.row_of_pattern.push_back(first_row[at(i / kChunk)] + chunk.first[at(i % kChunk)]);
    }
    out.first_pattern.push_back(static_cast<int64_t>(of_pattern.size()));
  }
  const auto n_rules = at(out.first_rule.back());
  const auto n_scores = static_cast<int64_t>(view_.n_scores());
  out.target_offsets.assign(n_rules + 1, 0);
  for (size_t p = 0; p < of_pattern.size(); ++p) {
    const Chunk& chunk = chunks[at(of_pattern[p] / kChunk)];
    int64_t from = chunk.first[at(of_pattern[p] % kChunk)];
    for (auto r = at(out.first_rule[p]); r < at(out.first_rule[p + 1]); ++r, ++from)
      out.target_offsets[r + 1] =
          out.target_offsets[r] + static_cast<int64_t>(chunk.list.rules[at(from)].target.size());
  }
  out.symbols.resize(at(out.symbol_offsets.back()));
  out.lhs.resize(n_rules);
  out.rules.resize(n_rules);
  out.scores.resize(n_rules * at(n_scores));
  out.targets.resize(at(out.target_offsets.back()));
  parallel_chunks(static_cast<int64_t>(of_pattern.size()), 1024, n_threads, control,
                  [&](int64_t begin, int64_t end, int) {
                    for (int64_t p = begin; p < end; ++p) {
                      const int64_t i = of_pattern[at(p)];
                      const Chunk& chunk = chunks[at(i / kChunk)];
                      copy_to(tables.sources[sources[at(i)]], out.symbols, out.symbol_offsets[at(p)]);
                      int64_t from = chunk.first[at(i % kChunk)];
                      const int64_t n = out.first_rule[at(p) + 1] - out.first_rule[at(p)];
                      copy_to(std::span<const float>(chunk.list.scores).subspan(at(from * n_scores), at(n * n_scores)),
                              out.scores, out.first_rule[at(p)] * n_scores);
                      for (int64_t r = out.first_rule[at(p)]; r < out.first_rule[at(p) + 1]; ++r, ++from) {
                        const Rule& rule = chunk.list.rules[at(from)];
                        out.lhs[at(r)] = rule.lhs;
                        out.rules[at(r)] = rule.rule;
                        copy_to(rule.target, out.targets, out.target_offsets[at(r)]);
                      }
                    }
                  });
  return draft;
}

BuiltRules RuleOptionBuilder::finish(Draft&& draft, FeatureIndex& index, bool grow) {
  BuiltRules& out = draft.rules;
  const size_t n_rules = out.rules.size();
  out.feature_offsets.assign(n_rules + 1, 0);
  if (draft.rows.empty()) return std::move(out);
  const FeatureColumns columns = intern_rows(draft.rows, index, grow);
  const auto each_rule = [&](auto&& body) {
    for (size_t p = 0; p + 1 < out.first_rule.size(); ++p) {
      size_t row = at(draft.row_of_pattern[p]);
      for (auto r = at(out.first_rule[p]); r < at(out.first_rule[p + 1]); ++r) body(r, row++);
    }
  };
  each_rule([&](size_t r, size_t row) {
    out.feature_offsets[r + 1] =
        out.feature_offsets[r] + static_cast<int64_t>(columns.offsets[row + 1] - columns.offsets[row]);
  });
  out.feature_ids.resize(at(out.feature_offsets.back()));
  out.feature_values.resize(out.feature_ids.size());
  each_rule([&](size_t r, size_t row) {
    const size_t from = columns.offsets[row], n = columns.offsets[row + 1] - from;
    copy_to(std::span<const int32_t>(columns.ids).subspan(from, n), out.feature_ids, out.feature_offsets[r]);
    copy_to(std::span<const float>(columns.values).subspan(from, n), out.feature_values, out.feature_offsets[r]);
  });
  return std::move(out);
}

}  // namespace dragoman
