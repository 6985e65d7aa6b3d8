#include "core/optim/margin.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/base/parallel.hh"

namespace dragoman::optim {

MarginLearner::MarginLearner(std::shared_ptr<const pool::Lists> lists, std::vector<double> start,
                             std::vector<double> rates, std::optional<metric::PseudoCorpus> context,
                             const MarginSettings& settings)
    : lists_(std::move(lists)),
      weights_(std::move(start)),
      past_(weights_.size()),
      rates_(std::move(rates)),
      context_(std::move(context)),
      settings_(settings) {
  if (rates_.size() != weights_.size()) throw std::invalid_argument("rates: one element per weight expected");
  if (!std::all_of(rates_.begin(), rates_.end(), [](double rate) { return rate >= 0 && std::isfinite(rate); }))
    throw std::invalid_argument("a rate is a number that is not negative");
  if (std::all_of(rates_.begin(), rates_.end(), [](double rate) { return rate == 1; })) rates_.clear();
  if (settings_.local_size < 1) throw std::invalid_argument("a local hope is sought among at least one candidate");
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
  if (moved_.size() < n_workers) moved_.resize(n_workers);
  if (settings_.cutting_plane)
    for (auto& one : moved_) one.resize(weights_.size());
  Pass pass;
  for (size_t begin = 0; begin < positions.size(); begin += visits.size()) {
    const size_t n = std::min(visits.size(), positions.size() - begin);
    const auto look_at = [&](int64_t i, int worker) {
      look((*lists_)[positions[begin + static_cast<size_t>(i)]], visits[static_cast<size_t>(i)],
           moved_[static_cast<size_t>(worker)]);
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
      count(visit, pass);
      if (context_)
        context_->add(lists_->stats(list, settings_.hope_background ? visit.hope : visit.best), list.length);
    }
    ticks_ += static_cast<int64_t>(n);
  }
  return pass;
}

void MarginLearner::count(const Visit& visit, Pass& pass) const {
  const double low = visit.scores[visit.worst], spread = visit.scores[visit.hope] - low;
  ++pass.n_lists;
  pass.n_updates += visit.dual.moved();
  pass.n_margin += visit.margin.fired(visit.dual, 1);
  pass.n_upper += visit.upper.fired(visit.dual, -1);
  pass.n_lower += (settings_.exact ? visit.upper : visit.lower).fired(visit.dual, 1);
  pass.loss += visit.loss;
  pass.spread += spread;
  pass.spread_square += spread * spread;
  pass.score_range += visit.scores[visit.best] - low;
  pass.gain_range += visit.gain_range;
}

Survey MarginLearner::survey(std::span<const int64_t> positions, double score_scale, double gain_scale, int n_threads,
                             Control& control) const {
  std::vector<Survey> each(positions.size());
  parallel_chunks(static_cast<int64_t>(positions.size()), 16, n_threads, control, [&](int64_t begin, int64_t end, int) {
    Visit visit;
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const pool::CandidateList list = (*lists_)[positions[i]];
      if (list.size() < 2) continue;
      compare(list, visit, score_scale, settings_.gain_scale * gain_scale);
      const auto square = [&](size_t candidate) {
        const Direction direction = difference(list, visit.hope, candidate);
        return dot(direction, direction);
      };
      Survey& one = each[i];
      one.n_lists = 1;
      one.score_range = visit.scores[visit.best] - visit.scores[visit.worst];
      one.gain_range = visit.gain_range;
      one.fear_square = square(find_fear(visit.scores, visit.gains, settings_.fear));
      one.worst_square = square(visit.worst);
    }
  });
  Survey sums;
  for (const Survey& one : each) {
    sums.n_lists += one.n_lists;
    sums.n_fear += one.fear_square > 0;
    sums.n_worst += one.worst_square > 0;
    sums.score_range += one.score_range;
    sums.gain_range += one.gain_range;
    sums.fear_square += one.fear_square;
    sums.worst_square += one.worst_square;
  }
  return sums;
}

void MarginLearner::compare(const pool::CandidateList& list, Visit& visit, double score_scale,
                            double gain_scale) const {
  pool::score_list(list, weights_, visit.scores);
  for (double& score : visit.scores) score *= score_scale;
  visit.gains.resize(list.size());
  for (size_t c = 0; c < list.size(); ++c)
    visit.gains[c] =
        gain_scale * (context_ ? context_->gain(lists_->stats(list, c), list.length, visit.total) : list.gains()[c]);
  visit.hope = find_hope(visit.scores, visit.gains, settings_.hope, settings_.local_size);
  const auto [least, most] = std::minmax_element(visit.gains.begin(), visit.gains.end());
  visit.gain_range = *most - *least;
  const auto begin = visit.scores.begin(), end = visit.scores.end();
  visit.best = static_cast<size_t>(std::max_element(begin, end) - begin);
  visit.worst = static_cast<size_t>(std::min_element(begin, end) - begin);
}

void MarginLearner::look(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const {
  visit.dual.clear();
  visit.members.clear();
  if (list.size() == 0) return;
  compare(list, visit, 1, settings_.gain_scale);
  visit.margin.clear(settings_.limit);
  visit.upper.clear(settings_.bound_limit);
  visit.lower.clear(settings_.bound_limit);
  if (settings_.cutting_plane)
    cutting_plane(list, visit, moved);
  else
    passive_aggressive(list, visit);
}

Direction MarginLearner::difference(const pool::CandidateList& list, size_t a, size_t b) const {
  return {pool::difference(list.shard->candidates, list.begin + static_cast<int64_t>(a),
                           list.begin + static_cast<int64_t>(b), {}),
          rates_};
}

size_t MarginLearner::member(const pool::CandidateList& list, Visit& visit, size_t candidate) const {
  const auto found = std::find(visit.members.begin(), visit.members.end(), static_cast<int64_t>(candidate));
  if (found != visit.members.end()) return static_cast<size_t>(found - visit.members.begin());
  visit.members.push_back(static_cast<int64_t>(candidate));
  return visit.dual.add(difference(list, visit.hope, candidate), visit.scores[visit.hope] - visit.scores[candidate]);
}

// One constraint of each kind, the most violated one at w_t; one step for each.
void MarginLearner::passive_aggressive(const pool::CandidateList& list, Visit& visit) const {
  const auto& scores = visit.scores;
  const auto& gains = visit.gains;
  const size_t hope = visit.hope, fear = find_fear(scores, gains, settings_.fear);
  const double cost = gains[hope] - gains[fear];
  visit.loss = std::max(0.0, cost - (scores[hope] - scores[fear]));
  if (visit.loss > 0) visit.margin.add(member(list, visit, fear), 1, cost);
  const Excess above = settings_.bound.most_violated(scores, gains, hope, 1);
  if (above.violation > 0) visit.upper.add(member(list, visit, above.candidate), -1, -above.bound);
  const Excess below = settings_.bound.most_violated(scores, gains, hope, -1);
  if (below.violation > 0)
    (settings_.exact ? visit.upper : visit.lower).add(member(list, visit, below.candidate), 1, -below.bound);
  if (settings_.exact) {
    optimise(visit);
  } else {
    visit.margin.optimise(visit.dual, 1, 0);
    visit.upper.optimise(visit.dual, 1, 0);
    visit.lower.optimise(visit.dual, 1, 0);
  }
}

// Alg. 1: the working sets grow by the most violated constraint of each kind until none is violated by more than its
// tolerance.
void MarginLearner::cutting_plane(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const {
  const auto& gains = visit.gains;
  auto& now = visit.now;
  now = visit.scores;
  const size_t hope = visit.hope;
  Budget& lower = settings_.exact ? visit.upper : visit.lower;
  for (int round = 0; round < settings_.max_iterations; ++round) {
    const size_t fear = find_fear(now, gains, Fear::kCostBased);
    const double cost = gains[hope] - gains[fear];
    const Excess margin{fear, cost - (now[hope] - now[fear]), -cost};
    const Excess above = settings_.bound.most_violated(now, gains, hope, 1);
    const Excess below = settings_.bound.most_violated(now, gains, hope, -1);
    if (round == 0) visit.loss = std::max(0.0, margin.violation);
    const double xi = visit.margin.slack(visit.dual);
    const double tau_above = visit.upper.slack(visit.dual), tau_below = lower.slack(visit.dual);
    bool grown = false;
    const auto add = [&](Budget& budget, double sign, const Excess& most, double slack, double tolerance) {
      if (most.violation - slack > tolerance)
        grown |= budget.add(member(list, visit, most.candidate), sign, -most.bound);
    };
    add(visit.margin, 1, margin, xi, settings_.tolerance);
    add(visit.upper, -1, above, tau_above, settings_.bound_tolerance);
    add(lower, 1, below, tau_below, settings_.bound_tolerance);
    if (!grown) break;
    optimise(visit);
    rescore(list, visit, moved);
  }
}

// Alg. 2.
void MarginLearner::optimise(Visit& visit) const {
  const std::array<Solved, 3> budgets{{{&visit.margin, settings_.tolerance},
                                       {&visit.upper, settings_.bound_tolerance},
                                       {&visit.lower, settings_.bound_tolerance}}};
  solve(visit.dual, budgets, settings_.max_iterations);
}

// Scores by w_t plus the moves so far; `moved` is zero outside this call.
void MarginLearner::rescore(const pool::CandidateList& list, Visit& visit, std::vector<double>& moved) const {
  const Dual& dual = visit.dual;
  for (size_t m = 0; m < dual.size(); ++m) {
    const Direction& direction = dual.direction(m);
    for (size_t i = 0; i < direction.ids.size(); ++i)
      moved[static_cast<size_t>(direction.ids[i])] += dual.shift(m) * direction.step[i];
  }
  pool::score_list(list, moved, visit.now);
  for (size_t c = 0; c < visit.now.size(); ++c) visit.now[c] += visit.scores[c];
  for (size_t m = 0; m < dual.size(); ++m)
    for (const int32_t id : dual.direction(m).ids) moved[static_cast<size_t>(id)] = 0;
}

void MarginLearner::apply(const Visit& visit, double share) {
  const auto ticks = static_cast<double>(ticks_);
  for (size_t m = 0; m < visit.dual.size(); ++m) {
    const double shift = share * visit.dual.shift(m);
    const Direction& direction = visit.dual.direction(m);
    for (size_t i = 0; i < direction.ids.size(); ++i) {
      const double change = shift * direction.step[i];
      weights_[static_cast<size_t>(direction.ids[i])] += change;
      past_[static_cast<size_t>(direction.ids[i])] += ticks * change;
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
  std::copy(state.weights.begin(), state.weights.end(), weights_.begin());  // stays where views see it
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
