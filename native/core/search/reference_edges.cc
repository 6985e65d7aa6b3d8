// The second half of ReferenceParser: which edges are kept, what may stand in their place, and what is written of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/base/at.hh"
#include "core/search/reference_parser.hh"

namespace dragoman::search {

using forest::ReferenceEdge;

double ReferenceParser::weigh(std::span<const forest::Feature> features) const {
  double sum = 0;
  for (const forest::Feature& f : features) sum += model_.weight(f.id) * static_cast<double>(f.value);
  return sum;
}

void ReferenceParser::append_features(const Edge& edge, std::vector<forest::Feature>& out) const {
  if (edge.kind == ReferenceEdge::kHole) {
    const Node& node = nodes_[at(edge.head)];
    int32_t n_words = node.target.end - node.target.begin;
    for (const int32_t tail : tails_of(edge)) n_words -= nodes_[at(tail)].target.end - nodes_[at(tail)].target.begin;
    if (n_words > 0 && model_.features.words >= 0) out.push_back({model_.features.words, static_cast<float>(n_words)});
    return;
  }
  const ChartRules& rules = rules_in(edge.table);
  const ChartRules::Choice& choice = rules.choice(edge.choice);
  rules.append_features(choice, out);
  if (lm_ && model_.features.lm >= 0 && rules.rule(choice).kind == ChartRuleKind::kEnd)
    out.push_back({model_.features.lm, static_cast<float>(text_.lm_total())});
}

float ReferenceParser::prior_of(const Edge& edge) const {
  if (edge.kind == ReferenceEdge::kHole) return static_cast<float>(settings_.hole_prior);
  const ChartRules& rules = rules_in(edge.table);
  const RuleBatch& batch = batch_in(edge.table);
  const ChartRule& rule = rules.rule(rules.choice(edge.choice));
  if (settings_.prior_column < 0 || rule.kind != ChartRuleKind::kGrammar) return 0;
  const auto logged =
      static_cast<double>(batch.scores[at(rule.place) * at(batch.n_scores) + at(settings_.prior_column)]);
  return logged > 0 ? static_cast<float>(std::log(std::expm1(logged))) : 0.0F;
}

// The best derivation through each edge; edges_ is by head then, without those that are of no use.
void ReferenceParser::score_edges() {
  const size_t goal = nodes_.size() - 1;
  if (nodes_[goal].is_grammatical)
    std::erase_if(edges_, [&](const Edge& edge) {
      const auto tails = tails_of(edge);
      return edge.kind == ReferenceEdge::kHole ||
             std::any_of(tails.begin(), tails.end(), [&](int32_t t) { return !nodes_[at(t)].is_grammatical; });
    });
  std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.head < b.head; });
  inside_.assign(nodes_.size(), kWorst);
  outside_.assign(nodes_.size(), kWorst);
  for (Edge& edge : edges_) {
    features_.clear();
    append_features(edge, features_);
    const double prior = static_cast<double>(prior_of(edge));
    edge.score = weigh(features_) + (edge.kind == ReferenceEdge::kHole ? prior : settings_.prior_weight * prior);
    double sum = edge.score;
    for (const int32_t tail : tails_of(edge)) sum += inside_[at(tail)];
    inside_[at(edge.head)] = std::max(inside_[at(edge.head)], sum);
  }
  outside_[goal] = 0;
  const auto through = [&](const Edge& edge) {
    double sum = outside_[at(edge.head)] + edge.score;
    for (const int32_t tail : tails_of(edge)) sum += inside_[at(tail)];
    return sum;
  };
  for (size_t i = edges_.size(); i-- > 0;) {
    const double sum = through(edges_[i]);
    for (const int32_t tail : tails_of(edges_[i]))
      outside_[at(tail)] = std::max(outside_[at(tail)], sum - inside_[at(tail)]);
  }
  // Rounding must not cost the best derivation one of its edges.
  const double least = inside_[goal] - settings_.beam - 1e-9 * (1 + std::fabs(inside_[goal]));
  std::erase_if(edges_, [&](const Edge& edge) { return !(through(edge) >= least); });
}

std::span<const TargetRange> ReferenceParser::ranges_of(std::span<const int32_t> tails) {
  ranges_.clear();
  for (const int32_t tail : tails) ranges_.push_back(nodes_[at(tail)].target);
  return ranges_;
}

// ---- the result

void ReferenceParser::write_edge(ReferenceEdge kind, int64_t rule, float prior, double gain,
                                 std::span<const int32_t> tails, std::span<const forest::Feature> features,
                                 forest::ReferenceForests& out) {
  written_.clear();
  for (const int32_t tail : tails) written_.push_back(kept_number_[at(tail)]);
  out.add_edge(kind, rule, prior, gain, written_, features);
}

// What may stand in place of an edge: rules of the matches, at most max_wrong of them, the best by estimate.
void ReferenceParser::write_wrong(const Edge& replaced, std::span<const Match> matches, float prior, double outside,
                                  forest::ReferenceForests& out) {
  const Range target = nodes_[at(replaced.head)].target;
  struct Found {
    double estimate;
    uint32_t choice;
    const Match* match;
  };
  std::vector<Found> found;
  for (const Match& match : matches) {
    const std::span<const int32_t> tails(tails_.data() + match.first_tail, match.n_tails);
    double inside = 0;
    for (const int32_t tail : tails) inside += kept_number_[at(tail)] < 0 ? kWorst : inside_[at(tail)];
    if (inside == kWorst) continue;
    const ChartRules& rules = rules_in(match.table);
    for (uint32_t c = match.first_choice; c < match.first_choice + match.n_choices; ++c) {
      const ChartRules::Choice& choice = rules.choice(c);
      if (fits(batch_in(match.table).targets[rules.rule(choice).place], tails, target)) continue;
      found.push_back({rules.rule(choice).estimate + choice.extra + inside, c, &match});
    }
  }
  const auto better = [](const Found& a, const Found& b) {
    return std::tuple(-a.estimate, a.choice) < std::tuple(-b.estimate, b.choice);
  };
  const size_t limit = settings_.max_wrong > 0 ? std::min(found.size(), at(settings_.max_wrong)) : found.size();
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(limit), found.end(), better);
  const double least = inside_[nodes_.size() - 1] - settings_.wrong_beam;
  for (size_t i = 0; i < limit; ++i) {
    const ChartRules& rules = rules_in(found[i].match->table);
    const ChartRules::Choice& choice = rules.choice(found[i].choice);
    const ChartRule& rule = rules.rule(choice);
    const std::span<const int32_t> symbols = batch_in(found[i].match->table).targets[rule.place];
    const std::span<const int32_t> tails(tails_.data() + found[i].match->first_tail, found[i].match->n_tails);
    features_.clear();
    rules.append_features(choice, features_);
    const auto change = static_cast<float>(text_.lm_change(rules.symbols(rule), ranges_of(tails), target));
    if (model_.features.lm >= 0 && change != 0) features_.push_back({model_.features.lm, change});
    double sum = outside + weigh(features_) + settings_.prior_weight * static_cast<double>(prior);
    for (const int32_t tail : tails) sum += inside_[at(tail)];
    if (sum < least) continue;
    const bool is_same = has_same_words(symbols, tails, target);
    write_edge(is_same ? ReferenceEdge::kSameWords : ReferenceEdge::kWrong, rules.grammar_id(rule), prior,
               is_same ? 1.0 : text_.gain(symbols, ranges_of(tails), target), tails, features_, out);
  }
}

void ReferenceParser::write(forest::ReferenceForests& out) {
  const bool has_goal = !nodes_.empty() && nodes_.back().label == model_.labels.goal && n_words_ > 0 &&
                        nodes_.back().target == Range{0, n_target_} && !edges_.empty() &&
                        edges_.back().kind == ReferenceEdge::kReference && edges_.back().choice == rules_.end();
  if (!has_goal) {
    out.first_node.push_back(out.first_node.back());
    out.reached.push_back(static_cast<uint8_t>(forest::ReferenceReach::kNo));
    return;
  }
  const Node& last = nodes_.back();
  out.reached.push_back(static_cast<uint8_t>(last.is_charted       ? forest::ReferenceReach::kYes
                                             : last.is_grammatical ? forest::ReferenceReach::kAdded
                                                                   : forest::ReferenceReach::kHoles));
  score_edges();
  // Nodes below the goal, and their edges.
  std::vector<size_t> first(nodes_.size() + 1, 0);
  for (const Edge& edge : edges_) ++first[at(edge.head) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  kept_number_.assign(nodes_.size(), -1);
  kept_number_.back() = 0;
  for (size_t v = nodes_.size(); v-- > 0;) {
    if (kept_number_[v] < 0) continue;
    for (size_t e = first[v]; e < first[v + 1]; ++e)
      for (const int32_t tail : tails_of(edges_[e])) kept_number_[at(tail)] = 0;
  }
  int32_t n_kept = 0;
  for (int32_t& number : kept_number_)
    if (number == 0) number = n_kept++;
  const size_t n_edges = out.kinds.size(), n_nodes = out.first_edge.size() - 1, n_tails = out.tails.values.size(),
               n_features = out.feature_ids.values.size();
  bool has_wrong = false;
  for (size_t v = 0; v < nodes_.size(); ++v) {
    if (kept_number_[v] < 0) continue;
    const Node& node = nodes_[v];
    for (const int32_t place : {node.source.begin, node.source.end, node.target.begin, node.target.end})
      out.spans.push_back(place);
    for (size_t e = first[v]; e < first[v + 1]; ++e) {
      const Edge& edge = edges_[e];
      features_.clear();
      append_features(edge, features_);
      const ChartRules& rules = rules_in(edge.table);
      const int64_t rule =
          edge.kind == ReferenceEdge::kHole ? -1 : rules.grammar_id(rules.rule(rules.choice(edge.choice)));
      write_edge(edge.kind, rule, prior_of(edge), 1.0, tails_of(edge), features_, out);
    }
    const size_t n_own = out.kinds.size();
    const double outside = outside_[v];
    if (settings_.wide) {
      // The priors of what is replaced differ; the best one's is taken.
      const Edge* best = nullptr;
      for (size_t e = first[v]; e < first[v + 1]; ++e)
        if (edges_[e].kind == ReferenceEdge::kReference && (best == nullptr || edges_[e].score > best->score))
          best = &edges_[e];
      if (best != nullptr && best->n_choices > 0) {
        std::vector<Match> matches = matches_[at(node.source.begin) * (at(n_words_) + 1) + at(node.source.end)];
        std::erase_if(matches, [&](const Match& match) { return match.label != node.label; });
        write_wrong(*best, matches, prior_of(*best), outside, out);
      }
    } else {
      for (size_t e = first[v]; e < first[v + 1]; ++e) {
        const Edge edge = edges_[e];
        if (edge.n_choices == 0) continue;
        const Match match{node.label, edge.first_choice, edge.n_choices, edge.first_tail, edge.n_tails, edge.table};
        write_wrong(edge, std::span(&match, 1), prior_of(edge), outside, out);
      }
    }
    has_wrong = has_wrong || out.kinds.size() > n_own;
    out.first_edge.push_back(static_cast<int64_t>(out.kinds.size()));
  }
  if (!has_wrong) {  // nothing can be learned from it
    out.kinds.resize(n_edges);
    out.rules.resize(n_edges);
    out.priors.resize(n_edges);
    out.gains.resize(n_edges);
    out.tails.offsets.resize(n_edges + 1);
    out.tails.values.resize(n_tails);
    out.feature_ids.offsets.resize(n_edges + 1);
    out.feature_ids.values.resize(n_features);
    out.feature_values.resize(n_features);
    out.first_edge.resize(n_nodes + 1);
    out.spans.resize(4 * n_nodes);
  }
  out.first_node.push_back(static_cast<int64_t>(out.first_edge.size()) - 1);
}

}  // namespace dragoman::search
