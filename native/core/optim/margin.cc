#include "core/optim/margin.hh"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "core/base/parallel.hh"

namespace dragoman::optim {

namespace {

// A constraint that could join a working set.
struct Cut {
  double violation;
  size_t candidate;
  Budget* budget;
  double sign, rhs;
};

}  // namespace

MarginLearner::MarginLearner(std::shared_ptr<const pool::Lists> lists, std::vector<double> start,
                             std::vector<uint8_t> frozen, std::optional<metric::PseudoCorpus> context,
                             const MarginSettings& settings)
    : lists_(std::move(lists)),
      weights_(std::move(start)),
      past_(weights_.size()),
      frozen_(std::move(frozen)),
      context_(std::move(context)),
      settings_(settings) {
  if (frozen_.size() != weights_.size()) throw std::invalid_argument("frozen: one element per weight expected");
  if (std::none_of(frozen_.begin(), frozen_.end(), [](uint8_t f) { return f != 0; })) frozen_.clear();
  if (settings_.batch < 1) throw std::invalid_argument("a batch has at least one list");
  if (context_) context_->check();
  check(*lists_);
}

void MarginLearner::check(const pool::Lists& lists) const {
  if (context_ ? context_->background.size() != lists.n_stats() : !lists.has_gains())
    throw std::invalid_argument("gains of every candidate, or a context for their statistics, expected");
}

void MarginLearner::turn_to(std::shared_ptr<const pool::Lists> lists) {
  check(*lists);
  lists_ = std::move(lists);
}

Pass MarginLearner::visit(std::span<const int64_t> positions, int n_threads, Control& control) {
  std::vector<Visit> visits(
      static_cast<size_t>(std::min<int64_t>(settings_.batch, std::max<int64_t>(1, positions.size()))));
  const auto n_workers = static_cast<size_t>(std::clamp<int64_t>(n_threads, 1, static_cast<int64_t>(visits.size())));
  std::vector<std::vector<double>> moved(n_workers);
  if (settings_.cutting_plane)
    for (auto& one : moved) one.resize(weights_.size());
  Pass pass;
  for (size_t begin = 0; begin < positions.size(); begin += visits.size()) {
    const size_t n = std::min(visits.size(), positions.size() - begin);
    const auto look_at = [&](int64_t i, int worker) {
      look((*lists_)[positions[begin + static_cast<size_t>(i)]], visits[static_cast<size_t>(i)],
           moved[static_cast<size_t>(worker)]);
    };
    if (n == 1) {
      control.check();
      look_at(0, 0);
      control.advance();
    } else {
      parallel_chunks(static_cast<int64_t>(n), 1, static_cast<int>(n_workers), control,
                      [&](int64_t i, int64_t, int worker) { look_at(i, worker); });
    }
    for (size_t i = 0; i < n; ++i) {
      const pool::CandidateList list = (*lists_)[positions[begin + i]];
      if (list.size() == 0) continue;
      const Visit& visit = visits[i];
      apply(visit, 1.0 / static_cast<double>(n));
      ++pass.n_lists;
      pass.n_updates += visit.dual.moved();
      pass.loss += visit.loss;
      pass.spread += visit.spread;
      pass.spread_square += visit.spread * visit.spread;
      if (context_)
        context_->add(lists_->stats(list, settings_.hope_background ? visit.hope : visit.best), list.length);
    }
    ticks_ += static_cast<int64_t>(n);
  }
  return pass;
}

void MarginLearner::look(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const {
  visit.dual.clear();
  visit.members.clear();
  if (list.size() == 0) return;
  pool::score_list(list, weights_, visit.scores);
  if (context_) {
    visit.gains.resize(list.size());
    for (size_t c = 0; c < list.size(); ++c)
      visit.gains[c] = context_->gain(lists_->stats(list, c), list.length, visit.total);
  } else {
    const auto gains = list.gains();
    visit.gains.assign(gains.begin(), gains.end());
  }
  visit.hope = find_hope(visit.scores, visit.gains, settings_.hope);
  visit.best = find_fear(visit.scores, visit.gains, Fear::kModel);
  visit.spread = visit.scores[visit.hope] - *std::min_element(visit.scores.begin(), visit.scores.end());
  visit.margin.clear(settings_.limit);
  visit.upper.clear(settings_.bound_limit);
  visit.lower.clear(settings_.bound_limit);
  if (settings_.cutting_plane)
    cutting_plane(list, visit, moved);
  else
    passive_aggressive(list, visit);
}

size_t MarginLearner::member(const pool::CandidateList& list, Visit& visit, size_t candidate) const {
  const auto found = std::find(visit.members.begin(), visit.members.end(), static_cast<int64_t>(candidate));
  if (found != visit.members.end()) return static_cast<size_t>(found - visit.members.begin());
  visit.members.push_back(static_cast<int64_t>(candidate));
  return visit.dual.add(pool::difference(list.shard->candidates, list.begin + static_cast<int64_t>(visit.hope),
                                         list.begin + static_cast<int64_t>(candidate), frozen_),
                        visit.scores[visit.hope] - visit.scores[candidate]);
}

// One constraint of each kind, the most violated one at w_t; one step for each.
void MarginLearner::passive_aggressive(const pool::CandidateList& list, Visit& visit) const {
  const auto& scores = visit.scores;
  const auto& gains = visit.gains;
  const size_t hope = visit.hope, fear = find_fear(scores, gains, settings_.fear);
  const double cost = gains[hope] - gains[fear];
  visit.loss = std::max(0.0, cost - (scores[hope] - scores[fear]));
  if (visit.loss > 0) visit.margin.add(member(list, visit, fear), 1, cost);
  const auto worst = static_cast<size_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
  if (scores[hope] - scores[worst] > settings_.bound) visit.upper.add(member(list, visit, worst), -1, -settings_.bound);
  if (scores[visit.best] - scores[hope] > settings_.bound)
    (settings_.exact ? visit.upper : visit.lower).add(member(list, visit, visit.best), 1, -settings_.bound);
  if (settings_.exact) {
    optimise(visit);
  } else {
    visit.margin.optimise(visit.dual, 1, 0);
    visit.upper.step(visit.dual, 1, 0);
    visit.lower.step(visit.dual, 1, 0);
  }
}

// Alg. 1: the working sets grow by the most violated constraint until none is violated by more than the tolerance.
void MarginLearner::cutting_plane(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const {
  const auto& gains = visit.gains;
  auto& now = visit.now;
  now = visit.scores;
  const size_t hope = visit.hope;
  Budget& below = settings_.exact ? visit.upper : visit.lower;
  for (int round = 0; round < settings_.max_iterations; ++round) {
    const size_t fear = find_fear(now, gains, Fear::kCostAugmented);
    const size_t best = find_fear(now, gains, Fear::kModel);
    const auto worst = static_cast<size_t>(std::min_element(now.begin(), now.end()) - now.begin());
    const double cost = gains[hope] - gains[fear], hinge = cost - (now[hope] - now[fear]);
    if (round == 0) visit.loss = std::max(0.0, hinge);
    const double tau = settings_.exact ? visit.upper.slack(visit.dual) : 0;
    std::array<Cut, 3> cuts{{
        {hinge - visit.margin.slack(visit.dual), fear, &visit.margin, 1, cost},
        {now[hope] - now[worst] - settings_.bound - tau, worst, &visit.upper, -1, -settings_.bound},
        {now[best] - now[hope] - settings_.bound - tau, best, &below, 1, -settings_.bound},
    }};
    std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.violation > b.violation; });
    const bool grown = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) {
      return cut.violation > settings_.tolerance &&
             cut.budget->add(member(list, visit, cut.candidate), cut.sign, cut.rhs);
    });
    if (!grown) break;
    optimise(visit);
    rescore(list, visit, moved);
  }
}

// Alg. 2. Without `exact` the bounds have no budget of their own, only a limit to each step.
void MarginLearner::optimise(Visit& visit) const {
  const int most = settings_.max_iterations;
  const double tolerance = settings_.tolerance;
  for (int sweep = 0; sweep < most; ++sweep) {
    int n_steps = visit.margin.optimise(visit.dual, most, tolerance);
    if (settings_.exact) {
      n_steps += visit.upper.optimise(visit.dual, most, tolerance);
    } else {
      n_steps += visit.upper.step(visit.dual, most, tolerance);
      n_steps += visit.lower.step(visit.dual, most, tolerance);
    }
    if (n_steps == 0) break;
  }
}

// Scores by w_t plus the moves so far; `moved` is zero outside this call.
void MarginLearner::rescore(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const {
  const Dual& dual = visit.dual;
  for (size_t m = 0; m < dual.size(); ++m)
    for (size_t i = 0; i < dual.omega(m).ids.size(); ++i)
      moved[static_cast<size_t>(dual.omega(m).ids[i])] += dual.shift(m) * dual.omega(m).values[i];
  pool::score_list(list, moved, visit.now);
  for (size_t c = 0; c < visit.now.size(); ++c) visit.now[c] += visit.scores[c];
  for (size_t m = 0; m < dual.size(); ++m)
    for (const int32_t id : dual.omega(m).ids) moved[static_cast<size_t>(id)] = 0;
}

void MarginLearner::apply(const Visit& visit, double share) {
  const auto ticks = static_cast<double>(ticks_);
  for (size_t m = 0; m < visit.dual.size(); ++m) {
    const double shift = share * visit.dual.shift(m);
    const auto& [ids, values] = visit.dual.omega(m);
    for (size_t i = 0; i < ids.size(); ++i) {
      const double change = shift * values[i];
      weights_[static_cast<size_t>(ids[i])] += change;
      past_[static_cast<size_t>(ids[i])] += ticks * change;
    }
  }
}

MarginState MarginLearner::state() const {
  return {weights_, past_, ticks_, context_ ? context_->background : std::vector<double>{},
          context_ ? context_->length : 0.0};
}

void MarginLearner::restore(MarginState state) {
  const size_t n_stats = context_ ? context_->background.size() : 0;
  if (state.weights.size() != weights_.size() || state.past.size() != weights_.size() || state.ticks < 0 ||
      state.background.size() != n_stats)
    throw std::invalid_argument("the state is that of another learner");
  weights_ = std::move(state.weights);
  past_ = std::move(state.past);
  ticks_ = state.ticks;
  if (!context_) return;
  context_->background = std::move(state.background);
  context_->length = state.length;
}

std::vector<double> MarginLearner::average() const {
  std::vector<double> mean = weights_;
  if (ticks_ > 0)
    for (size_t i = 0; i < mean.size(); ++i) mean[i] -= past_[i] / static_cast<double>(ticks_);
  return mean;
}

}  // namespace dragoman::optim
