#include "core/search/phrase_references.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/at.hh"
#include "core/grammar/key.hh"

namespace dragoman::search {

using forest::ReferenceEdge;
using forest::ReferenceReach;

namespace {

constexpr double kWorst = -std::numeric_limits<double>::infinity();

}  // namespace

size_t PhraseReferences::KeyHash::operator()(const Key& key) const {
  uint64_t hash = grammar::kHashStart;
  for (const int32_t part : key) hash = grammar::hash_extend(hash, part);
  return grammar::mix64(hash);
}

PhraseReferences::PhraseReferences(const PhraseSettings& settings, const PhraseFeatures& features, const lm::Model* lm,
                                   std::span<const uint32_t> lm_words, std::span<const double> weights,
                                   const ReferenceSettings& reference_settings)
    : settings_(settings),
      features_(features),
      lm_(lm),
      lm_words_(lm_words),
      weights_(weights),
      reference_settings_(reference_settings),
      transitions_(features, prepared_, coverages_),
      text_(lm, lm_words) {}

void PhraseReferences::run(const PhraseBatch& batch, int64_t sentence, std::span<const int32_t> target,
                           std::span<const align::Link> links, forest::ReferenceForests& out) {
  batch_ = &batch;
  sentence_ = sentence;
  reference_ = target;
  n_words_ = static_cast<int32_t>(batch.pass_through[sentence].size());
  n_target_ = static_cast<int32_t>(target.size());
  if (n_words_ == 0 || n_target_ == 0 || links.empty() || std::max(n_words_, n_target_) > kMaxWords) {
    out.end_sentence(ReferenceReach::kNo);
    return;
  }
  links_.assign(n_words_, n_target_, links);
  prepare(batch, sentence);
  text_.start(reference_);
  find_arcs();
  ReferenceReach reach = ReferenceReach::kYes;
  if (!connect()) {
    reach = ReferenceReach::kHoles;
    if (reference_settings_.holes) add_holes(links);
    if (!reference_settings_.holes || !connect()) {
      out.end_sentence(ReferenceReach::kNo);
      return;
    }
  }
  split();
  score_edges();
  forest::ReferenceForests found;
  if (!write(found)) found = {};  // nothing can be learned from it
  found.end_sentence(reach);
  out.append(found);
}

void PhraseReferences::prepare(const PhraseBatch& batch, int64_t sentence) {
  Prepared& p = prepared_;
  p.collect(batch, sentence, features_, weights_);
  p.estimate(0, [&](std::span<Option> options) {
    for (Option& o : options) {
      o.first_word = static_cast<uint32_t>(p.lm_words.size());
      double alone = 0;
      lm::State state = lm_ == nullptr ? lm::State{} : lm_->empty_state();
      for (const int32_t word : target_of(batch, sentence, o)) {
        const uint32_t id = at(word) < lm_words_.size() ? lm_words_[at(word)] : lm::kUnk;
        p.lm_words.push_back(id);
        if (lm_ != nullptr) alone += static_cast<double>(lm_->score(state, id, state));
      }
      o.n_words = static_cast<uint32_t>(p.lm_words.size()) - o.first_word;
      o.estimate = o.local + weight_of(weights_, features_.lm) * alone;
    }
  });
  p.finish(batch, features_, weights_, settings_);
  coverages_.start(n_words_, settings_.distortion_limit, p.costs);
  transitions_.start(batch, sentence, {});
}

std::span<const int32_t> PhraseReferences::target_words(int32_t option) const {
  return target_of(*batch_, sentence_, prepared_.options[at(option)]);
}

// ---- segmentations

void PhraseReferences::find_arcs() {
  arcs_.assign(at(n_target_), {});
  for (size_t i = 0; i < prepared_.options.size(); ++i) {
    const SourceSpan span = prepared_.options[i].span;
    int32_t low = n_target_, high = -1;
    for (int32_t p = span.begin; p < span.end; ++p) {
      low = std::min(low, links_.low[at(p)]);
      high = std::max(high, links_.high[at(p)]);
    }
    const int32_t inside = links_.of_source(span.begin, span.end);
    if (high < 0 || links_.of_target(low, high + 1) != inside) continue;
    const auto words = target_words(static_cast<int32_t>(i));
    const auto length = static_cast<int32_t>(words.size());
    for (int32_t begin = std::max(0, high + 1 - length); begin <= std::min(low, n_target_ - length); ++begin)
      if (links_.of_target(begin, begin + length) == inside &&
          std::equal(words.begin(), words.end(), reference_.begin() + begin))
        arcs_[at(begin)].push_back({span, begin + length, static_cast<int32_t>(i)});
  }
}

// Phrase pairs that cannot be made of smaller ones: nodes of the minimal tree that have links of their own, with the
// words without links up to the next ones with some. They alone are enough to cover the pair.
void PhraseReferences::add_holes(std::span<const align::Link> links) {
  std::vector<align::TreeNode> tree;
  trees_.build(n_words_, n_target_, links, tree);
  std::vector<int32_t> n_links(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const int32_t own = links_.of_source(tree[i].source_begin, tree[i].source_end);
    n_links[i] += own;
    if (tree[i].parent >= 0) n_links[at(tree[i].parent)] -= own;
  }
  for (size_t i = 0; i < tree.size(); ++i) {
    if (n_links[i] == 0) continue;
    align::TreeNode node = tree[i];
    while (!links_.has_source(node.source_begin)) ++node.source_begin;
    while (!links_.has_source(node.source_end - 1)) --node.source_end;
    while (!links_.has_target(node.target_begin)) ++node.target_begin;
    while (!links_.has_target(node.target_end - 1)) --node.target_end;
    while (node.source_end < n_words_ && !links_.has_source(node.source_end)) ++node.source_end;
    while (node.target_end < n_target_ && !links_.has_target(node.target_end)) ++node.target_end;
    if (links_.of_source(0, node.source_begin) == 0) node.source_begin = 0;
    if (links_.of_target(0, node.target_begin) == 0) node.target_begin = 0;
    arcs_[at(node.target_begin)].push_back({{node.source_begin, node.source_end}, node.target_end, kHole});
  }
}

// Words that are free beside a phrase, and none of which has a link, are never covered: every phrase has one.
bool PhraseReferences::leaves_dead_gap(uint32_t coverage, SourceSpan span) const {
  int32_t p = span.begin - 1;
  while (p >= 0 && !coverages_.is_covered(coverage, p) && !links_.has_source(p)) --p;
  if (p < span.begin - 1 && (p < 0 || coverages_.is_covered(coverage, p))) return true;
  p = span.end;
  while (p < n_words_ && !coverages_.is_covered(coverage, p) && !links_.has_source(p)) ++p;
  return p > span.end && (p == n_words_ || coverages_.is_covered(coverage, p));
}

int32_t PhraseReferences::state_after(int32_t from, const Arc& arc, int32_t target_begin) {
  const Hypothesis before = states_[at(from)].hypothesis;
  State state{};
  state.hypothesis.coverage = coverages_.extend(before.coverage, arc.span);
  if (leaves_dead_gap(state.hypothesis.coverage, arc.span)) return -1;
  const Option hole{arc.span, 0, 0, 0, {}, -1, 0, 0};
  transitions_.complete(before, arc.option == kHole ? hole : prepared_.options[at(arc.option)], state.hypothesis);
  const Key key{static_cast<int32_t>(state.hypothesis.coverage),
                static_cast<int32_t>(state.hypothesis.blocks),
                arc.span.begin,
                arc.span.end,
                target_begin,
                2 * arc.target_end + (arc.option == kHole ? 1 : 0)};
  const auto [found, is_new] = known_.try_emplace(key, static_cast<int32_t>(states_.size()));
  if (!is_new) return found->second;
  state.span = arc.span;
  state.target = {target_begin, arc.target_end};
  state.option = arc.option;
  states_by_end_[at(arc.target_end)].push_back(static_cast<int32_t>(states_.size()));
  states_.push_back(state);
  return found->second;
}

bool PhraseReferences::connect() {
  known_.clear();
  steps_.clear();
  states_.assign(1, {});
  states_[0].option = kHole;
  states_by_end_.assign(at(n_target_) + 1, {});
  states_by_end_[0].push_back(0);
  for (int32_t t = 0; t < n_target_; ++t)
    for (size_t k = 0; k < states_by_end_[at(t)].size(); ++k) {
      const int32_t from = states_by_end_[at(t)][k];
      for (const Arc& arc : arcs_[at(t)]) {
        bool is_free = true;
        for (int32_t p = arc.span.begin; is_free && p < arc.span.end; ++p)
          is_free = !coverages_.is_covered(states_[at(from)].hypothesis.coverage, p);
        if (!is_free) continue;
        if (const int32_t to = state_after(from, arc, t); to >= 0) steps_.push_back({from, to});
        if (states_.size() > kMaxStates || steps_.size() > 8 * kMaxStates) return false;
      }
    }
  bool has_end = false;
  for (const int32_t id : states_by_end_[at(n_target_)])
    if (coverages_.n_covered(states_[at(id)].hypothesis.coverage) == n_words_)
      has_end = states_[at(id)].is_alive = true;
  // Steps are in the order of where they begin.
  for (size_t i = steps_.size(); i-- > 0;)
    if (states_[at(steps_[i].to)].is_alive) states_[at(steps_[i].from)].is_alive = true;
  return has_end;
}

// Groups, in the order of their states' ends, and the edges between them.
void PhraseReferences::split() {
  groups_.clear();
  edges_.clear();
  goals_.clear();
  std::erase_if(steps_, [&](const Step& step) { return !states_[at(step.to)].is_alive; });
  std::vector<std::vector<SourceSpan>> next(states_.size());
  for (const Step& step : steps_) next[at(step.from)].push_back(states_[at(step.to)].span);
  for (const auto& ids : states_by_end_)
    for (const int32_t id : ids) {
      State& state = states_[at(id)];
      if (!state.is_alive) continue;
      state.first_group = static_cast<int32_t>(groups_.size());
      if (next[at(id)].empty()) {
        goals_.push_back(static_cast<int32_t>(groups_.size()));
        groups_.push_back({id, {}, {}});
      }
      for (const SourceSpan span : next[at(id)]) {
        state.n_groups = static_cast<int32_t>(groups_.size()) - state.first_group;
        if (id == 0 && state.n_groups > 0) break;  // nothing stands before the first phrase
        if (group_of(id, span) >= 0) continue;
        const auto types = transitions_.leaving_types(state.hypothesis, span);
        groups_.push_back({id, span, {types.begin(), types.end()}});
      }
      state.n_groups = static_cast<int32_t>(groups_.size()) - state.first_group;
    }
  for (const Step& step : steps_) {
    const State& to = states_[at(step.to)];
    const int32_t tail = step.from == 0 ? 0 : group_of(step.from, to.span);
    for (int32_t head = to.first_group; head < to.first_group + to.n_groups; ++head)
      edges_.push_back({head, tail, to.option});
  }
  std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.head < b.head; });
}

int32_t PhraseReferences::group_of(int32_t id, SourceSpan next) {
  const State& state = states_[at(id)];
  const auto types = transitions_.leaving_types(state.hypothesis, next);
  for (int32_t g = state.first_group; g < state.first_group + state.n_groups; ++g)
    if (std::ranges::equal(groups_[at(g)].types, types)) return g;
  return -1;
}

// ---- edges

// Of a phrase in the place of an edge: the option itself, or another of its span.
void PhraseReferences::append_features(const Edge& edge, int32_t option, std::vector<forest::Feature>& out) {
  const State& before = states_[at(groups_[at(edge.tail)].state)];
  const Group& group = groups_[at(edge.head)];
  const State& state = states_[at(group.state)];
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  add(features_.distortion, -static_cast<float>(std::abs(state.span.begin - before.hypothesis.last_end)));
  if (option == kHole) {
    add(features_.words, static_cast<float>(state.target.end - state.target.begin));
    return;
  }
  const Option& chosen = prepared_.options[at(option)];
  append_local_features(*batch_, sentence_, features_, chosen, out);
  transitions_.append_entering(before.hypothesis, chosen, out);
  if (group.next == SourceSpan{}) return;
  Hypothesis with = state.hypothesis;
  with.carry = chosen.carry;
  transitions_.append_leaving(with, group.next, out);
}

float PhraseReferences::prior_of(int32_t option) const {
  if (option == kHole) return static_cast<float>(reference_settings_.hole_prior);
  const int64_t source = prepared_.options[at(option)].source;
  if (source < 0 || batch_->counts.empty() || batch_->counts[at(source)] < 1) return 0;
  return static_cast<float>(std::log(static_cast<double>(batch_->counts[at(source)])));
}

double PhraseReferences::weigh(std::span<const forest::Feature> features) const {
  double sum = 0;
  for (const forest::Feature& f : features) sum += weight_of(weights_, f.id) * static_cast<double>(f.value);
  return sum;
}

// The best derivation through each edge; those that are of no use go.
void PhraseReferences::score_edges() {
  inside_.assign(groups_.size(), kWorst);
  outside_.assign(groups_.size(), kWorst);
  inside_[0] = 0;
  for (Edge& edge : edges_) {
    row_.clear();
    append_features(edge, edge.option, row_);
    const auto prior = static_cast<double>(prior_of(edge.option));
    edge.score = weigh(row_) + (edge.option == kHole ? prior : reference_settings_.prior_weight * prior);
    inside_[at(edge.head)] = std::max(inside_[at(edge.head)], inside_[at(edge.tail)] + edge.score);
  }
  best_ = kWorst;
  for (const int32_t goal : goals_) {
    outside_[at(goal)] = 0;
    best_ = std::max(best_, inside_[at(goal)]);
  }
  for (size_t i = edges_.size(); i-- > 0;) {
    const Edge& edge = edges_[i];
    outside_[at(edge.tail)] = std::max(outside_[at(edge.tail)], outside_[at(edge.head)] + edge.score);
  }
  // Rounding must not cost the best derivation one of its edges.
  const double least = best_ - reference_settings_.beam - 1e-9 * (1 + std::fabs(best_));
  std::erase_if(edges_, [&](const Edge& edge) {
    return !(outside_[at(edge.head)] + edge.score + inside_[at(edge.tail)] >= least);
  });
}

void PhraseReferences::write_wrong(const Edge& edge, int32_t tail, forest::ReferenceForests& out) {
  const State& state = states_[at(groups_[at(edge.head)].state)];
  const auto options = prepared_.of_span(state.span.begin, state.span.end - state.span.begin);
  const auto first = static_cast<int32_t>(options.data() - prepared_.options.data());
  const float prior = prior_of(edge.option);
  const double around =
      outside_[at(edge.head)] + inside_[at(edge.tail)] + reference_settings_.prior_weight * static_cast<double>(prior);
  int32_t n_met = 0;
  for (int32_t other = first; other < first + static_cast<int32_t>(options.size()); ++other) {
    if (other == edge.option) continue;
    if (reference_settings_.max_wrong > 0 && n_met++ == reference_settings_.max_wrong) return;
    const Option& option = prepared_.options[at(other)];
    symbols_.clear();
    for (uint32_t w = option.first_word; w < option.first_word + option.n_words; ++w)
      symbols_.push_back(static_cast<int32_t>(prepared_.lm_words[w]));
    row_.clear();
    append_features(edge, other, row_);
    const auto change = static_cast<float>(text_.lm_change(symbols_, {}, state.target));
    if (features_.lm >= 0 && change != 0) row_.push_back({features_.lm, change});
    if (around + weigh(row_) < best_ - reference_settings_.wrong_beam) continue;
    const int64_t rule = option.source >= 0 ? batch_->rules[at(option.source)] : -1;
    out.add_edge(ReferenceEdge::kWrong, rule, prior, text_.gain(target_words(other), {}, state.target),
                 std::span(&tail, 1), row_);
  }
}

// Whether there is a replacement.
bool PhraseReferences::write(forest::ReferenceForests& out) {
  std::vector<int32_t> number(groups_.size(), -1);
  std::vector<size_t> first(groups_.size() + 1, 0);
  for (const Edge& edge : edges_) ++first[at(edge.head) + 1];
  for (size_t g = 0; g < groups_.size(); ++g) first[g + 1] += first[g];
  const double least = best_ - reference_settings_.beam - 1e-9 * (1 + std::fabs(best_));
  std::erase_if(goals_, [&](int32_t goal) { return inside_[at(goal)] < least; });
  for (const int32_t goal : goals_) number[at(goal)] = 0;
  for (size_t g = groups_.size(); g-- > 0;)
    if (number[g] == 0)
      for (size_t e = first[g]; e < first[g + 1]; ++e) number[at(edges_[e].tail)] = 0;
  int32_t n_kept = 0;
  for (int32_t& n : number)
    if (n == 0) n = n_kept++;
  bool has_wrong = false;
  out.add_edge(ReferenceEdge::kReference, -1, 0, 1, {}, {});
  out.end_node({0, 0, 0, 0});
  for (size_t g = 1; g < groups_.size(); ++g) {
    if (number[g] < 0) continue;
    const State& state = states_[at(groups_[g].state)];
    for (size_t e = first[g]; e < first[g + 1]; ++e) {
      row_.clear();
      append_features(edges_[e], edges_[e].option, row_);
      const int64_t source = edges_[e].option == kHole ? -1 : prepared_.options[at(edges_[e].option)].source;
      out.add_edge(edges_[e].option == kHole ? ReferenceEdge::kHole : ReferenceEdge::kReference,
                   source < 0 ? -1 : batch_->rules[at(source)], prior_of(edges_[e].option), 1,
                   std::span(&number[at(edges_[e].tail)], 1), row_);
    }
    const size_t n_own = out.kinds.size();
    for (size_t e = first[g]; e < first[g + 1]; ++e)
      if (edges_[e].option != kHole) write_wrong(edges_[e], number[at(edges_[e].tail)], out);
    has_wrong = has_wrong || out.kinds.size() > n_own;
    out.end_node({state.span.begin, state.span.end, state.target.begin, state.target.end});
  }
  row_.clear();
  if (features_.lm >= 0 && lm_ != nullptr) row_.push_back({features_.lm, static_cast<float>(text_.lm_total())});
  for (const int32_t goal : goals_)
    out.add_edge(ReferenceEdge::kReference, -1, 0, 1, std::span(&number[at(goal)], 1), row_);
  out.end_node({0, n_words_, 0, n_target_});
  return has_wrong;
}

}  // namespace dragoman::search
