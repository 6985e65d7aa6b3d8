#include "core/optim/margin_loss.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dragoman::optim {

namespace {

struct Term {
  int32_t id;
  int32_t n_lists;
  double value;
};

// Adds up terms of equal id; drops sums of zero when asked.
void reduce(std::vector<Term>& terms, size_t begin, bool drop_zeros) {
  const auto first = terms.begin() + static_cast<int64_t>(begin);
  std::stable_sort(first, terms.end(), [](const Term& a, const Term& b) { return a.id < b.id; });
  auto out = first;
  for (auto i = first; i != terms.end();) {
    Term sum{i->id, 0, 0};
    for (; i != terms.end() && i->id == sum.id; ++i) {
      sum.value += i->value;
      sum.n_lists += i->n_lists;
    }
    if (!(drop_zeros && sum.value == 0)) *out++ = sum;
  }
  terms.erase(out, terms.end());
}

}  // namespace

LossGradient margin_loss(const pool::Candidates& candidates, std::span<const double> gains,
                         std::span<const double> weights, const MarginLoss& loss) {
  candidates.check();
  if (gains.size() != static_cast<size_t>(candidates.size()))
    throw std::invalid_argument("one gain per candidate expected");
  LossGradient result;
  std::vector<double> scores;
  std::vector<Term> terms;
  for (int64_t s = 0; s < candidates.n_sentences(); ++s) {
    const int64_t begin = candidates.sentences[static_cast<size_t>(s)];
    const auto n = static_cast<size_t>(candidates.sentences[static_cast<size_t>(s) + 1] - begin);
    if (n == 0) continue;
    scores.resize(n);
    for (size_t c = 0; c < n; ++c) scores[c] = pool::dot(candidates, begin + static_cast<int64_t>(c), weights);
    const auto g = gains.subspan(static_cast<size_t>(begin), n);
    const double top = *std::max_element(g.begin(), g.end());
    const size_t hope = find_hope(scores, g, loss.hope, loss.local_size), fear = find_fear(scores, g, loss.fear);
    const size_t before = terms.size();
    const auto add = [&](size_t c, double coefficient) {
      const auto row = static_cast<size_t>(begin) + c;
      for (auto i = static_cast<size_t>(candidates.rows[row]); i < static_cast<size_t>(candidates.rows[row + 1]); ++i)
        terms.push_back({candidates.ids[i], 0, coefficient * static_cast<double>(candidates.values[i])});
    };
    const auto penalise = [&](double value, size_t lower, size_t raise, double weight) {
      result.value += weight * value;
      if (lower == raise) return;
      add(lower, weight);
      add(raise, -weight);
    };
    if (loss.ramp) {
      const double fear_cost = loss.fear == Fear::kPrediction ? 0 : top - g[fear];
      const double hope_cost = loss.hope == Hope::kModel ? 0 : top - g[hope];
      penalise(scores[fear] + fear_cost - (scores[hope] - hope_cost), fear, hope, 1);
    } else {
      const double hinge = g[hope] - g[fear] - (scores[hope] - scores[fear]);
      if (hinge > 0) penalise(hinge, fear, hope, 1);
    }
    const Excess above = loss.bound.most_violated(scores, g, hope, 1),
                 below = loss.bound.most_violated(scores, g, hope, -1);
    if (above.violation > 0 && above.violation >= below.violation)
      penalise(above.violation, hope, above.candidate, loss.bound_weight);
    else if (below.violation > 0)
      penalise(below.violation, below.candidate, hope, loss.bound_weight);
    reduce(terms, before, true);
    for (size_t i = before; i < terms.size(); ++i) terms[i].n_lists = 1;
  }
  reduce(terms, 0, false);
  for (const Term& term : terms) {
    result.ids.push_back(term.id);
    result.values.push_back(term.value);
    result.n_lists.push_back(term.n_lists);
  }
  return result;
}

}  // namespace dragoman::optim
