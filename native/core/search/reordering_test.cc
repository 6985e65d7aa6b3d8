#include "core/search/reordering.hh"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "core/search/phrase_coverage.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

// The block of the last phrase, by definition: grown to the left, as long as what comes before is beside it.
search::SourceSpan last_block(const std::vector<search::SourceSpan>& phrases, size_t& first) {
  search::SourceSpan best{0, 0};
  for (size_t begin = phrases.size(); begin-- > 0;) {
    int32_t low = INT32_MAX, high = 0, n = 0;
    for (size_t i = begin; i < phrases.size(); ++i) {
      low = std::min(low, phrases[i].begin);
      high = std::max(high, phrases[i].end);
      n += phrases[i].end - phrases[i].begin;
    }
    search::BlockStacks stacks;
    uint32_t stack = 0;
    for (size_t i = begin; i < phrases.size(); ++i) stack = stacks.shift(stack, phrases[i]);
    if (high - low != n || stacks.top(stack).depth != 1) continue;
    best = {low, high};
    first = begin;
  }
  return best;
}

}  // namespace

// A block on top has its first and its last target word; of those below nobody can see the last any more.
TEST(blocks_know_the_words_at_their_edges) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<int32_t> cuts{0};
    while (cuts.size() < 7) cuts.push_back(cuts.back() + 1 + static_cast<int32_t>(random() % 2));
    std::vector<search::SourceSpan> order, phrases;
    for (size_t i = 1; i < cuts.size(); ++i) order.push_back({cuts[i - 1], cuts[i]});
    std::shuffle(order.begin(), order.end(), random);
    search::BlockStacks stacks;
    uint32_t stack = 0, other = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto number = static_cast<int32_t>(i);
      const bool is_beside =
          i > 0 && (stacks.top(stack).span.end == order[i].begin || stacks.top(stack).span.begin == order[i].end);
      phrases.push_back(order[i]);
      stack = stacks.shift(stack, order[i], {number, number});
      // Another last word in the phrase before makes no difference now, whether it is merged or below.
      if (i > 0) {
        other = stacks.shift(other, order[i], {number, number});
        CHECK(other == stack);
      }
      size_t first = 0;
      CHECK(stacks.top(stack).span == last_block(phrases, first));
      CHECK((stacks.top(stack).target == search::TargetEdges{static_cast<int32_t>(first), number}));
      if (!is_beside && i > 0) CHECK(stacks.top(stacks.top(stack).below).target.last == search::TargetEdges::kNone);
      uint32_t again = 0;
      for (size_t k = 0; k <= i; ++k) {
        const auto last = static_cast<int32_t>(k) + (k == i ? 100 : 0);
        again = stacks.shift(again, order[k], {static_cast<int32_t>(k), last});
      }
      CHECK(again != stack);
      other = again;
    }
  }
}

TEST(coverages_follow_a_plain_bitmap) {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 150);
    const std::vector<double> best(static_cast<size_t>(n), -1.0);
    search::FutureCosts costs;
    costs.compute(n, 1, best, n);
    search::Coverages coverages;
    coverages.start(n, -1, costs);
    std::vector<char> bitmap(static_cast<size_t>(n));
    uint32_t id = 0;
    std::map<std::vector<char>, uint32_t> seen{{bitmap, 0}};
    int n_covered = 0;
    while (n_covered < n) {
      int begin = static_cast<int>(random() % static_cast<unsigned>(n));
      while (bitmap[static_cast<size_t>(begin)]) begin = (begin + 1) % n;
      int end = begin;
      const int longest = 1 + static_cast<int>(random() % 5);
      while (end < n && !bitmap[static_cast<size_t>(end)] && end - begin < longest)
        bitmap[static_cast<size_t>(end++)] = 1;
      n_covered += end - begin;
      id = coverages.extend(id, {begin, end});
      CHECK(coverages.n_covered(id) == n_covered);
      CHECK(std::abs(coverages.future(id) + (n - n_covered)) < 1e-9);
      for (int p = 0; p < n; ++p) CHECK(coverages.is_covered(id, p) == (bitmap[static_cast<size_t>(p)] != 0));
      const auto [known, is_new] = seen.try_emplace(bitmap, id);
      CHECK(known->second == id);
    }
    CHECK(coverages.first_gap(id) == n);
  }
}
