// Losses of single rules against those that may stand in their place.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/at.hh"
#include "core/base/parallel.hh"
#include "core/optim/reference_store.hh"

namespace dragoman::optim {

using forest::ReferenceEdge;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

void log_add_to(double& sum, double term) {
  const double high = std::max(sum, term), low = std::min(sum, term);
  sum = low == kNever ? high : high + std::log1p(std::exp(low - high));
}

}  // namespace

// The edges of the last node added; edges_ ends with them. A replacement is of the source side, and so of the tails, of
// what it replaces; where one has other tails (`wide`), it may replace all that the node has.
void ReferenceStore::find_contests(size_t first_edge, uint32_t& n_contests) {
  const auto tails = [&](const Edge& edge) {
    return std::span(tails_.data() + base_tail_.back() + edge.first_tail, edge.n_tails);
  };
  const auto equal = [&](const Edge& a, const Edge& b) {
    const auto x = tails(a), y = tails(b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  const auto begin = edges_.begin() + static_cast<std::ptrdiff_t>(first_edge);
  const auto wrong = std::find_if(begin, edges_.end(), [](const Edge& edge) { return !is_reference(edge.kind); });
  if (wrong == edges_.end()) return;
  const uint32_t first = n_contests;
  bool is_wide = false;
  for (auto edge = wrong; edge != edges_.end(); ++edge) {
    if (edge != wrong && equal(*edge, *std::prev(edge))) {
      edge->contest = std::prev(edge)->contest;
      continue;
    }
    const auto rival = std::find_if(begin, wrong, [&](const Edge& other) {
      return other.kind == ReferenceEdge::kReference && equal(*edge, other);
    });
    if (rival == wrong) {
      is_wide = true;
      break;
    }
    if (rival->contest == kNoContest) {
      const uint32_t number = n_contests++;
      for (auto other = rival; other != wrong; ++other)
        if (other->kind == ReferenceEdge::kReference && equal(*other, *rival)) other->contest = number;
    }
    edge->contest = rival->contest;
  }
  if (!is_wide) return;
  n_contests = first + 1;
  for (auto edge = begin; edge != edges_.end(); ++edge)
    edge->contest = edge->kind == ReferenceEdge::kHole ? kNoContest : first;
}

void ReferenceStore::weigh_references(const ReferenceModel& model, std::span<const double> weights, int n_threads,
                                      Control& control) {
  if (static_cast<int64_t>(weights.size()) != n_features_)
    throw std::invalid_argument("a weight for each feature expected");
  std::vector<Scratch> scratch(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(size(), 64, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    Scratch& own = scratch[static_cast<size_t>(worker)];
    for (int64_t s = begin; s < end; ++s) {
      const Sentence& sentence = sentences_[at(s)];
      const Tables tables = tables_of(sentence);
      score(model, sentence, tables, weights, own);
      own.share_none.assign(sentence.n_nodes, 0);
      own.share_none[sentence.n_nodes - 1] = 1;
      for (size_t v = sentence.n_nodes; v-- > 0;) {
        for (size_t e = tables.first_edge[v] - tables.first; e < tables.first_edge[v + 1] - tables.first; ++e) {
          Edge& edge = edges_[tables.first + e];
          if (!is_reference(edge.kind) || own.none[v] == kNever) continue;
          const double share = own.share_none[v] * std::exp(own.below[e] - own.none[v]);
          edge.posterior = static_cast<float>(share);
          for (uint32_t t = 0; t < edge.n_tails; ++t) own.share_none[at(tables.tails[edge.first_tail + t])] += share;
        }
      }
    }
  });
  is_weighed_ = true;
}

double ReferenceStore::margin_loss(const ReferenceModel& model, const Sentence& sentence, const Tables& tables,
                                   Scratch& scratch) const {
  const auto cost_of = [&](const Edge& edge) {
    return edge.kind == ReferenceEdge::kWrong ? model.cost_scale * (1 - static_cast<double>(edge.gain)) : 0;
  };
  scratch.margins.assign(sentence.n_contests, {0, 0, 0, kNever, kNever, -kNever});
  for (size_t e = 0; e < tables.n_edges; ++e) {
    const Edge& edge = tables.edges[e];
    if (edge.contest == kNoContest) continue;
    Margin& margin = scratch.margins[edge.contest];
    const double score = scratch.scores[e], cost = cost_of(edge);
    if (score - cost > margin.hope_value) margin.hope = e, margin.hope_value = score - cost;
    if (score + cost > margin.fear_value) margin.fear = e, margin.fear_value = score + cost;
    if (score < margin.worst_score) margin.worst = e, margin.worst_score = score;
  }
  double loss = 0;
  for (size_t c = 0; c < sentence.n_contests; ++c) {
    const Margin& margin = scratch.margins[c];
    const double posterior = scratch.posteriors[c], hope = scratch.scores[margin.hope];
    const double hinge = margin.fear_value - hope - cost_of(tables.edges[margin.hope]);
    const double excess = hope - margin.worst_score - model.bound;
    if (hinge > 0) {
      loss += posterior * hinge;
      scratch.mass[margin.fear] += posterior;
      scratch.mass[margin.hope] -= posterior;
    }
    if (excess > 0) {
      loss += posterior * excess;
      scratch.mass[margin.hope] += posterior;
      scratch.mass[margin.worst] -= posterior;
    }
  }
  return loss;
}

ReferenceStore::Value ReferenceStore::run_contests(const ReferenceModel& model, const Sentence& sentence,
                                                   std::span<const double> weights, Scratch& scratch,
                                                   std::vector<double>* gradient) const {
  if (!is_weighed_) throw std::invalid_argument("derivations of references have no weights yet");
  const Tables tables = tables_of(sentence);
  score(model, sentence, tables, weights, scratch);
  for (auto* sums : {&scratch.numerators, &scratch.denominators, &scratch.references})
    sums->assign(sentence.n_contests, kNever);
  scratch.posteriors.assign(sentence.n_contests, 0);
  for (size_t e = 0; e < tables.n_edges; ++e) {
    const Edge& edge = tables.edges[e];
    if (edge.contest == kNoContest) continue;
    const bool is_right = is_reference(edge.kind);
    const Offsets offset = is_right ? Offsets{0, 0} : offsets(model, edge);
    const double score = scratch.scores[e];
    log_add_to(scratch.numerators[edge.contest], score + offset.numerator);
    log_add_to(scratch.denominators[edge.contest], score + offset.denominator);
    if (!is_right) continue;
    log_add_to(scratch.references[edge.contest], score);
    scratch.posteriors[edge.contest] += static_cast<double>(edge.posterior);
  }
  Value result;
  double sum = 0;
  for (size_t c = 0; c < sentence.n_contests; ++c) {
    const double posterior = scratch.posteriors[c], all = scratch.denominators[c];
    sum += posterior;
    result.loss += posterior * (all - scratch.numerators[c]);
    result.share += posterior * std::exp(scratch.references[c] - all);
  }
  result.share = sum > 0 ? result.share / sum : 1;
  scratch.mass.assign(tables.n_edges, 0);
  if (model.loss == ReferenceLoss::kRelativeMargin) {
    result.loss = margin_loss(model, sentence, tables, scratch);
    if (gradient != nullptr) {
      gradient->assign(sentence.n_ids, 0);
      add_features(tables, scratch.mass, *gradient);
    }
    return result;
  }
  if (gradient == nullptr) return result;
  for (size_t e = 0; e < tables.n_edges; ++e) {
    const Edge& edge = tables.edges[e];
    if (edge.contest == kNoContest) continue;
    const Offsets offset = is_reference(edge.kind) ? Offsets{0, 0} : offsets(model, edge);
    scratch.mass[e] = scratch.posteriors[edge.contest] *
                      (std::exp(scratch.scores[e] + offset.denominator - scratch.denominators[edge.contest]) -
                       std::exp(scratch.scores[e] + offset.numerator - scratch.numerators[edge.contest]));
  }
  gradient->assign(sentence.n_ids, 0);
  add_features(tables, scratch.mass, *gradient);
  return result;
}

}  // namespace dragoman::optim
