#include "core/optim/ramp.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/base/parallel.hh"
#include "core/optim/margin_dual.hh"

namespace dragoman::optim {

RampLearner::RampLearner(std::shared_ptr<const pool::Lists> lists, std::vector<double> start, std::vector<double> rates,
                         const RampSettings& settings)
    : lists_(std::move(lists)),
      weights_(start.size()),
      rates_(std::move(rates)),
      settings_(settings),
      hopes_(static_cast<size_t>(lists_->size()), -1) {
  if (rates_.size() != start.size()) throw std::invalid_argument("rates: one element per weight expected");
  if (!lists_->has_gains()) throw std::invalid_argument("a gain of every candidate expected");
  if (!(settings_.penalty >= 0 && settings_.penalty < 1))
    throw std::invalid_argument("the penalty of a step must be in [0, 1)");
  for (size_t i = 0; i < start.size(); ++i) weights_[i] = {start[i], 0};
}

void RampLearner::score(const pool::CandidateList& list, std::vector<double>& scores) const {
  const pool::Candidates& candidates = list.shard->candidates;
  scores.resize(list.size());
  for (size_t c = 0; c < scores.size(); ++c) {
    const auto row = static_cast<size_t>(list.begin) + c;
    double start = 0, offset = 0;
    for (auto i = static_cast<size_t>(candidates.rows[row]); i < static_cast<size_t>(candidates.rows[row + 1]); ++i) {
      const auto id = static_cast<uint32_t>(candidates.ids[i]);
      if (id >= weights_.size()) [[unlikely]]
        throw InputError("a candidate has a feature id beyond the index; the pool's files do not belong together");
      const auto value = static_cast<double>(candidates.values[i]);
      start += weights_[id].start * value;
      offset += weights_[id].offset * value;
    }
    scores[c] = start + scale_ * offset;
  }
}

void RampLearner::fix_hopes(std::span<const int64_t> positions, int n_threads, Control& control) {
  parallel_chunks(static_cast<int64_t>(positions.size()), 16, n_threads, control, [&](int64_t begin, int64_t end, int) {
    std::vector<double> scores;
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const pool::CandidateList list = (*lists_)[positions[i]];
      if (list.size() == 0) continue;
      score(list, scores);
      hopes_[static_cast<size_t>(positions[i])] =
          static_cast<int64_t>(find_hope(scores, list.gains(), settings_.hope, 0));
    }
  });
}

double RampLearner::descend(std::span<const int64_t> positions, Control& control) {
  std::vector<double> scores;
  double loss = 0;
  for (const int64_t position : positions) {
    control.check();
    const pool::CandidateList list = (*lists_)[position];
    if (list.size() == 0) continue;
    const int64_t fixed = hopes_[static_cast<size_t>(position)];
    if (fixed < 0) throw std::invalid_argument("the hope of a list is not fixed yet");
    score(list, scores);
    const auto gains = list.gains();
    const auto hope = static_cast<size_t>(fixed), fear = find_fear(scores, gains, settings_.fear);
    const double best = *std::max_element(gains.begin(), gains.end());
    loss += scores[fear] - scores[hope];
    if (settings_.fear != Fear::kPrediction) loss += best - gains[fear];
    if (settings_.hope != Hope::kModel) loss += best - gains[hope];
    scale_ *= 1 - settings_.penalty;
    if (scale_ < 1e-100) {  // after very many steps; keeps offsets finite
      for (Weight& weight : weights_) weight.offset *= scale_;
      scale_ = 1;
    }
    if (hope != fear) {
      const Direction omega(
          pool::difference(list.shard->candidates, list.begin + fixed, list.begin + static_cast<int64_t>(fear), {}),
          rates_);
      // No longer than what satisfies the margin: else, where features are huge, the first steps decide everything.
      const double cost = settings_.fear == Fear::kPrediction ? 0 : gains[hope] - gains[fear];
      const double enough = std::max(0.0, cost - (scores[hope] - scores[fear])) / dot(omega, omega);
      const double step = (enough < settings_.step ? enough : settings_.step) / scale_;
      for (size_t i = 0; i < omega.ids.size(); ++i)
        weights_[static_cast<size_t>(omega.ids[i])].offset += step * omega.step[i];
    }
    control.advance();
  }
  return loss;
}

std::vector<double> RampLearner::weights() const {
  std::vector<double> values(weights_.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = weights_[i].start + scale_ * weights_[i].offset;
  return values;
}

}  // namespace dragoman::optim
