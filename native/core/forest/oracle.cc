#include "core/forest/oracle.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "core/base/parallel.hh"
#include "core/grammar/key.hh"
#include "core/metric/ngram_trie.hh"

namespace dragoman::forest {

namespace {

constexpr int kMaxContext = 7;

// A partial translation; its n-gram counts are stored separately.
struct Item {
  int32_t length = 0;
  int32_t n_prefix = 0, n_suffix = 0;
  int32_t prefix[kMaxContext] = {}, suffix[kMaxContext] = {};
  int32_t edge = -1;
  uint32_t first_tail = 0;  // the tails' items in tails_
  double gain = 0;
};

class OracleSearch {
 public:
  OracleSearch(int order, int64_t beam, const Control& control) : order_(order), beam_(beam), control_(control) {}

  ForestOracle run(const Forest& forest, const std::vector<std::span<const int32_t>>& references) {
    forest_ = &forest;
    references_ = &references;
    prepare();
    nodes_.assign(static_cast<size_t>(forest.n_nodes()), {});
    items_.clear();
    counts_.clear();
    tails_.clear();
    for (int32_t v = 0; v < forest.n_nodes(); ++v) fill(v);
    ForestOracle best;
    if (forest.n_nodes() == 0 || nodes_.back().empty()) return best;
    uint32_t top = nodes_.back().front();
    for (const uint32_t item : nodes_.back())
      if (items_[item].gain > items_[top].gain) top = item;
    best.gain = items_[top].gain;
    append_edges(top, best.edges);
    return best;
  }

 private:
  void prepare() {
    trie_.build(*references_, order_);
    n_ngrams_ = static_cast<size_t>(trie_.n_nodes());
    order_of_.assign(n_ngrams_, 0);
    limits_.assign(n_ngrams_, 0);
    for (const auto& reference : *references_)
      trie_.match(reference, [&](int n, int32_t node, int32_t) { order_of_[static_cast<size_t>(node)] = n; });
    for (size_t node = 1; node < n_ngrams_; ++node)
      limits_[node] = static_cast<uint8_t>(std::min(trie_.limit(static_cast<int32_t>(node)), 255));
  }

  void fill(int32_t v) {
    found_.clear();
    found_counts_.clear();
    found_tails_.clear();
    known_.clear();
    const Forest::Node& node = forest_->node(v);
    const Forest::Node& goal = forest_->node(forest_->goal());
    const double share = v == forest_->goal() || node.covered < 0 || goal.covered <= 0
                             ? 1.0
                             : static_cast<double>(node.covered) / goal.covered;
    for (int32_t e = forest_->first_edge(v); e < forest_->end_edge(v); ++e) {
      const auto tails = forest_->tails(e);
      const bool dead = std::ranges::any_of(tails, [&](int32_t t) { return nodes_[static_cast<size_t>(t)].empty(); });
      if (dead) continue;
      choice_.assign(tails.size(), 0);
      do {
        control_.check();
        compose(e, share);
      } while (next_choice(tails));
    }
    keep(v);
  }

  // Enumerates all combinations of the tails' items.
  bool next_choice(std::span<const int32_t> tails) {
    for (size_t i = 0; i < choice_.size(); ++i) {
      if (++choice_[i] < nodes_[static_cast<size_t>(tails[i])].size()) return true;
      choice_[i] = 0;
    }
    return false;
  }

  void compose(int32_t e, double share) {
    now_ = Item();
    now_.edge = e;
    now_counts_.assign(n_ngrams_, 0);
    const auto tails = forest_->tails(e);
    for (const int32_t symbol : forest_->symbols(forest_->edge_instance(e))) {
      if (symbol >= 0) {
        if (symbol != kBosWord && symbol != kEosWord) add_word(symbol);
        continue;
      }
      const auto slot = static_cast<size_t>(tail_slot(symbol));
      add_item(nodes_[static_cast<size_t>(tails[slot])][choice_[slot]]);
    }
    now_.gain = gain_of(share);
    const uint64_t key = hash();
    const auto place = static_cast<uint32_t>(found_.size());
    const auto [at, is_new] = known_.try_emplace(key, place);
    if (!is_new && same(at->second)) return;
    now_.first_tail = static_cast<uint32_t>(found_tails_.size());
    for (size_t i = 0; i < tails.size(); ++i) found_tails_.push_back(nodes_[static_cast<size_t>(tails[i])][choice_[i]]);
    found_.push_back(now_);
    found_counts_.insert(found_counts_.end(), now_counts_.begin(), now_counts_.end());
  }

  void count(int32_t node) {
    uint8_t& n = now_counts_[static_cast<size_t>(node)];
    if (n < limits_[static_cast<size_t>(node)]) ++n;
  }

  // Counts the n-grams that end with `word` and begin among the last `n_context` words.
  void count_ending(int32_t word, const int32_t* context, int n_context, int n_new) {
    // From the longest context to the empty one; n-grams that begin within the last n_new words were counted before.
    for (int length = n_context; length >= n_new; --length) {
      int32_t node = metric::NgramTrie::kRoot;
      for (int i = n_context - length; i < n_context; ++i) {
        node = trie_.child(node, context[i]);
        if (node == metric::NgramTrie::kNone) break;
      }
      if (node == metric::NgramTrie::kNone && length > 0) continue;
      node = trie_.child(node, word);
      if (node != metric::NgramTrie::kNone) count(node);
    }
  }

  void push_suffix(int32_t word) {
    const int most = order_ - 1;
    if (most == 0) return;
    if (now_.n_prefix < most && now_.n_prefix == now_.length) now_.prefix[now_.n_prefix++] = word;
    if (now_.n_suffix == most) {
      std::copy(now_.suffix + 1, now_.suffix + most, now_.suffix);
      --now_.n_suffix;
    }
    now_.suffix[now_.n_suffix++] = word;
  }

  void add_word(int32_t word) {
    count_ending(word, now_.suffix, now_.n_suffix, 0);
    push_suffix(word);
    ++now_.length;
  }

  void add_item(uint32_t id) {
    const Item& inner = items_[id];
    const uint8_t* counts = counts_.data() + static_cast<size_t>(id) * n_ngrams_;
    for (size_t i = 0; i < n_ngrams_; ++i)
      now_counts_[i] = static_cast<uint8_t>(std::min(now_counts_[i] + counts[i], static_cast<int>(limits_[i])));
    // N-grams across the boundary end among the first words of the inner part.
    int32_t window[2 * kMaxContext];
    const int n_before = now_.n_suffix;
    std::copy(now_.suffix, now_.suffix + n_before, window);
    std::copy(inner.prefix, inner.prefix + inner.n_prefix, window + n_before);
    for (int i = 0; i < inner.n_prefix; ++i) {
      const int n_context = std::min(order_ - 1, n_before + i);
      if (n_context > i) count_ending(inner.prefix[i], window + n_before + i - n_context, n_context, i + 1);
    }
    if (inner.length <= inner.n_suffix) {  // all of its words are stored
      for (int i = 0; i < inner.n_suffix; ++i) {
        push_suffix(inner.suffix[i]);
        ++now_.length;
      }
      return;
    }
    for (int i = 0; i < inner.n_prefix && now_.n_prefix < order_ - 1 && now_.n_prefix == now_.length + i; ++i)
      now_.prefix[now_.n_prefix++] = inner.prefix[i];
    std::copy(inner.suffix, inner.suffix + inner.n_suffix, now_.suffix);
    now_.n_suffix = inner.n_suffix;
    now_.length += inner.length;
  }

  double gain_of(double share) const {
    if (now_.length == 0) return 0;
    std::vector<double>& correct = correct_;
    correct.assign(static_cast<size_t>(order_), 0.0);
    for (size_t i = 1; i < n_ngrams_; ++i) correct[static_cast<size_t>(order_of_[i])] += now_counts_[i];
    double sum = 0;
    for (int n = 0; n < order_; ++n) {
      const double added = n > 0 ? 1 : 0;
      const double below = std::max(0, now_.length - n) + added;
      sum += std::log((correct[static_cast<size_t>(n)] + added) / below);
    }
    const auto distance = [&](double length) { return std::abs(now_.length - length); };
    double reference = static_cast<double>(references_->front().size()) * share;
    for (const auto& one : *references_) {
      const double length = static_cast<double>(one.size()) * share;
      if (distance(length) < distance(reference) || (distance(length) == distance(reference) && length < reference))
        reference = length;
    }
    const double brevity = now_.length < reference ? std::exp(1 - reference / now_.length) : 1;
    return brevity * std::exp(sum / order_);
  }

  uint64_t hash() const {
    uint64_t state = grammar::mix64(static_cast<uint64_t>(now_.length));
    size_t i = 0;
    for (; i + 8 <= n_ngrams_; i += 8) {
      uint64_t word;
      std::memcpy(&word, now_counts_.data() + i, 8);
      state = grammar::mix64(state ^ word);
    }
    for (; i < n_ngrams_; ++i) state = grammar::mix64(state ^ now_counts_[i]);
    for (int k = 0; k < now_.n_prefix; ++k) state = grammar::mix64(state ^ static_cast<uint32_t>(now_.prefix[k]));
    for (int k = 0; k < now_.n_suffix; ++k) state = grammar::mix64(state ^ static_cast<uint32_t>(now_.suffix[k]));
    return state;
  }

  // Whether an existing item has the same state as the current one; on a hash collision both are kept.
  bool same(uint32_t found) const {
    const Item& other = found_[found];
    return other.length == now_.length && other.n_prefix == now_.n_prefix && other.n_suffix == now_.n_suffix &&
           std::equal(now_.prefix, now_.prefix + now_.n_prefix, other.prefix) &&
           std::equal(now_.suffix, now_.suffix + now_.n_suffix, other.suffix) &&
           std::equal(now_counts_.begin(), now_counts_.end(),
                      found_counts_.begin() + static_cast<std::ptrdiff_t>(found * n_ngrams_));
  }

  // The `beam` best items found become the node's items.
  void keep(int32_t v) {
    kept_.resize(found_.size());
    for (size_t i = 0; i < kept_.size(); ++i) kept_[i] = static_cast<uint32_t>(i);
    std::stable_sort(kept_.begin(), kept_.end(),
                     [&](uint32_t a, uint32_t b) { return found_[a].gain > found_[b].gain; });
    if (beam_ > 0 && kept_.size() > static_cast<size_t>(beam_)) kept_.resize(static_cast<size_t>(beam_));
    for (const uint32_t from : kept_) {
      Item item = found_[from];
      const size_t n_tails = forest_->tails(item.edge).size();
      const auto first = found_tails_.begin() + static_cast<std::ptrdiff_t>(item.first_tail);
      item.first_tail = static_cast<uint32_t>(tails_.size());
      tails_.insert(tails_.end(), first, first + static_cast<std::ptrdiff_t>(n_tails));
      nodes_[static_cast<size_t>(v)].push_back(static_cast<uint32_t>(items_.size()));
      items_.push_back(item);
      const auto counts = found_counts_.begin() + static_cast<std::ptrdiff_t>(from * n_ngrams_);
      counts_.insert(counts_.end(), counts, counts + static_cast<std::ptrdiff_t>(n_ngrams_));
    }
  }

  void append_edges(uint32_t top, std::vector<int32_t>& edges) const {
    std::vector<uint32_t> open{top};
    while (!open.empty()) {
      const Item& item = items_[open.back()];
      open.pop_back();
      edges.push_back(item.edge);
      for (size_t i = forest_->tails(item.edge).size(); i-- > 0;) open.push_back(tails_[item.first_tail + i]);
    }
  }

  int order_;
  int64_t beam_;
  const Control& control_;
  const Forest* forest_ = nullptr;
  const std::vector<std::span<const int32_t>>* references_ = nullptr;
  metric::NgramTrie trie_;
  size_t n_ngrams_ = 0;  // including the root
  std::vector<int> order_of_;
  std::vector<uint8_t> limits_;

  std::vector<std::vector<uint32_t>> nodes_;  // their items
  std::vector<Item> items_;
  std::vector<uint8_t> counts_;  // of all items, n_ngrams_ each
  std::vector<uint32_t> tails_;

  // State of the current node.
  std::vector<Item> found_;
  std::vector<uint8_t> found_counts_;
  std::vector<uint32_t> found_tails_, kept_;
  std::unordered_map<uint64_t, uint32_t> known_;
  std::vector<size_t> choice_;
  Item now_;
  std::vector<uint8_t> now_counts_;
  mutable std::vector<double> correct_;
};

}  // namespace

std::vector<ForestOracle> forest_oracles(const std::vector<const Forest*>& forests,
                                         const std::vector<std::vector<std::span<const int32_t>>>& references,
                                         int order, int64_t beam, int n_threads, Control& control) {
  if (references.size() != forests.size()) throw std::invalid_argument("expected references for every forest");
  if (order < 1 || order > kMaxContext + 1) throw std::invalid_argument("order must be between 1 and 8");
  for (const auto& of_one : references)
    if (of_one.empty()) throw std::invalid_argument("expected at least one reference per forest");
  std::vector<ForestOracle> best(forests.size());
  std::vector<OracleSearch> searches(static_cast<size_t>(std::max(1, n_threads)), OracleSearch(order, beam, control));
  parallel_chunks(static_cast<int64_t>(forests.size()), 1, n_threads, control,
                  [&](int64_t begin, int64_t end, int worker) {
                    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
                      best[i] = searches[static_cast<size_t>(worker)].run(*forests[i], references[i]);
                  });
  return best;
}

}  // namespace dragoman::forest
