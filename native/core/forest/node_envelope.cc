#include "core/forest/node_envelope.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/hull.hh"

namespace dragoman::forest {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr NodeEnvelopes::Line kNothing{0, 0, -kInfinity, -1};  // the envelope of a tail that is not there

}  // namespace

std::span<const NodeEnvelopes::Line> NodeEnvelopes::of_goal(const Forest& forest, std::span<const double> weights,
                                                            std::span<const double> direction, const Control& control) {
  const auto scores = forest.edge_scores(weights), slopes = forest.edge_scores(direction);
  lines_.clear();
  chain_.clear();
  first_line_.assign(1, 0);
  for (int32_t v = 0; v < forest.n_nodes(); ++v) {
    control.check();
    hull_.clear();
    for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e)
      add_edge({slopes[at(e)], scores[at(e)], -kInfinity, e}, forest.tails(e));
    lines_.insert(lines_.end(), hull_.begin(), hull_.end());
    first_line_.push_back(lines_.size());
  }
  return forest.n_nodes() ? lines_of(forest.goal()) : Lines{};
}

void NodeEnvelopes::append_edges(const Forest& forest, size_t i, std::vector<int32_t>& edges) {
  open_.assign(1, {forest.goal(), static_cast<uint32_t>(i)});
  while (!open_.empty()) {
    const auto [node, place] = open_.back();
    open_.pop_back();
    Line line = lines_of(node)[place];
    edges.push_back(line.edge);
    const auto tails = forest.tails(line.edge);
    // The last tail first, so that the first is on top.
    for (size_t k = tails.size(); k-- > 2; line = chain_[line.first]) open_.emplace_back(tails[k], line.second);
    if (tails.size() > 1) open_.emplace_back(tails[1], line.second);
    if (!tails.empty()) open_.emplace_back(tails[0], line.first);
  }
}

// Whether all lines of an edge with these tails are clearly below hull_. Between two corners of the hull an edge's
// envelope is convex and the hull is straight, so the corners and both ends decide.
bool NodeEnvelopes::is_hidden(const Line& edge, Lines first, Lines second) const {
  const auto below_end = [&](const Line& a, const Line& b, const Line& end, double sign) {
    const double slope = edge.slope + a.slope + b.slope;
    return sign * slope < sign * end.slope || (slope == end.slope && edge.score + a.score + b.score < end.score);
  };
  if (!below_end(first.front(), second.front(), hull_.front(), -1) ||
      !below_end(first.back(), second.back(), hull_.back(), 1))
    return false;
  size_t i = 0, j = 0;
  for (size_t k = 1; k < hull_.size(); ++k) {
    const double t = hull_[k].from;
    while (i + 1 < first.size() && first[i + 1].from <= t) ++i;
    while (j + 1 < second.size() && second[j + 1].from <= t) ++j;
    const double value =
        edge.score + first[i].score + second[j].score + t * (edge.slope + first[i].slope + second[j].slope);
    const double limit = hull_[k].score + t * hull_[k].slope;
    constexpr double kRounding = 1e-9;
    if (!(value < limit - kRounding * (1 + std::abs(hull_[k].score) + std::abs(t * hull_[k].slope)))) return false;
  }
  return true;
}

void NodeEnvelopes::add_edge(const Line& edge, std::span<const int32_t> tails) {
  const Lines nothing{&kNothing, 1};
  const Lines first = tails.empty() ? nothing : lines_of(tails[0]),
              second = tails.size() < 2 ? nothing : lines_of(tails[1]);
  if (first.empty() || second.empty()) return;
  if (tails.size() <= 2 && !hull_.empty() && is_hidden(edge, first, second)) return;
  sum_.assign(1, edge);
  if (!tails.empty()) add_tail(first, 0);
  for (size_t i = 0; i < sum_.size(); ++i) sum_[i].first = static_cast<uint32_t>(i);
  for (size_t k = 1; k < tails.size(); ++k) {
    const size_t chained = chain_.size();
    if (k > 1) chain_.insert(chain_.end(), sum_.begin(), sum_.end());
    add_tail(lines_of(tails[k]), k > 1 ? chained : 0);
  }
  merge();
}

// Adds a tail's envelope to sum_ (a Minkowski sum): the pairs of lines that are best at the same t. The first of a pair
// is number `chained` plus its place.
void NodeEnvelopes::add_tail(Lines tail, size_t chained) {
  scratch_.clear();
  size_t i = 0, j = 0;
  double from = -kInfinity;
  while (i < sum_.size() && j < tail.size()) {
    const Line &a = sum_[i], &b = tail[j];
    scratch_.push_back({a.slope + b.slope, a.score + b.score, from, a.edge, static_cast<uint32_t>(chained + i),
                        static_cast<uint32_t>(j)});
    const double next_a = i + 1 < sum_.size() ? sum_[i + 1].from : kInfinity;
    const double next_b = j + 1 < tail.size() ? tail[j + 1].from : kInfinity;
    from = std::min(next_a, next_b);
    if (from == kInfinity) break;
    i += next_a == from;
    j += next_b == from;
  }
  sum_.swap(scratch_);
}

// hull_ becomes the maximum of itself and sum_; of equal lines its own stay.
void NodeEnvelopes::merge() {
  if (hull_.empty()) {
    hull_.swap(sum_);
    return;
  }
  scratch_.resize(hull_.size() + sum_.size());
  size_t n = 0, i = 0, j = 0;
  while (i < hull_.size() || j < sum_.size()) {
    const bool own = j == sum_.size() || (i < hull_.size() && hull_[i].slope <= sum_[j].slope);
    n = add_to_hull(scratch_.data(), n, own ? hull_[i++] : sum_[j++]);
  }
  scratch_.resize(n);
  hull_.swap(scratch_);
}

}  // namespace dragoman::forest
