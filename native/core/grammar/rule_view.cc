#include "core/grammar/rule_view.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dragoman::grammar {

RuleView::RuleView(const GrammarTables& tables, const RuleViewOptions& options)
    : tables_(tables), options_(options), folds_(options.excluded_fold), lexical_(tables, folds_) {
  if (!tables.is_rules) throw std::invalid_argument("the grammar has phrase pairs, not rules");
  if (options.max_targets < 0 || options.min_count < 1) throw std::invalid_argument("a setting is out of range");
  if (!tables.is_given()) return;
  if (options.excluded_fold >= 0) throw std::invalid_argument("a grammar with given scores has no folds");
  if (options.rank_column >= tables.n_given_scores) throw std::invalid_argument("there is no such score");
  if (options.rank_column < 0) options_.max_targets = 0;
}

void RuleView::lookup(int64_t source, RuleList& out) const {
  const auto [begin, end] = tables_.pair_targets.bounds(source);
  if (end - begin > kCachedRules) {
    const auto make = [&](RuleList& made) {
      compute(source, made);
      made.rules.shrink_to_fit();
      made.scores.shrink_to_fit();
    };
    if (const RuleList* list = cache_.get(source, make)) {
      out.rules.insert(out.rules.end(), list->rules.begin(), list->rules.end());
      out.scores.insert(out.scores.end(), list->scores.begin(), list->scores.end());
      return;
    }
  }
  compute(source, out);
}

RuleView::Source RuleView::read_source(int64_t source) const {
  const auto symbols = tables_.sources[source];
  const bool has_gaps = std::ranges::any_of(symbols, [](Symbol s) { return s < 0; });
  return {symbols, static_cast<double>(folds_.sum(tables_.source_counts[source])), has_gaps ? options_.min_count : 1};
}

double RuleView::p_target(const Source& source, int64_t rule) const {
  if (!tables_.is_given()) return static_cast<double>(tables_.mass(rule, folds_)) / source.mass;
  if (options_.rank_column < 0) return 0;
  return tables_.given_scores[static_cast<size_t>(rule) * static_cast<size_t>(tables_.n_given_scores) +
                              static_cast<size_t>(options_.rank_column)];
}

void RuleView::compute(int64_t source_id, RuleList& out) const {
  const Source source = read_source(source_id);
  const auto [begin, end] = tables_.pair_targets.bounds(source_id);
  std::vector<Candidate> candidates;
  for (int64_t rule = begin; rule < end; ++rule) {
    const int64_t count = folds_.sum(tables_.pair_events[rule]);
    if (count >= source.least) candidates.push_back({rule, count, p_target(source, rule), 0, 0});
  }
  const auto limit = static_cast<size_t>(options_.max_targets);
  if (limit && candidates.size() > limit) {
    // What is certainly among the best stays; the other scores decide among those that tie for the last places.
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<int64_t>(limit) - 1, candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.p > b.p; });
    const double last = candidates[limit - 1].p;
    std::erase_if(candidates, [&](const Candidate& c) { return c.p < last; });
  }
  std::vector<Rule> rules(candidates.size());
  const auto n_scores = static_cast<size_t>(this->n_scores());
  std::vector<float> scores(candidates.size() * n_scores);
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].rest = score(source, candidates[i], rules[i], scores.data() + i * n_scores);
    candidates[i].index = i;
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.p != b.p) return a.p > b.p;
    if (a.rest != b.rest) return a.rest > b.rest;
    return a.rule < b.rule;
  });
  if (limit && candidates.size() > limit) candidates.resize(limit);
  for (const Candidate& candidate : candidates) {
    out.rules.push_back(rules[candidate.index]);
    const auto from = scores.begin() + static_cast<int64_t>(candidate.index * n_scores);
    out.scores.insert(out.scores.end(), from, from + static_cast<int64_t>(n_scores));
  }
}

void RuleView::rule(int64_t id, RuleList& out) const {
  const Source source = read_source(tables_.source_of_pair(id));
  const int64_t count = folds_.sum(tables_.pair_events[id]);
  if (count < source.least) return;
  Rule rule;
  std::vector<float> scores(static_cast<size_t>(n_scores()));
  score(source, {id, count, p_target(source, id), 0, 0}, rule, scores.data());
  out.rules.push_back(rule);
  out.scores.insert(out.scores.end(), scores.begin(), scores.end());
}

// Returns what decides among equal p(e|f): the sum of the other three probabilities.
double RuleView::score(const Source& source, const Candidate& candidate, Rule& rule, float* scores) const {
  rule.rule = candidate.rule;
  rule.count = candidate.count;
  const int64_t target_id = tables_.target_of_pair(candidate.rule);
  const auto target = tables_.targets[target_id];
  if (target.empty() || target[0] >= 0) throw_damaged_grammar();
  rule.lhs = -1 - target[0];
  rule.target = target.subspan(1);
  rule.kind = kind(candidate.rule);
  if (tables_.is_given()) {
    const auto events = tables_.pair_events[candidate.rule];
    if (!events.empty()) rule.alignment = tables_.alignments[events.front().alignment()];
    const auto n = static_cast<size_t>(tables_.n_given_scores);
    std::copy_n(tables_.given_scores.data() + static_cast<size_t>(candidate.rule) * n, n, scores);
    return 0;
  }
  rule.mass = tables_.mass(candidate.rule, folds_);
  const BestAlignments best = best_alignments(tables_, folds_, candidate.rule);
  rule.alignment = best.by_target;
  const double of_target = static_cast<double>(folds_.sum(tables_.target_counts[target_id]));
  const double p_source = std::log(static_cast<double>(rule.mass) / of_target);
  const double lex_target = std::log(lexical_.weight(source.symbols, rule.target, best.by_target, true));
  const double lex_source = std::log(lexical_.weight(source.symbols, rule.target, best.by_source, false));
  scores[0] = static_cast<float>(std::log(candidate.p));
  scores[1] = static_cast<float>(p_source);
  scores[2] = static_cast<float>(lex_target);
  scores[3] = static_cast<float>(lex_source);
  scores[4] = static_cast<float>(std::log1p(static_cast<double>(candidate.count)));
  scores[5] = candidate.count == 1 ? 1.0F : 0.0F;
  return p_source + lex_target + lex_source;
}

RuleKind RuleView::kind(int64_t rule) const {
  auto kind = RuleKind::kComposed;
  for (const Event event : tables_.pair_events[rule])
    if (folds_.has(event.fold())) kind = std::max(kind, static_cast<RuleKind>(event.orientation().bits));
  return std::min(kind, RuleKind::kAdded);
}

// A grammar with given scores has no word counts; its vocabulary is all it knows.
bool RuleView::knows_source(int32_t word) const {
  if (word < 0 || word + 1 >= tables_.source_words.size()) return false;
  return tables_.is_given() || folds_.sum(tables_.source_words[word + 1]) > 0;
}

bool RuleView::knows_target(int32_t word) const {
  if (word < 0 || word + 1 >= tables_.target_words.size()) return false;
  return tables_.is_given() || folds_.sum(tables_.target_words[word + 1]) > 0;
}

}  // namespace dragoman::grammar
