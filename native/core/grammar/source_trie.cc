#include "core/grammar/source_trie.hh"

#include <algorithm>

#include "core/base/errors.hh"
#include "core/base/temp_file.hh"

namespace dragoman::grammar {

namespace {

// Calls node(row, depth) for every prefix that is new with a row, in order of rows.
template <typename Has, typename Node>
void each_new_prefix(const Ragged<Symbol>& rows, const std::vector<uint32_t>& order, Has&& has, Node&& node) {
  std::span<const Symbol> previous;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!has(order[i])) continue;
    const auto symbols = rows[order[i]];
    const auto shared = std::mismatch(previous.begin(), previous.end(), symbols.begin(), symbols.end()).second;
    for (auto depth = static_cast<size_t>(shared - symbols.begin()); depth < symbols.size(); ++depth)
      node(i, symbols, depth);
    previous = symbols;
  }
}

}  // namespace

void write_source_trie(const std::string& folder, const Ragged<Symbol>& rows, const std::vector<uint32_t>& order,
                       const std::function<bool(uint32_t row)>& has) {
  std::vector<int64_t> level_sizes{1};
  each_new_prefix(rows, order, has, [&](size_t, std::span<const Symbol>, size_t depth) {
    if (level_sizes.size() <= depth + 1) level_sizes.resize(depth + 2, 0);
    ++level_sizes[depth + 1];
  });
  std::vector<int64_t> next(level_sizes.size() + 1, 0);  // of every level, the next free node
  for (size_t level = 0; level < level_sizes.size(); ++level) next[level + 1] = next[level] + level_sizes[level];
  const int64_t n_nodes = next.back();
  std::vector<Symbol> symbols(static_cast<size_t>(n_nodes), 0);
  std::vector<int64_t> children(static_cast<size_t>(n_nodes) + 1, n_nodes);
  std::vector<int32_t> sources(static_cast<size_t>(n_nodes), -1);
  children[0] = 1;
  each_new_prefix(rows, order, has, [&](size_t row, std::span<const Symbol> text, size_t depth) {
    const auto node = static_cast<size_t>(next[depth + 1]++);
    symbols[node] = text[depth];
    children[node] = depth + 2 < next.size() ? next[depth + 2] : n_nodes;
    if (depth + 1 == text.size()) sources[node] = static_cast<int32_t>(row);
  });
  write_array(folder + "/trie.symbols", std::span<const Symbol>(symbols));
  write_array(folder + "/trie.children", std::span<const int64_t>(children));
  write_array(folder + "/trie.source", std::span<const int32_t>(sources));
}

}  // namespace dragoman::grammar
