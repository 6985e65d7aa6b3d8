#include "core/optim/reference_store.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/at.hh"
#include "core/base/parallel.hh"

namespace dragoman::optim {

using forest::ReferenceEdge;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr int64_t kBlock = 64;  // sentences whose values are added up together

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

void ReferenceStore::add(const forest::ReferenceForests& forests, std::span<const int32_t> ids,
                         std::span<const float> gains) {
  if (!gains.empty() && gains.size() != forests.kinds.size())
    throw std::invalid_argument("a gain for each edge expected");
  for (const int32_t id : ids)
    if (id < 0 || id >= n_features_) throw std::invalid_argument("no such feature");
  std::vector<int32_t> column;  // of a feature of the forests in the sentence
  std::vector<int32_t> met;
  column.assign(ids.size(), -1);
  for (int64_t s = 0; s < forests.size(); ++s, ++n_added_) {
    const int64_t begin = forests.first_node[at(s)], end = forests.first_node[at(s) + 1];
    if (begin == end) continue;
    places_.push_back(n_added_);
    const size_t first_id = ids_.size();
    base_tail_.push_back(tails_.size());
    base_feature_.push_back(values_.size());
    met.clear();
    const size_t first_node = first_edge_.size();
    uint32_t n_contests = 0;
    for (int64_t v = begin; v < end; ++v) {
      first_edge_.push_back(edges_.size());
      spans_.emplace_back(forests.spans[4 * at(v)], forests.spans[4 * at(v) + 1]);
      for (int64_t e = forests.first_edge[at(v)]; e < forests.first_edge[at(v) + 1]; ++e) {
        const auto tails = forests.tails[e];
        if (tails.size() > std::numeric_limits<uint16_t>::max())
          throw std::invalid_argument("an edge has too many tails");
        edges_.push_back({static_cast<uint32_t>(tails_.size() - base_tail_.back()),
                          static_cast<uint32_t>(values_.size() - base_feature_.back()),
                          static_cast<ReferenceEdge>(forests.kinds[at(e)]), static_cast<uint16_t>(tails.size()),
                          forests.priors[at(e)], gains.empty() ? 0.0F : gains[at(e)]});
        tails_.insert(tails_.end(), tails.begin(), tails.end());
        for (auto f = at(forests.feature_ids.offsets[at(e)]); f < at(forests.feature_ids.offsets[at(e) + 1]); ++f) {
          const int32_t feature = forests.feature_ids.values[f];
          if (at(feature) >= ids.size()) throw std::invalid_argument("a feature of the forests has no id");
          if (column[at(feature)] < 0) {
            column[at(feature)] = static_cast<int32_t>(ids_.size() - first_id);
            ids_.push_back(ids[at(feature)]);
            met.push_back(feature);
          }
          columns_.push_back(static_cast<uint32_t>(column[at(feature)]));
          values_.push_back(forests.feature_values[f]);
        }
      }
      find_contests(first_edge_.back(), n_contests);
    }
    // The end of the last edge.
    first_edge_.push_back(edges_.size());
    spans_.emplace_back(0, 0);
    edges_.push_back({static_cast<uint32_t>(tails_.size() - base_tail_.back()),
                      static_cast<uint32_t>(values_.size() - base_feature_.back()), ReferenceEdge::kHole, 0, 0, 0});
    for (const int32_t feature : met) column[at(feature)] = -1;
    sentences_.push_back({first_node, at(end - begin), first_id, ids_.size() - first_id, n_contests});
  }
  is_weighed_ = false;
}

size_t ReferenceStore::n_bytes() const {
  const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return bytes(sentences_) + bytes(places_) + bytes(ids_) + bytes(first_edge_) + bytes(edges_) + bytes(base_tail_) +
         bytes(base_feature_) + bytes(tails_) + bytes(columns_) + bytes(values_);
}

std::vector<int32_t> ReferenceStore::counts() const {
  std::vector<int32_t> result(at(n_features_));
  for (const int32_t id : ids_) ++result[at(id)];
  return result;
}

std::vector<double> ReferenceStore::mean_squares(std::span<const int32_t> ids) const {
  std::vector<double> sums(ids.size(), 0);
  std::vector<int32_t> place(at(n_features_), -1);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= n_features_) throw std::invalid_argument("no such feature");
    place[at(ids[i])] = static_cast<int32_t>(i);
  }
  int64_t n = 0;
  for (const Sentence& sentence : sentences_) {
    const Tables tables = tables_of(sentence);
    for (size_t e = 0; e < tables.n_edges; ++e) {
      if (is_reference(tables.edges[e].kind)) continue;
      ++n;
      for (uint32_t f = tables.edges[e].first_feature; f < tables.edges[e + 1].first_feature; ++f)
        if (const int32_t i = place[at(ids_[sentence.first_id + tables.columns[f]])]; i >= 0)
          sums[at(i)] += static_cast<double>(tables.values[f]) * static_cast<double>(tables.values[f]);
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(std::max<int64_t>(1, n));
  return sums;
}

ReferenceStore::Offsets ReferenceStore::offsets(const ReferenceModel& model, const Edge& edge) {
  const auto gain = static_cast<double>(edge.gain);
  switch (model.loss) {
    case ReferenceLoss::kLikelihood:
    case ReferenceLoss::kRelativeMargin:
      break;
    case ReferenceLoss::kExpectedGain:
      return {gain > 0 ? std::log(gain) : kNever, 0};
    case ReferenceLoss::kSoftRamp:
      return {-model.cost_scale * (1 - gain), model.cost_scale * (1 - gain)};
  }
  return {edge.kind == ReferenceEdge::kSameWords ? 0 : kNever, 0};
}

ReferenceStore::Tables ReferenceStore::tables_of(const Sentence& sentence) const {
  const auto number = static_cast<size_t>(&sentence - sentences_.data());
  const size_t first = first_edge_[sentence.first_node];
  return {first_edge_.data() + sentence.first_node,
          first,
          first_edge_[sentence.first_node + sentence.n_nodes] - first,
          edges_.data() + first,
          tails_.data() + base_tail_[number],
          columns_.data() + base_feature_[number],
          values_.data() + base_feature_[number],
          spans_.data() + sentence.first_node};
}

// Scores of edges, alone and with the sums below them; sums of the reference's derivations.
void ReferenceStore::score(const ReferenceModel& model, const Sentence& sentence, const Tables& tables,
                           std::span<const double> weights, Scratch& scratch) const {
  auto& w = scratch.weights;
  w.resize(sentence.n_ids);
  for (size_t i = 0; i < sentence.n_ids; ++i) w[i] = weights[at(ids_[sentence.first_id + i])];
  scratch.scores.resize(tables.n_edges);
  scratch.below.resize(tables.n_edges);
  auto& none = scratch.none;
  none.assign(sentence.n_nodes, kNever);
  for (size_t v = 0; v < sentence.n_nodes; ++v)
    for (size_t e = tables.first_edge[v] - tables.first; e < tables.first_edge[v + 1] - tables.first; ++e) {
      const Edge& edge = tables.edges[e];
      const auto prior = static_cast<double>(edge.prior);
      double score = edge.kind == ReferenceEdge::kHole ? prior : model.prior_weight * prior;
      for (uint32_t f = edge.first_feature; f < tables.edges[e + 1].first_feature; ++f)
        score += w[tables.columns[f]] * static_cast<double>(tables.values[f]);
      scratch.scores[e] = score;
      for (uint32_t t = 0; t < edge.n_tails; ++t) score += none[at(tables.tails[edge.first_tail + t])];
      scratch.below[e] = score;
      if (is_reference(edge.kind)) none[v] = log_add(none[v], score);
    }
}

void ReferenceStore::add_features(const Tables& tables, std::span<const double> mass, std::vector<double>& gradient) {
  for (size_t e = 0; e < tables.n_edges; ++e)
    for (uint32_t f = tables.edges[e].first_feature; f < tables.edges[e + 1].first_feature; ++f)
      gradient[tables.columns[f]] += mass[e] * static_cast<double>(tables.values[f]);
}

ReferenceStore::Value ReferenceStore::run(const ReferenceModel& model, const Sentence& sentence,
                                          std::span<const double> weights, Scratch& scratch,
                                          std::vector<double>* gradient, std::vector<double>* shares) const {
  if (model.by_rule && shares == nullptr) return run_contests(model, sentence, weights, scratch, gradient);
  const Tables tables = tables_of(sentence);
  const auto [first_edge, first, n_edges, edges, tails, columns, values, spans] = tables;
  const auto edges_of = [&](size_t v) { return std::pair(first_edge[v] - first, first_edge[v + 1] - first); };
  score(model, sentence, tables, weights, scratch);
  const auto& none = scratch.none;
  // The sums with one replaced rule, by the numerator's or the denominator's offsets; and with `sign`, the share of
  // every edge in the whole sum.
  scratch.mass.assign(n_edges, 0);
  const size_t goal = sentence.n_nodes - 1;
  auto& one = scratch.one;
  const auto sum = [&](bool is_numerator, double sign) {
    const auto offset = [&](const Edge& edge) {
      const Offsets both = offsets(model, edge);
      return is_numerator ? both.numerator : both.denominator;
    };
    one.assign(sentence.n_nodes, kNever);
    for (size_t v = 0; v < sentence.n_nodes; ++v) {
      const auto [begin, end] = edges_of(v);
      for (size_t e = begin; e < end; ++e) {
        if (!is_reference(edges[e].kind)) {
          one[v] = log_add(one[v], scratch.below[e] + offset(edges[e]));
          continue;
        }
        for (uint32_t t = 0; t < edges[e].n_tails; ++t) {
          const size_t tail = at(tails[edges[e].first_tail + t]);
          if (one[tail] != kNever) one[v] = log_add(one[v], scratch.below[e] - none[tail] + one[tail]);
        }
      }
    }
    const double total = log_add(none[goal], one[goal]);
    if (gradient == nullptr) return total;
    scratch.share_none.assign(sentence.n_nodes, 0);
    scratch.share_one.assign(sentence.n_nodes, 0);
    scratch.share_none[goal] = std::exp(none[goal] - total);
    scratch.share_one[goal] = one[goal] == kNever ? 0 : std::exp(one[goal] - total);
    for (size_t v = sentence.n_nodes; v-- > 0;) {
      const double with_none = scratch.share_none[v], with_one = scratch.share_one[v];
      if (with_none == 0 && with_one == 0) continue;
      const auto [begin, end] = edges_of(v);
      for (size_t e = begin; e < end; ++e) {
        const Edge& edge = edges[e];
        if (!is_reference(edge.kind)) {
          if (with_one == 0) continue;
          const double share = with_one * std::exp(scratch.below[e] + offset(edge) - one[v]);
          scratch.mass[e] += sign * share;
          for (uint32_t t = 0; t < edge.n_tails; ++t) scratch.share_none[at(tails[edge.first_tail + t])] += share;
          continue;
        }
        const double share = with_none * std::exp(scratch.below[e] - none[v]);
        scratch.mass[e] += sign * share;
        for (uint32_t t = 0; t < edge.n_tails; ++t) scratch.share_none[at(tails[edge.first_tail + t])] += share;
        if (with_one == 0) continue;
        for (uint32_t t = 0; t < edge.n_tails; ++t) {
          const size_t tail = at(tails[edge.first_tail + t]);
          if (one[tail] == kNever) continue;
          const double part = with_one * std::exp(scratch.below[e] - none[tail] + one[tail] - one[v]);
          scratch.mass[e] += sign * part;
          scratch.share_one[tail] += part;
          for (uint32_t u = 0; u < edge.n_tails; ++u)
            if (u != t) scratch.share_none[at(tails[edge.first_tail + u])] += part;
        }
      }
    }
    return total;
  };
  const double denominator = sum(false, 1);
  if (shares != nullptr) *shares = scratch.mass;
  const double numerator = sum(true, -1);
  if (gradient != nullptr) {
    gradient->assign(sentence.n_ids, 0);
    add_features(tables, scratch.mass, *gradient);
  }
  return {denominator - numerator, std::exp(none[goal] - denominator)};
}

void ReferenceStore::check(std::span<const int64_t> order) const {
  for (const int64_t s : order)
    if (s < 0 || s >= size()) throw std::invalid_argument("no such sentence");
}

ReferenceStore::Value ReferenceStore::value(const ReferenceModel& model, std::span<const int64_t> order,
                                            std::span<const double> weights, int n_threads, Control& control) const {
  check(order);
  if (static_cast<int64_t>(weights.size()) != n_features_)
    throw std::invalid_argument("a weight for each feature expected");
  const auto n = static_cast<int64_t>(order.size());
  std::vector<Value> blocks(at((n + kBlock - 1) / kBlock));
  std::vector<Scratch> scratch(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(n, kBlock, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    Value& block = blocks[at(begin / kBlock)];
    for (int64_t i = begin; i < end; ++i) {
      const Value one =
          run(model, sentences_[at(order[at(i)])], weights, scratch[static_cast<size_t>(worker)], nullptr);
      block.loss += one.loss;
      block.share += one.share;
    }
  });
  Value result;
  for (const Value& block : blocks) {
    result.loss += block.loss;
    result.share += block.share;
  }
  if (n > 0) result.share /= static_cast<double>(n);
  return result;
}

ReferenceStore::Value ReferenceStore::gradient(const ReferenceModel& model, int64_t sentence,
                                               std::span<const double> weights, std::vector<double>& out) const {
  check(std::span(&sentence, 1));
  if (static_cast<int64_t>(weights.size()) != n_features_)
    throw std::invalid_argument("a weight for each feature expected");
  Scratch scratch;
  return run(model, sentences_[at(sentence)], weights, scratch, &out);
}

std::vector<double> ReferenceStore::shares(const ReferenceModel& model, int64_t sentence,
                                           std::span<const double> weights) const {
  std::vector<double> gradient, result;
  check(std::span(&sentence, 1));
  if (static_cast<int64_t>(weights.size()) != n_features_)
    throw std::invalid_argument("a weight for each feature expected");
  Scratch scratch;
  run(model, sentences_[at(sentence)], weights, scratch, &gradient, &result);
  return result;
}

double ReferenceStore::epoch(Learner& learner, const ReferenceModel& model, std::span<const int64_t> order,
                             int64_t batch, int n_threads, Control& control, GreedyDerivations* greedy) const {
  check(order);
  if (greedy != nullptr && model.by_rule) throw std::invalid_argument("Algorithm 1 lists whole derivations");
  if (static_cast<int64_t>(learner.live().size()) != n_features_)
    throw std::invalid_argument("a weight for each feature expected");
  if (batch < 1) throw std::invalid_argument("a batch needs at least one sentence");
  const auto n_slots = std::min(at(batch), std::max<size_t>(1, order.size()));
  struct Slot {
    std::vector<double> gradient;
    double loss = 0;
    GreedyCounts counts;
  };
  if (greedy != nullptr) {
    greedy->edges.resize(sentences_.size());
    greedy->counts = {};
  }
  std::vector<Slot> slots(n_slots);
  std::vector<Scratch> scratch(static_cast<size_t>(std::max(1, n_threads)));
  Control inner;  // the outer one counts sentences
  double sum = 0;
  for (size_t begin = 0; begin < order.size(); begin += n_slots) {
    control.check();
    const size_t n = std::min(n_slots, order.size() - begin);
    learner.begin_step(static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) learner.touch(ids(order[begin + i]));
    const std::span<const double> weights = learner.live();
    const auto work = [&](int64_t from, int64_t to, int worker) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t s = order[begin + at(i)];
        Slot& slot = slots[at(i)];
        Scratch& own = scratch[static_cast<size_t>(worker)];
        slot.counts = {};
        const Value found = greedy == nullptr ? run(model, sentences_[at(s)], weights, own, &slot.gradient)
                                              : run_greedy(model, sentences_[at(s)], weights, own, greedy->edges[at(s)],
                                                           slot.counts, slot.gradient);
        slot.loss = found.loss;
      }
    };
    if (n == 1 || n_threads <= 1)
      work(0, static_cast<int64_t>(n), 0);
    else
      parallel_chunks(static_cast<int64_t>(n), std::max<int64_t>(1, static_cast<int64_t>(n) / (4 * n_threads)),
                      n_threads, inner, work);
    for (size_t i = 0; i < n; ++i) {
      learner.apply(ids(order[begin + i]), slots[i].gradient);
      sum += slots[i].loss;
      if (greedy != nullptr) greedy->counts += slots[i].counts;
    }
    control.advance(static_cast<int64_t>(n));
  }
  return sum;
}

}  // namespace dragoman::optim
