#include "core/optim/list_gradient.hh"

#include <algorithm>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/optim/list_columns.hh"
#include "core/optim/list_view.hh"

namespace dragoman::optim {

namespace {

constexpr int64_t kListsPerChunk = 16;

struct Term {
  int32_t id;
  double value;
};

struct Part {
  double value = 0;
  std::vector<Term> terms;
};

void add_list(const ListColumns& columns, std::span<const double> gains, std::span<const double> weights,
              const ListLoss& loss, ListScratch& scratch, Part& part) {
  const ListView list = view_of(columns, gains);
  scratch.start(list);
  add_scores(list, [&](int32_t id) { return weights[static_cast<size_t>(id)]; }, scratch.scores);
  part.value += differentiate(loss, scratch.scores, list.gains, scratch.slopes);
  for_each_slope(list, scratch.slopes, [&](int32_t id, double slope) { part.terms.push_back({id, slope}); });
  for (const int32_t id : columns.constants) part.terms.push_back({id, 0});
}

}  // namespace

ListGradient list_gradient(const pool::Candidates& candidates, std::span<const double> gains,
                           std::span<const double> weights, const ListLoss& loss, int n_threads, Control& control) {
  candidates.check();
  if (static_cast<int64_t>(gains.size()) != candidates.size())
    throw std::invalid_argument("one gain per candidate expected");
  const int64_t n = candidates.n_sentences();
  std::vector<Part> parts(static_cast<size_t>((n + kListsPerChunk - 1) / kListsPerChunk));
  std::vector<ListColumns> columns(static_cast<size_t>(std::max(1, n_threads)));
  std::vector<ListScratch> scratch(columns.size());
  parallel_chunks(n, kListsPerChunk, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    const auto w = static_cast<size_t>(worker);
    Part& part = parts[static_cast<size_t>(begin / kListsPerChunk)];
    for (int64_t s = begin; s < end; ++s) {
      const auto first = static_cast<size_t>(candidates.sentences[static_cast<size_t>(s)]);
      const auto last = static_cast<size_t>(candidates.sentences[static_cast<size_t>(s) + 1]);
      if (first == last) continue;
      columns[w].build(candidates, s, static_cast<int64_t>(weights.size()), {});
      add_list(columns[w], gains.subspan(first, last - first), weights, loss, scratch[w], part);
    }
  });

  ListGradient result;
  std::vector<Term> terms;
  for (Part& part : parts) {
    result.value += part.value;
    terms.insert(terms.end(), part.terms.begin(), part.terms.end());
    part.terms = {};
  }
  // Both ways add the terms of a feature in the order of the lists.
  if (terms.size() >= weights.size() / 16) {
    std::vector<double> sums(weights.size());
    std::vector<int32_t> counts(weights.size());
    for (const Term& term : terms) {
      sums[static_cast<size_t>(term.id)] += term.value;
      ++counts[static_cast<size_t>(term.id)];
    }
    for (size_t f = 0; f < sums.size(); ++f) {
      if (!counts[f]) continue;
      result.ids.push_back(static_cast<int32_t>(f));
      result.values.push_back(sums[f]);
      result.n_lists.push_back(counts[f]);
    }
    return result;
  }
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.id < b.id; });
  for (const Term& term : terms) {
    if (result.ids.empty() || result.ids.back() != term.id) {
      result.ids.push_back(term.id);
      result.values.push_back(0);
      result.n_lists.push_back(0);
    }
    result.values.back() += term.value;
    ++result.n_lists.back();
  }
  return result;
}

}  // namespace dragoman::optim
