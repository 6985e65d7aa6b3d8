#include "core/grammar/symbol_order.hh"

#include <bit>
#include <limits>

#include "core/base/errors.hh"

namespace dragoman::grammar {

void check_n_sides(int64_t n, const std::string& side) {
  if (n > std::numeric_limits<int32_t>::max())
    throw InputError("more than 2^31 distinct " + side + " sides; lower the maximal phrase length or split the corpus");
}

std::vector<uint32_t> lexicographic_order(const Ragged<Symbol>& rows, int n_threads, Control& control) {
  if (rows.size() >= std::numeric_limits<uint32_t>::max())
    throw InputError("too many distinct phrases; lower the maximal phrase length or split the corpus");
  // As many leading symbols as fit go into 128 bits; few comparisons look at the text.
  struct Key {
    uint64_t high, low;
    uint32_t row;
  };
  Symbol least = 0, most = 0;
  for (const Symbol s : rows.values) {
    least = std::min(least, s);
    most = std::max(most, s);
  }
  const int n_bits = std::bit_width(static_cast<uint64_t>(static_cast<int64_t>(most) - least + 1));
  const int per_word = 64 / n_bits;
  std::vector<Key> keys(static_cast<size_t>(rows.size()));
  constexpr int64_t kChunk = 1 << 16;
  const int64_t n_chunks = (rows.size() + kChunk - 1) / kChunk;
  parallel_chunks(n_chunks, 1, n_threads, control, [&](int64_t chunk, int64_t, int) {
    const int64_t end = std::min(rows.size(), (chunk + 1) * kChunk);
    for (int64_t row = chunk * kChunk; row < end; ++row) {
      const auto symbols = rows[row];
      uint64_t words[2] = {0, 0};
      for (int i = 0; i < 2 * per_word; ++i) {
        const uint64_t digit = static_cast<size_t>(i) < symbols.size()
                                   ? static_cast<uint64_t>(static_cast<int64_t>(symbols[i]) - least + 1)
                                   : 0;
        uint64_t& word = words[i / per_word];
        word = word << n_bits | digit;
      }
      keys[static_cast<size_t>(row)] = {words[0], words[1], static_cast<uint32_t>(row)};
    }
  });
  const auto less = [&](const Key& a, const Key& b) {
    if (a.high != b.high) return a.high < b.high;
    if (a.low != b.low) return a.low < b.low;
    const auto x = rows[a.row], y = rows[b.row];
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  parallel_sort(keys, n_threads, control, less);
  std::vector<uint32_t> order(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].row;
  return order;
}

}  // namespace dragoman::grammar
