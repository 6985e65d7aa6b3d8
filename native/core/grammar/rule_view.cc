#include "core/grammar/rule_view.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dragoman::grammar {

RuleView::RuleView(const GrammarTables& tables, const RuleViewOptions& options)
    : tables_(tables),
      options_(options),
      cut_{options.min_count, tables.cut.composed},
      folds_(options.excluded_fold),
      lexical_(tables, folds_) {
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
  const auto counts = tables_.source_counts[source];
  return {symbols, static_cast<double>(folds_.of(Origin::kExtracted).sum(counts)),
          static_cast<double>(folds_.sum(counts)), has_gaps};
}

bool RuleView::find(const Source& source, int64_t rule, Candidate& candidate) const {
  candidate = {rule, tables_.shown(rule, folds_, cut_, source.has_gaps), 0, 0, 0};
  const bool is_hidden = candidate.shown.origin == Origin::kAdded && !options_.added;
  if (candidate.shown.count == 0 || is_hidden) return false;
  candidate.p = p_target(source, candidate);
  return true;
}

double RuleView::p_target(const Source& source, const Candidate& candidate) const {
  if (!tables_.is_given()) {
    const Origin origin = candidate.shown.origin;
    return static_cast<double>(tables_.mass(candidate.rule, folds_.of(origin))) /
           (origin == Origin::kAdded ? source.mass_with_added : source.mass);
  }
  if (options_.rank_column < 0) return 0;
  return tables_.given_scores[static_cast<size_t>(candidate.rule) * static_cast<size_t>(tables_.n_given_scores) +
                              static_cast<size_t>(options_.rank_column)];
}

void RuleView::keep_best(std::vector<Candidate>& candidates) const {
  const auto limit = static_cast<size_t>(options_.max_targets);
  if (!limit || candidates.size() <= limit) return;
  // What is certainly among the best stays; the other scores decide among those that tie for the last places.
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<int64_t>(limit) - 1, candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.p > b.p; });
  const double last = candidates[limit - 1].p;
  std::erase_if(candidates, [&](const Candidate& c) { return c.p < last; });
}

void RuleView::compute(int64_t source_id, RuleList& out) const {
  const Source source = read_source(source_id);
  const auto [begin, end] = tables_.pair_targets.bounds(source_id);
  std::vector<Candidate> candidates, added;
  Candidate candidate;
  for (int64_t rule = begin; rule < end; ++rule)
    if (find(source, rule, candidate))
      (candidate.shown.origin == Origin::kAdded ? added : candidates).push_back(candidate);
  keep_best(candidates);
  keep_best(added);
  candidates.insert(candidates.end(), added.begin(), added.end());
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
  size_t n_extracted = 0, n_added = 0;
  const auto limit = static_cast<size_t>(options_.max_targets);
  for (const Candidate& best : candidates) {
    size_t& n = best.shown.origin == Origin::kAdded ? n_added : n_extracted;
    if (limit && n == limit) continue;
    ++n;
    out.rules.push_back(rules[best.index]);
    const auto from = scores.begin() + static_cast<int64_t>(best.index * n_scores);
    out.scores.insert(out.scores.end(), from, from + static_cast<int64_t>(n_scores));
  }
}

void RuleView::rule(int64_t id, RuleList& out) const {
  const Source source = read_source(tables_.source_of_pair(id));
  Candidate candidate;
  if (!find(source, id, candidate)) return;
  Rule rule;
  std::vector<float> scores(static_cast<size_t>(n_scores()));
  score(source, candidate, rule, scores.data());
  out.rules.push_back(rule);
  out.scores.insert(out.scores.end(), scores.begin(), scores.end());
}

bool RuleView::is_added(int64_t rule) const {
  Candidate candidate;
  return find(read_source(tables_.source_of_pair(rule)), rule, candidate) && candidate.shown.origin == Origin::kAdded;
}

// Returns what decides among equal p(e|f): the sum of the other three probabilities.
double RuleView::score(const Source& source, const Candidate& candidate, Rule& rule, float* scores) const {
  rule.rule = candidate.rule;
  rule.count = candidate.shown.count;
  const int64_t target_id = tables_.target_of_pair(candidate.rule);
  const auto target = tables_.targets[target_id];
  if (target.empty() || target[0] >= 0) throw_damaged_grammar();
  rule.lhs = -1 - target[0];
  rule.target = target.subspan(1);
  rule.kind = candidate.shown.kind;
  if (tables_.is_given()) {
    const auto events = tables_.pair_events[candidate.rule];
    if (!events.empty()) rule.alignment = tables_.alignments[events.front().alignment()];
    const auto n = static_cast<size_t>(tables_.n_given_scores);
    std::copy_n(tables_.given_scores.data() + static_cast<size_t>(candidate.rule) * n, n, scores);
    return 0;
  }
  const Origin origin = candidate.shown.origin;
  const FoldFilter own = folds_.of(origin);
  rule.mass = tables_.mass(candidate.rule, own);
  const BestAlignments best = best_alignments(tables_, own, candidate.rule);
  rule.alignment = best.by_target;
  const FoldFilter& given = origin == Origin::kAdded ? folds_ : own;
  const double of_target = static_cast<double>(given.sum(tables_.target_counts[target_id]));
  const double p_source = std::log(static_cast<double>(rule.mass) / of_target);
  const double lex_target = lexical_.log_weight(source.symbols, rule.target, best.by_target, true);
  const double lex_source = lexical_.log_weight(source.symbols, rule.target, best.by_source, false);
  scores[0] = static_cast<float>(std::log(candidate.p));
  scores[1] = static_cast<float>(p_source);
  scores[2] = static_cast<float>(lex_target);
  scores[3] = static_cast<float>(lex_source);
  scores[4] = static_cast<float>(std::log1p(static_cast<double>(rule.count)));
  scores[5] = rule.count == 1 ? 1.0F : 0.0F;
  return p_source + lex_target + lex_source;
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
