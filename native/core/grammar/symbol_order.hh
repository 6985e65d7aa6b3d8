// Lexicographic order of many symbol sequences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/control.hh"
#include "core/base/parallel.hh"
#include "core/base/ragged.hh"
#include "core/grammar/key.hh"

namespace dragoman::grammar {

// Sorts with a total order, so that the result is the same for any number of threads.
template <typename T, typename Less>
void parallel_sort(std::vector<T>& values, int n_threads, Control& control, Less less) {
  const auto n = static_cast<int64_t>(values.size());
  const int64_t n_parts = n < (1 << 14) ? 1 : std::max(1, n_threads);
  const auto bound = [&](int64_t part) { return values.begin() + n * part / n_parts; };
  parallel_chunks(n_parts, 1, n_threads, control,
                  [&](int64_t part, int64_t, int) { std::sort(bound(part), bound(part + 1), less); });
  for (int64_t width = 1; width < n_parts; width *= 2)
    for (int64_t part = 0; part + width < n_parts; part += 2 * width)
      std::inplace_merge(bound(part), bound(part + width), bound(std::min(n_parts, part + 2 * width)), less);
}

// Throws InputError for more distinct sides than ids of 32 bits with a sign can tell apart, which are stored. `side` is
// "source" or "target".
void check_n_sides(int64_t n, const std::string& side);

// Rows of distinct sequences in lexicographic order (a prefix before what it begins); at most 2^32 - 1 rows.
std::vector<uint32_t> lexicographic_order(const Ragged<Symbol>& rows, int n_threads, Control& control);

}  // namespace dragoman::grammar
