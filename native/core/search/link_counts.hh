// The links of a word-aligned pair as counts, for asking which spans they join.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/align/links.hh"
#include "core/base/at.hh"

namespace dragoman::search {

struct LinkCounts {
  std::vector<int32_t> low, high;       // of source words: first and last partner; high is -1 without one
  std::vector<int32_t> source, target;  // links of the words before each

  void assign(int32_t n_source, int32_t n_target, std::span<const align::Link> links) {
    low.assign(at(n_source), n_target);
    high.assign(at(n_source), -1);
    source.assign(at(n_source) + 1, 0);
    target.assign(at(n_target) + 1, 0);
    for (const align::Link& link : links) {
      low[at(link.source)] = std::min(low[at(link.source)], link.target);
      high[at(link.source)] = std::max(high[at(link.source)], link.target);
      ++source[at(link.source) + 1];
      ++target[at(link.target) + 1];
    }
    std::partial_sum(source.begin(), source.end(), source.begin());
    std::partial_sum(target.begin(), target.end(), target.begin());
  }
  int32_t of_source(int32_t begin, int32_t end) const { return source[at(end)] - source[at(begin)]; }
  int32_t of_target(int32_t begin, int32_t end) const { return target[at(end)] - target[at(begin)]; }
  bool has_source(int32_t word) const { return high[at(word)] >= 0; }
  bool has_target(int32_t word) const { return of_target(word, word + 1) > 0; }
};

}  // namespace dragoman::search
