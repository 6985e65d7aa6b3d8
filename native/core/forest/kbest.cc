#include "core/forest/kbest.hh"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include "core/base/at.hh"

#include "core/base/errors.hh"

namespace dragoman::forest {

namespace {

// A vertex may stand in an edge twice, so that a small file can hold a derivation beyond all memory.
constexpr size_t kMostEdges = 1'000'000;
constexpr int kCheckEvery = 1024;
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr uint64_t kBase = 1'111'111'111'111'111'111ull % kPrime;

uint64_t multiply(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const uint64_t sum = static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

uint64_t add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

// Heap order of a node's items: highest score first, then first edge, then first pushed.
struct Worse {
  template <typename Item>
  bool operator()(const Item& a, const Item& b) const {
    if (a.score != b.score) return a.score < b.score;
    if (a.edge != b.edge) return a.edge > b.edge;
    return a.ranks > b.ranks;
  }
};

}  // namespace

void KBestLists::append(const KBestLists& other) {
  const auto extend = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  const auto extend_offsets = [](std::vector<int64_t>& to, const std::vector<int64_t>& from) {
    const int64_t base = to.back();
    for (size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
  };
  extend_offsets(first, other.first);
  extend(scores, other.scores);
  extend_offsets(token_offsets, other.token_offsets);
  extend(tokens, other.tokens);
  extend_offsets(feature_offsets, other.feature_offsets);
  extend(feature_ids, other.feature_ids);
  extend(feature_values, other.feature_values);
  extend_offsets(edge_offsets, other.edge_offsets);
  extend(edges, other.edges);
  if (!other.derivations) return;
  if (!derivations) derivations.emplace();
  derivations->append(*other.derivations);
}

KBestLists concatenated(std::vector<KBestLists>&& parts) {
  KBestLists result;
  size_t n_tokens = 0, n_features = 0, n_edges = 0;
  for (const KBestLists& part : parts) {
    n_tokens += part.tokens.size();
    n_features += part.feature_ids.size();
    n_edges += part.edges.size();
  }
  result.tokens.reserve(n_tokens);
  result.feature_ids.reserve(n_features);
  result.feature_values.reserve(n_features);
  result.edges.reserve(n_edges);
  for (KBestLists& part : parts) {
    result.append(part);
    part = {};
  }
  return result;
}

KBestSearch::KBestSearch(const Forest& forest, std::vector<double> edge_scores, bool distinct, const Control& control)
    : forest_(forest), edge_scores_(std::move(edge_scores)), distinct_(distinct), control_(control) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const size_t n = at(forest.n_nodes());
  best_.assign(n, kNone);
  best_edge_.assign(n, -1);
  states_.resize(n);
  if (distinct) best_yield_.resize(n);
  size_t widest = 0;
  for (int32_t v = 0; v < forest.n_nodes(); ++v) {
    if (v % kCheckEvery == 0) control.check();
    for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e) {
      double sum = edge_scores_[at(e)];
      for (const int32_t tail : forest.tails(e)) sum += best_[at(tail)];
      widest = std::max(widest, forest.tails(e).size());
      if (!(sum > best_[at(v)])) continue;
      best_[at(v)] = sum;
      best_edge_[at(v)] = e;
    }
    if (best_edge_[at(v)] < 0)
      states_[at(v)].exhausted = true;
    else if (distinct)
      best_yield_[at(v)] = yield_of({best_[at(v)], best_edge_[at(v)], 0});
  }
  // Nonzero ranks may be added only after this; yield_of above does not read any.
  ranks_.assign(widest, 0);
}

KBestSearch::Item KBestSearch::item(int32_t node, uint32_t rank) const {
  if (rank == 0) return {best_[at(node)], best_edge_[at(node)], 0};
  return states_[at(node)].found[rank];
}

KBestSearch::Yield KBestSearch::yield_of(const Item& item) const {
  Yield result;
  const auto tails = forest_.tails(item.edge);
  for (const int32_t symbol : forest_.symbols(forest_.edge_instance(item.edge))) {
    if (is_mark(symbol)) continue;
    Yield part{static_cast<uint64_t>(symbol) + 1, kBase};
    if (symbol < 0) {
      const auto slot = at(tail_slot(symbol));
      const uint32_t rank = ranks_.empty() ? 0 : ranks_[item.ranks + slot];
      const int32_t tail = tails[slot];
      part = rank == 0 ? best_yield_[at(tail)] : states_[at(tail)].yields[rank];
    }
    result = {add(multiply(result.hash, part.power), part.hash), multiply(result.power, part.power)};
  }
  return result;
}

void KBestSearch::push(NodeState& state, int32_t edge, uint32_t ranks) {
  double sum = edge_scores_[at(edge)];
  const auto tails = forest_.tails(edge);
  for (size_t i = 0; i < tails.size(); ++i) sum += score(tails[i], ranks_[ranks + i]);
  state.heap.push_back({sum, edge, ranks});
  std::push_heap(state.heap.begin(), state.heap.end(), Worse());
}

void KBestSearch::start(int32_t node) {
  NodeState& state = states_[at(node)];
  state.started = true;
  const int32_t best = best_edge_[at(node)];
  for (int32_t e = forest_.first_edge(node); e < forest_.end_edge(node); ++e) {
    if (e == best) continue;
    bool derivable = true;
    for (const int32_t tail : forest_.tails(e)) derivable = derivable && best_edge_[at(tail)] >= 0;
    if (derivable) push(state, e, 0);
  }
  state.found.push_back(item(node, 0));
  state.pending = state.found[0];
  state.has_pending = true;
  if (distinct_) {
    state.yields.push_back(best_yield_[at(node)]);
    state.seen.insert(state.yields[0].hash);
  }
}

bool KBestSearch::find(int32_t root, uint32_t rank) {
  // An explicit stack, because forests can be deep. A node depends only on earlier nodes, so none is on it twice.
  wanted_.assign(1, {root, rank});
  while (!wanted_.empty()) {
    if (++n_steps_ % kCheckEvery == 0) control_.check();
    const auto [node, want] = wanted_.back();
    NodeState& state = states_[at(node)];
    if (state.exhausted || state.found.size() > want) {
      wanted_.pop_back();
      continue;
    }
    if (!state.started) {
      start(node);
      continue;
    }
    if (state.has_pending) {
      const auto tails = forest_.tails(state.pending.edge);
      bool waits = false;
      for (; state.pending_slot < tails.size(); ++state.pending_slot) {
        const int32_t tail = tails[state.pending_slot];
        const uint32_t next = ranks_[state.pending.ranks + state.pending_slot] + 1;
        if (!known(tail, next)) {
          if (!states_[at(tail)].exhausted) {
            wanted_.emplace_back(tail, next);
            waits = true;
            break;
          }
          continue;
        }
        const auto ranks = static_cast<uint32_t>(ranks_.size());
        for (size_t i = 0; i < tails.size(); ++i) {
          const uint32_t same = ranks_[state.pending.ranks + i];
          ranks_.push_back(i == state.pending_slot ? next : same);
        }
        push(state, state.pending.edge, ranks);
      }
      if (waits) continue;
      state.has_pending = false;
    }
    if (state.heap.empty()) {
      state.exhausted = true;
      continue;
    }
    std::pop_heap(state.heap.begin(), state.heap.end(), Worse());
    state.pending = state.heap.back();
    state.heap.pop_back();
    state.has_pending = true;
    // Each rank vector is generated once: from the one whose last nonzero rank is smaller by one.
    const size_t n_tails = forest_.tails(state.pending.edge).size();
    state.pending_slot = 0;
    for (size_t i = n_tails; i-- > 0;)
      if (ranks_[state.pending.ranks + i] != 0) {
        state.pending_slot = static_cast<uint32_t>(i);
        break;
      }
    if (distinct_) {
      const Yield yield = yield_of(state.pending);
      if (!state.seen.insert(yield.hash).second) continue;
      state.yields.push_back(yield);
    }
    state.found.push_back(state.pending);
  }
  return known(root, rank) || (rank == 0 && best_edge_[at(root)] >= 0);
}

void KBestSearch::append_edges(int64_t rank, std::vector<int32_t>& edges) const {
  std::vector<std::pair<int32_t, uint32_t>> open{{forest_.goal(), static_cast<uint32_t>(rank)}};
  const size_t begin = edges.size();
  while (!open.empty()) {
    if (edges.size() - begin + open.size() > kMostEdges)
      throw InputError("a derivation has more than " + std::to_string(kMostEdges) + " edges; is this one sentence?");
    const auto [node, r] = open.back();
    open.pop_back();
    const Item found = item(node, r);
    edges.push_back(found.edge);
    const auto tails = forest_.tails(found.edge);
    for (size_t i = tails.size(); i-- > 0;) open.emplace_back(tails[i], ranks_[found.ranks + i]);
  }
}

void append_kbest(const Forest& forest, std::span<const double> weights, int64_t k, bool distinct,
                  const Control& control, KBestLists& out) {
  KBestSearch search(forest, forest.edge_scores(weights), distinct, control);
  const size_t first = out.scores.size(), first_edge = out.edges.size();
  for (int64_t rank = 0; rank < k && search.find(rank); ++rank) {
    control.check();
    search.append_edges(rank, out.edges);
    out.edge_offsets.push_back(static_cast<int64_t>(out.edges.size()));
    out.scores.push_back(search.score(rank));
  }
  FeatureSum sums(forest, std::span(out.edges).subspan(first_edge));
  for (size_t c = first; c < out.scores.size(); ++c) {
    control.check();
    const std::span<const int32_t> edges(out.edges.begin() + out.edge_offsets[c],
                                         out.edges.begin() + out.edge_offsets[c + 1]);
    append_yield(forest, edges, out.tokens);
    out.token_offsets.push_back(static_cast<int64_t>(out.tokens.size()));
    sums.append(edges, out.feature_ids, out.feature_values);
    out.feature_offsets.push_back(static_cast<int64_t>(out.feature_ids.size()));
  }
  out.first.push_back(static_cast<int64_t>(out.scores.size()));
}

void append_yield(const Forest& forest, std::span<const int32_t> edges, std::vector<int32_t>& tokens) {
  // The position of each tail's subtree follows from the arities, read backwards.
  std::vector<size_t> first_child(edges.size() + 1);
  std::vector<size_t> children, open;
  for (size_t i = edges.size(); i-- > 0;) {
    if (edges[i] < 0 || edges[i] >= forest.n_edges())
      throw std::invalid_argument("an edge of the derivation does not exist");
    const size_t n_tails = forest.tails(edges[i]).size();
    if (open.size() < n_tails) throw std::invalid_argument("the derivation has too few edges");
    first_child[i] = children.size();
    for (size_t t = 0; t < n_tails; ++t) {
      children.push_back(open.back());
      open.pop_back();
    }
    open.push_back(i);
  }
  if (open.size() != 1) throw std::invalid_argument("the derivation has too many edges");
  std::vector<std::pair<size_t, size_t>> stack{{0, 0}};  // edge position, next symbol
  while (!stack.empty()) {
    auto& [place, next] = stack.back();
    const auto symbols = forest.symbols(forest.edge_instance(edges[place]));
    bool descends = false;
    while (next < symbols.size()) {
      const int32_t symbol = symbols[next++];
      if (symbol < 0) {
        const size_t child = children[first_child[place] + at(tail_slot(symbol))];
        stack.emplace_back(child, 0);
        descends = true;
        break;
      }
      if (!is_mark(symbol)) tokens.push_back(symbol);
    }
    if (!descends) stack.pop_back();
  }
}

FeatureSum::FeatureSum(const Forest& forest, std::span<const int32_t> edges)
    : edges_(edges.begin(), edges.end()), first_{0}, slots_(1 << 10, -1) {
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  for (const int32_t e : edges_) {
    add(forest.local_features(forest.edge_instance(e)));
    add(forest.own_features(e));
    first_.push_back(features_.size());
  }
  sort_columns();
  sums_.assign(ids_.size(), 0);
  is_used_.assign((ids_.size() + 63) / 64, 0);
}

void FeatureSum::add(std::span<const Feature> features) {
  for (const Feature& f : features) features_.push_back({column_of(f.id), f.value});
}

int32_t FeatureSum::column_of(int32_t id) {
  if (ids_.size() * 2 >= slots_.size()) {
    slots_.assign(slots_.size() * 4, -1);
    const std::vector<int32_t> ids = std::move(ids_);
    ids_.clear();
    for (const int32_t old : ids) column_of(old);
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = (static_cast<uint32_t>(id) * 0x9e3779b9u >> 4) & mask;
  while (slots_[slot] >= 0) {
    if (ids_[at(slots_[slot])] == id) return slots_[slot];
    slot = (slot + 1) & mask;
  }
  slots_[slot] = static_cast<int32_t>(ids_.size());
  ids_.push_back(id);
  return slots_[slot];
}

void FeatureSum::sort_columns() {
  std::vector<int32_t> order(ids_.size()), place(ids_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return ids_[at(a)] < ids_[at(b)]; });
  for (size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<int32_t>(i);
  for (Feature& f : features_) f.id = place[at(f.id)];
  std::sort(ids_.begin(), ids_.end());
}

void FeatureSum::append(std::span<const int32_t> edges, std::vector<int32_t>& ids, std::vector<float>& values) {
  for (const int32_t e : edges) {
    const auto row = static_cast<size_t>(std::lower_bound(edges_.begin(), edges_.end(), e) - edges_.begin());
    for (size_t f = first_[row]; f < first_[row + 1]; ++f) {
      const auto column = at(features_[f].id);
      sums_[column] += static_cast<double>(features_[f].value);
      is_used_[column / 64] |= uint64_t{1} << (column % 64);
    }
  }
  for (size_t word = 0; word < is_used_.size(); ++word)
    for (uint64_t rest = std::exchange(is_used_[word], 0); rest != 0; rest &= rest - 1) {
      const size_t column = 64 * word + static_cast<size_t>(std::countr_zero(rest));
      const auto value = static_cast<float>(std::exchange(sums_[column], 0));
      if (value == 0) continue;
      ids.push_back(ids_[column]);
      values.push_back(value);
    }
}

}  // namespace dragoman::forest
