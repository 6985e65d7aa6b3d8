#include "core/optim/line_search.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/hull.hh"
#include "core/optim/corner_sort.hh"

namespace dragoman::optim {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Point::Point(const Surface& surface, std::span<const double> weights)
    : surface_(surface), weights_(weights.begin(), weights.end()), best_(surface.sentences_.size(), 0) {
  if (weights_.size() != surface.n_chosen()) throw std::invalid_argument("one weight per chosen feature expected");
  above_.resize(static_cast<size_t>(surface.largest_));
  kept_.resize(static_cast<size_t>(surface.largest_) + 1);
  hull_.resize(static_cast<size_t>(surface.largest_));
  touched_.assign(best_.size(), 0);
  refresh();
}

double Point::gain() const { return surface_.scorer().gain(total_); }

void Point::refresh() {
  scores_ = surface_.base_;
  for (size_t k = 0; k < weights_.size(); ++k) {
    if (weights_[k] == 0) continue;
    for (const auto& column : surface_.features_[k].columns) {
      const auto& sentence = surface_.sentences_[static_cast<size_t>(column.sentence)];
      const float* column_slopes = surface_.features_[k].slopes.data() + column.at;
      double* scores = scores_.data() + sentence.begin;
      for (int32_t i = 0; i < sentence.size; ++i) scores[i] += weights_[k] * static_cast<double>(column_slopes[i]);
    }
  }
  total_.assign(surface_.n_stats_, 0.0);
  for (size_t s = 0; s < best_.size(); ++s) {
    if (surface_.sentences_[s].size == 0) continue;
    choose(static_cast<int32_t>(s));
    const double* stats = stats_of(static_cast<int32_t>(s), best_[s]);
    for (size_t i = 0; i < total_.size(); ++i) total_[i] += stats[i];
  }
  rank_ = surface_.scorer().rank(total_);
}

void Point::choose(int32_t s) {
  const auto& sentence = surface_.sentences_[static_cast<size_t>(s)];
  const double* scores = scores_.data() + sentence.begin;
  int32_t best = 0;
  for (int32_t i = 1; i < sentence.size; ++i)
    if (scores[i] > scores[best]) best = i;
  best_[static_cast<size_t>(s)] = best;
}

void Point::begin_search() {
  ++n_searches_;
  openings_.clear();
  corners_.clear();
}

// A line can be on the envelope only if its (slope, score) is on the upper hull of the sentence's points. All points
// below the chords from the flattest line over the currently best one to the steepest are left out at once,
// which are most.
template <typename T>
void Point::measure(int32_t s, const T* slopes, int32_t left, int32_t right) {
  const auto& sentence = surface_.sentences_[static_cast<size_t>(s)];
  const double* scores = scores_.data() + sentence.begin;
  const int32_t top = best_[static_cast<size_t>(s)];
  const auto chord = [&](int32_t a, int32_t b) {
    return slopes[a] < slopes[b]
               ? (scores[b] - scores[a]) / (static_cast<double>(slopes[b]) - static_cast<double>(slopes[a]))
               : 0;
  };
  const double rise = chord(left, top), fall = chord(top, right);
  const double top_slope = static_cast<double>(slopes[top]), top_score = scores[top];
  double* const above = above_.data();
  for (int32_t i = 0; i < sentence.size; ++i) {
    const double x = static_cast<double>(slopes[i]) - top_slope;
    const double a = rise * x, b = fall * x;
    above[i] = (scores[i] - top_score) - (a < b ? a : b);
  }
}

void Point::add_envelope(const Surface::Feature& feature, const Surface::Column& column) {
  const auto& sentence = surface_.sentences_[static_cast<size_t>(column.sentence)];
  const double* scores = scores_.data() + sentence.begin;
  const float* slopes = feature.slopes.data() + column.at;
  const int32_t* order = feature.order.data() + column.at;
  const int32_t begin = column.n_flattest, end = sentence.size - column.n_steepest;
  int32_t left = order[0], right = order[end];  // the best of the flattest and of the steepest lines
  for (int32_t k = 1; k < begin; ++k)
    if (scores[order[k]] > scores[left]) left = order[k];
  for (int32_t k = end + 1; k < sentence.size; ++k)
    if (scores[order[k]] > scores[right]) right = order[k];
  measure(column.sentence, slopes, left, right);
  int32_t* const kept = kept_.data();
  size_t n_kept = 0;
  kept[n_kept++] = left;
  for (int32_t k = begin; k < end; ++k) {
    kept[n_kept] = order[k];
    n_kept += above_[static_cast<size_t>(order[k])] >= 0;
  }
  kept[n_kept++] = right;
  add_hull(column.sentence, slopes, {kept, n_kept});
}

void Point::add_envelope(int32_t s, const double* slopes) {
  const auto& sentence = surface_.sentences_[static_cast<size_t>(s)];
  const double* scores = scores_.data() + sentence.begin;
  int32_t left = 0, right = 0;
  for (int32_t i = 1; i < sentence.size; ++i) {
    if (slopes[i] < slopes[left] || (slopes[i] == slopes[left] && scores[i] > scores[left])) left = i;
    if (slopes[i] > slopes[right] || (slopes[i] == slopes[right] && scores[i] > scores[right])) right = i;
  }
  if (slopes[left] == slopes[right]) return;
  measure(s, slopes, left, right);
  size_t n_kept = 0;
  for (int32_t i = 0; i < sentence.size; ++i) {
    kept_[n_kept] = i;
    n_kept += above_[static_cast<size_t>(i)] >= 0 || i == left || i == right;
  }
  const std::span<int32_t> kept(kept_.data(), n_kept);
  std::sort(kept.begin(), kept.end(),
            [&](int32_t a, int32_t b) { return slopes[a] != slopes[b] ? slopes[a] < slopes[b] : a < b; });
  add_hull(s, slopes, kept);
}

template <typename T>
void Point::add_hull(int32_t s, const T* slopes, std::span<const int32_t> kept) {
  const double* scores = scores_.data() + surface_.sentences_[static_cast<size_t>(s)].begin;
  Line* const hull = hull_.data();
  size_t n = 0;
  for (const int32_t i : kept) n = add_to_hull(hull, n, Line{static_cast<double>(slopes[i]), scores[i], -kInfinity, i});
  for (size_t i = 1; i < n; ++i) corners_.push_back({hull[i].from, s, hull[i - 1].candidate, hull[i].candidate});
  const int32_t now = best_[static_cast<size_t>(s)];
  if (hull[0].candidate != now) openings_.push_back({-kInfinity, s, now, hull[0].candidate});
}

LineOptimum Point::search(size_t k, Interval bounds) {
  begin_search();
  const auto& feature = surface_.features_[k];
  for (const auto& column : feature.columns) add_envelope(feature, column);
  return sweep(bounds, std::abs(weights_[k]), feature.spread);
}

LineOptimum Point::search(std::span<const double> direction, Interval bounds) {
  if (direction.size() != weights_.size())
    throw std::invalid_argument("direction: one number per chosen feature expected");
  begin_search();
  slopes_.assign(scores_.size(), 0.0);
  double scale = 0, spread = 0;
  std::fill(touched_.begin(), touched_.end(), uint8_t{0});
  for (size_t k = 0; k < direction.size(); ++k) {
    if (direction[k] == 0) continue;
    scale = std::max(scale, std::abs(weights_[k] / direction[k]));
    spread = std::hypot(spread, direction[k] * surface_.features_[k].spread);
    for (const auto& column : surface_.features_[k].columns) {
      const auto& sentence = surface_.sentences_[static_cast<size_t>(column.sentence)];
      const float* column_slopes = surface_.features_[k].slopes.data() + column.at;
      touched_[static_cast<size_t>(column.sentence)] = 1;
      double* slopes = slopes_.data() + sentence.begin;
      for (int32_t i = 0; i < sentence.size; ++i) slopes[i] += direction[k] * static_cast<double>(column_slopes[i]);
    }
  }
  for (size_t s = 0; s < touched_.size(); ++s)
    if (touched_[s]) add_envelope(static_cast<int32_t>(s), slopes_.data() + surface_.sentences_[s].begin);
  return sweep(bounds, scale, spread);
}

double Point::reach(double spread) const {
  std::vector<double> sizes;
  for (size_t k = 0; k < weights_.size(); ++k)
    if (const double size = std::abs(weights_[k]) * surface_.features_[k].spread; size > 0) sizes.push_back(size);
  if (sizes.empty() || !(spread > 0)) return kInfinity;
  const auto middle = sizes.begin() + static_cast<int64_t>((sizes.size() - 1) / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle / spread;
}

void Point::prefetch(std::span<const Corner> corners, size_t i) const {
  constexpr size_t kAhead = 8;
  if (i + kAhead >= corners.size()) return;
  const Corner& corner = corners[i + kAhead];
  for (const int32_t candidate : {corner.from, corner.to}) {
    const double* stats = stats_of(corner.sentence, candidate);
    __builtin_prefetch(stats);
    __builtin_prefetch(stats + surface_.n_stats_ - 1);
  }
}

void Point::apply(const Corner& corner) {
  const double *from = stats_of(corner.sentence, corner.from), *to = stats_of(corner.sentence, corner.to);
  for (size_t i = 0; i < swept_.size(); ++i) swept_[i] += to[i] - from[i];
}

LineOptimum Point::sweep(Interval bounds, double scale, double spread) {
  if (corners_.empty()) return {0, rank_};
  sort_corners(corners_, sorted_);
  swept_ = total_;
  for (size_t i = 0; i < openings_.size(); ++i) {
    prefetch(openings_, i);
    apply(openings_[i]);
  }
  const auto advance = [&](size_t i) {
    prefetch(corners_, i);
    apply(corners_[i]);
  };
  return sweep_line(corners_.size(), [&](size_t i) { return corners_[i].at; }, advance, swept_, surface_.scorer(),
                    {rank_, scale, reach(spread), bounds});
}

// `shift(t)` adds t times the direction to weights and scores and calls back every sentence that it touched.
template <typename Shift>
bool Point::try_move(const LineOptimum& optimum, Shift&& shift) {
  if (optimum.step == 0) return false;
  const double old_rank = rank_;
  const auto update = [&](int32_t s) {
    const int32_t old = best_[static_cast<size_t>(s)];
    choose(s);
    if (best_[static_cast<size_t>(s)] == old) return;
    const double *from = stats_of(s, old), *to = stats_of(s, best_[static_cast<size_t>(s)]);
    for (size_t i = 0; i < total_.size(); ++i) total_[i] += to[i] - from[i];
  };
  const std::vector<double> weights = weights_;
  shift(optimum.step, update);
  rank_ = surface_.scorer().rank(total_);
  if (metric::exceeds(rank_, old_rank)) return true;
  shift(-optimum.step, update);
  weights_ = weights;
  rank_ = surface_.scorer().rank(total_);
  return false;
}

bool Point::move(size_t k, const LineOptimum& optimum) {
  return try_move(optimum, [&](double step, auto&& update) {
    weights_[k] += step;
    for (const auto& column : surface_.features_[k].columns) {
      const auto& sentence = surface_.sentences_[static_cast<size_t>(column.sentence)];
      const float* column_slopes = surface_.features_[k].slopes.data() + column.at;
      double* scores = scores_.data() + sentence.begin;
      for (int32_t i = 0; i < sentence.size; ++i) scores[i] += step * static_cast<double>(column_slopes[i]);
      update(column.sentence);
    }
  });
}

bool Point::move(std::span<const double> direction, const LineOptimum& optimum) {
  return try_move(optimum, [&](double step, auto&& update) {
    for (size_t k = 0; k < direction.size(); ++k) weights_[k] += step * direction[k];
    for (size_t s = 0; s < touched_.size(); ++s) {
      if (!touched_[s]) continue;
      const auto& sentence = surface_.sentences_[s];
      for (int64_t i = sentence.begin; i < sentence.begin + sentence.size; ++i)
        scores_[static_cast<size_t>(i)] += step * slopes_[static_cast<size_t>(i)];
      update(static_cast<int32_t>(s));
    }
  });
}

}  // namespace dragoman::optim
