#include "core/search/forced_phrases.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/search/phrase_forest.hh"

namespace dragoman::search {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double edit_cost(OptionKind kind) { return kind == OptionKind::kPlain ? 0 : kEditCost; }

}  // namespace

ForcedPhraseSearcher::ForcedPhraseSearcher(const PhraseBatch& batch, const PhraseFeatures& features,
                                           const lm::Model* lm, std::span<const uint32_t> lm_words,
                                           std::span<const double> weights, std::span<const double> part_sums,
                                           int32_t distortion_limit, const ForcedSettings& settings,
                                           const Control& control)
    : batch_(batch),
      features_(features),
      lm_(lm),
      lm_words_(lm_words),
      weights_(weights),
      part_sums_(part_sums),
      forced_(settings),
      control_(control),
      transitions_(features, prepared_, coverages_) {
  settings_.option_limit = 0;
  settings_.distortion_limit = distortion_limit;
}

ForcedTranslation ForcedPhraseSearcher::run(int64_t sentence, std::span<const int32_t> target,
                                            std::span<const int32_t> copies) {
  sentence_ = sentence;
  target_ = target;
  copies_ = copies;
  is_complete_ = true;
  places_.start(target);
  if (search(false) || (forced_.may_edit && search(true))) return result();
  return {{}, {}, {}, {}, is_complete_};
}

std::span<const int32_t> ForcedPhraseSearcher::words_of(const Option& option) const {
  if (option.kind == OptionKind::kDeleted) return {};
  if (option.kind == OptionKind::kCopied) return copies_.subspan(at(option.span.begin), 1);
  return target_of(batch_, sentence_, option);
}

void ForcedPhraseSearcher::prepare(bool may_edit) {
  Prepared& p = prepared_;
  p.collect(batch_, sentence_, features_, weights_, [&](const Option& option) {
    const auto words = words_of(option);
    if (words.empty()) return true;
    if (!places_.has_all(words)) return false;
    return std::ranges::any_of(places_.of(words[0]),
                               [&](const auto& place) { return places_.reads(words, place.second); });
  });
  if (may_edit) add_edits();
  estimate_rests(may_edit);
  p.estimate(0, [&](std::span<Option> options) {
    for (Option& o : options) {
      o.n_words = static_cast<uint32_t>(words_of(o).size());
      o.local -= edit_cost(o.kind);
      // Half of what a copy costs is in the estimates of the target side.
      o.estimate = o.local + (o.kind == OptionKind::kCopied ? edit_cost(o.kind) / 2 : 0);
    }
  });
  p.finish(batch_, features_, weights_, settings_);
  if (batch_.oriented) p.orient(batch_, sentence_, part_sums_);
}

void ForcedPhraseSearcher::add_edits() {
  std::vector<Option> edits;
  for (int32_t p = 0; p < prepared_.n_words; ++p) {
    Option edit{{p, p + 1}, 0, 0, 0, {}, -1 - p, 0, 0, OptionKind::kDeleted};
    edits.push_back(edit);
    if (copies_[at(p)] < 0 || !places_.has(copies_[at(p)])) continue;
    const auto same = prepared_.of_span(p, 1);
    if (std::ranges::any_of(same, [](const Option& o) { return o.source < 0; })) continue;
    edit.kind = OptionKind::kCopied;
    edit.local = weight_of(weights_, features_.words) + weight_of(weights_, features_.unknown);
    edits.push_back(edit);
  }
  prepared_.add(edits);
}

void ForcedPhraseSearcher::estimate_rests(bool may_edit) {
  std::vector<std::vector<size_t>> lengths(target_.size());
  std::vector<char> is_copied(target_.size());
  for (const Option& option : prepared_.options) {
    const auto words = words_of(option);
    if (words.empty()) continue;
    for (const auto& [word, position] : places_.of(words[0])) {
      if (option.kind == OptionKind::kCopied) is_copied[at(position)] = 1;
      if (option.kind != OptionKind::kPlain || !places_.reads(words, position)) continue;
      auto& known = lengths[at(position)];
      if (std::ranges::find(known, words.size()) == known.end()) known.push_back(words.size());
    }
  }
  rests_.assign(target_.size() + 1, kNever);
  rests_.back() = 0;
  for (size_t t = target_.size(); t-- > 0;) {
    double& best = rests_[t];
    if (may_edit) best = rests_[t + 1] - kEditCost;
    if (is_copied[t]) best = std::max(best, rests_[t + 1] - kEditCost / 2);
    for (const size_t length : lengths[t]) best = std::max(best, rests_[t + length]);
  }
}

bool ForcedPhraseSearcher::search(bool may_edit) {
  prepare(may_edit);
  const auto n = prepared_.n_words, m = static_cast<int32_t>(target_.size());
  if (rests_[0] == kNever || prepared_.costs.of(0, n) == kNever) return false;
  coverages_.start(n, settings_.distortion_limit, prepared_.costs);
  transitions_.start(batch_, sentence_, part_sums_);
  Hypothesis first{};
  first.total = coverages_.future(0) + rests_[0];
  hypotheses_.start(first, n + m);
  for (int32_t done = 0;; ++done) {
    control_.check();
    const auto width = static_cast<size_t>(forced_.width);
    is_complete_ = is_complete_ && hypotheses_.stack(done).size() <= width;
    hypotheses_.prune(done, width, std::numeric_limits<double>::infinity());
    if (done == n + m) break;
    // Hypotheses are added to later stacks only.
    for (const int32_t id : hypotheses_.stack(done)) expand(id, may_edit);
  }
  return !hypotheses_.stack(n + m).empty();
}

void ForcedPhraseSearcher::expand(int32_t id, bool may_edit) {
  const Hypothesis before = hypotheses_[id];
  const auto position = static_cast<int32_t>(before.lm_state);
  Hypothesis h{};
  each_next_span(prepared_, coverages_, settings_.distortion_limit, before.coverage, before.last_end,
                 [&](SourceSpan span) {
                   const auto options = prepared_.of_span(span.begin, span.end - span.begin);
                   const auto first = static_cast<size_t>(options.data() - prepared_.options.data());
                   bool is_extended = false;
                   for (size_t i = first; i < first + options.size(); ++i) {
                     const Option& o = prepared_.options[i];
                     // Deletions in any order would make many ways to the same words.
                     if (o.kind == OptionKind::kDeleted && span.begin != before.last_end &&
                         span.begin != coverages_.first_gap(before.coverage))
                       continue;
                     if (!places_.reads(words_of(o), position)) continue;
                     if (!is_extended) h.coverage = coverages_.extend(before.coverage, span);
                     is_extended = true;
                     h.lm_state = before.lm_state + o.n_words;
                     h.score = before.score + o.local + transitions_.score(before, i) -
                               weight_of(weights_, features_.distortion) * std::abs(span.begin - before.last_end);
                     add(before, id, static_cast<int32_t>(i), h);
                   }
                 });
  if (!may_edit || at(position) == target_.size()) return;
  h = before;
  ++h.lm_state;
  h.score += weight_of(weights_, features_.words) - kEditCost;
  add(before, id, kInsertion, h);
}

void ForcedPhraseSearcher::add(const Hypothesis& before, int32_t from, int32_t option, Hypothesis& h) {
  h.total = h.score + coverages_.future(h.coverage) + rests_[h.lm_state];
  if (h.total == kNever) return;
  if (option != kInsertion) transitions_.complete(before, prepared_.options[at(option)], h);
  h.first_arc = -1;
  h.is_alive = false;
  hypotheses_.add_best(h, from, option, coverages_.n_covered(h.coverage) + static_cast<int32_t>(h.lm_state));
}

ForcedTranslation ForcedPhraseSearcher::result() {
  const int32_t n = prepared_.n_words;
  const auto& goals = hypotheses_.stack(n + static_cast<int32_t>(target_.size()));
  const auto best = std::ranges::max_element(goals, [&](int32_t a, int32_t b) {
    return hypotheses_[a].score != hypotheses_[b].score ? hypotheses_[a].score < hypotheses_[b].score : a > b;
  });
  std::vector<int32_t> chain{*best};
  while (chain.back() != 0) chain.push_back(hypotheses_.arc(hypotheses_[chain.back()].first_arc).from);
  std::reverse(chain.begin(), chain.end());

  ForcedTranslation found;
  found.is_complete = is_complete_;
  forest::Forest& forest = found.forest;
  std::vector<forest::Feature> features;
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) features.push_back({id, value});
  };
  lm::State state = lm_ == nullptr ? lm::State{} : lm_->begin_state();
  const auto lm_score = [&](uint32_t word) {
    return lm_ == nullptr ? 0.0 : static_cast<double>(lm_->score(lm::State(state), word, state));
  };
  std::vector<int32_t> symbols{forest::kBosWord};
  const int32_t start = forest.add_instance({-1, {0, 0}}, symbols, {});
  int32_t node = forest.add_node({-1, {0, 0}, 0});
  forest.add_edge(start, {}, {});
  for (size_t i = 1; i < chain.size(); ++i) {
    const Hypothesis &before = hypotheses_[chain[i - 1]], &h = hypotheses_[chain[i]];
    const int32_t number = hypotheses_.arc(h.first_arc).option;
    const auto position = static_cast<int32_t>(before.lm_state);
    const auto words = target_.subspan(before.lm_state, h.lm_state - before.lm_state);
    symbols.assign(1, forest::tail_symbol(0));
    symbols.insert(symbols.end(), words.begin(), words.end());
    features.clear();
    forest::Forest::Instance instance{-1, {before.last_end, before.last_end}};
    if (number == kInsertion) {
      found.inserted.push_back(position);
      add(features_.words, 1);
    } else {
      const Option& option = prepared_.options[at(number)];
      instance.span = {option.span.begin, option.span.end};
      if (option.kind == OptionKind::kDeleted) {
        found.deleted.push_back(option.span.begin);
      } else {
        if (option.kind == OptionKind::kCopied)
          found.copied.insert(found.copied.end(), {option.span.begin, position});
        else if (option.source >= 0)
          instance.rule = batch_.rules[at(option.source)];
        append_local_features(batch_, sentence_, features_, option, features);
      }
    }
    const int32_t with = forest.add_instance(instance, symbols, features);
    features.clear();
    double lm = 0;
    for (const int32_t word : words) lm += lm_score(at(word) < lm_words_.size() ? lm_words_[at(word)] : lm::kUnk);
    add(features_.lm, static_cast<float>(lm));
    if (number != kInsertion) {
      const Option& option = prepared_.options[at(number)];
      add(features_.distortion, -static_cast<float>(std::abs(option.span.begin - before.last_end)));
      transitions_.append_features(before, option, features);
    }
    const int32_t tail = node;
    node = forest.add_node({-1, covered_span(coverages_, h.coverage, n), coverages_.n_covered(h.coverage)});
    forest.add_edge(with, std::span(&tail, 1), features);
  }
  symbols.assign({forest::tail_symbol(0), forest::kEosWord});
  const int32_t last = forest.add_instance({-1, {n, n}}, symbols, {});
  features.clear();
  add(features_.lm, static_cast<float>(lm_score(lm::kEos)));
  forest.add_node({-1, {0, n}, n});
  forest.add_edge(last, std::span(&node, 1), features);
  std::ranges::sort(found.deleted);
  return found;
}

}  // namespace dragoman::search
