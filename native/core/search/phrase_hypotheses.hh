// Partial translations of one sentence: recombination classes, the ways into each, and stacks of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace dragoman::search {

// What later scores can depend on: hypotheses that agree in it recombine.
struct SearchState {
  uint32_t coverage = 0, lm_state = 0, carry = 0, blocks = 0;
  int32_t last_begin = 0, last_end = 0;  // last_begin is -1 where no swap with the last phrase can come

  friend bool operator==(const SearchState&, const SearchState&) = default;
  uint64_t hash() const {
    uint64_t x = (uint64_t{coverage} << 32 | lm_state) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 32 ^ (uint64_t{carry} << 32 | blocks)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 29 ^ (uint64_t{static_cast<uint32_t>(last_begin)} << 32 | static_cast<uint32_t>(last_end))) *
        0x94d049bb133111ebull;
    return x ^ x >> 31;
  }
};

// A recombination class, and the best way there.
struct Hypothesis : SearchState {
  double score = 0, total = 0;  // total: with the estimate of what is to come
  int32_t first_arc = -1;
  bool is_alive = false;  // stands in its stack

  const SearchState& state() const { return *this; }
};

struct Arc {
  int32_t from, option, next;
  float lm;
};

class Hypotheses {
 public:
  // Hypothesis 0 is the start.
  void start(const Hypothesis& first, int32_t n_words) {
    all_.assign(1, first);
    all_[0].is_alive = true;
    arcs_.clear();
    slots_.assign(1 << 12, -1);
    stacks_.resize(std::max(stacks_.size(), static_cast<size_t>(n_words) + 1));
    for (auto& s : stacks_) s.clear();
    stacks_[0].push_back(0);
  }

  const Hypothesis& operator[](int32_t id) const { return all_[static_cast<size_t>(id)]; }
  size_t size() const { return all_.size(); }
  const Arc& arc(int32_t id) const { return arcs_[static_cast<size_t>(id)]; }
  // The stack of hypotheses that cover this number of words.
  const std::vector<int32_t>& stack(int32_t covered) const { return stacks_[static_cast<size_t>(covered)]; }

  // Adds a way to the class of `h` (arcs and liveness of which do not matter). Gives the size of the stack.
  size_t add(const Hypothesis& h, int32_t from, int32_t option, float lm, int32_t covered) {
    const int32_t id = recombine(h);
    Hypothesis& known = all_[static_cast<size_t>(id)];
    arcs_.push_back({from, option, known.first_arc, lm});
    known.first_arc = static_cast<int32_t>(arcs_.size() - 1);
    known.score = std::max(known.score, h.score);
    known.total = std::max(known.total, h.total);
    auto& into = stacks_[static_cast<size_t>(covered)];
    if (!known.is_alive) {
      known.is_alive = true;
      into.push_back(id);
    }
    return into.size();
  }

  // The same, but a class keeps only its best way; of equal ones the first.
  void add_best(const Hypothesis& h, int32_t from, int32_t option, int32_t stack) {
    const int32_t id = recombine(h);
    Hypothesis& known = all_[static_cast<size_t>(id)];
    if (known.first_arc < 0) {
      known.first_arc = static_cast<int32_t>(arcs_.size());
      arcs_.push_back({from, option, -1, 0});
    } else if (h.score > known.score) {
      arcs_[static_cast<size_t>(known.first_arc)] = {from, option, -1, 0};
    }
    known.score = std::max(known.score, h.score);
    known.total = std::max(known.total, h.total);
    if (known.is_alive) return;
    known.is_alive = true;
    stacks_[static_cast<size_t>(stack)].push_back(id);
  }

  // Leaves the best of a stack, grouped by coverage and last position, best first in each group.
  void prune(int32_t covered, size_t size, double beam) {
    auto& ids = stacks_[static_cast<size_t>(covered)];
    const auto better = [&](int32_t a, int32_t b) {
      const double x = (*this)[a].total, y = (*this)[b].total;
      return x != y ? x > y : a < b;
    };
    double best = -std::numeric_limits<double>::infinity();
    for (const int32_t id : ids) best = std::max(best, (*this)[id].total);
    const auto low =
        std::partition(ids.begin(), ids.end(), [&](int32_t id) { return (*this)[id].total >= best - beam; });
    for (auto it = low; it != ids.end(); ++it) all_[static_cast<size_t>(*it)].is_alive = false;
    ids.erase(low, ids.end());
    if (ids.size() > size) {
      std::nth_element(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(size), ids.end(), better);
      for (size_t i = size; i < ids.size(); ++i) all_[static_cast<size_t>(ids[i])].is_alive = false;
      ids.resize(size);
    }
    std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
      const Hypothesis &x = (*this)[a], &y = (*this)[b];
      if (x.coverage != y.coverage) return x.coverage < y.coverage;
      if (x.last_end != y.last_end) return x.last_end < y.last_end;
      return better(a, b);
    });
  }

 private:
  // The hypothesis with this state; a new one is not alive yet.
  int32_t recombine(const Hypothesis& h) {
    if (all_.size() * 2 >= slots_.size()) {
      slots_.assign(slots_.size() * 4, -1);
      for (size_t id = 1; id < all_.size(); ++id) {
        size_t slot = all_[id].hash() & (slots_.size() - 1);
        while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = static_cast<int32_t>(id);
      }
    }
    const size_t mask = slots_.size() - 1;
    size_t slot = h.hash() & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask)
      if ((*this)[slots_[slot]].state() == h.state()) return slots_[slot];
    slots_[slot] = static_cast<int32_t>(all_.size());
    all_.push_back(h);
    return slots_[slot];
  }

  std::vector<Hypothesis> all_;
  std::vector<Arc> arcs_;
  std::vector<int32_t> slots_;
  std::vector<std::vector<int32_t>> stacks_;
};

}  // namespace dragoman::search
