// The trie over the source sides of a grammar. Nodes are numbered level by level, so the children of node n are
// [children[n], children[n + 1]), ordered by symbol; node 0 is the root.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/ragged.hh"
#include "core/grammar/key.hh"

namespace dragoman::grammar {

// Writes trie.symbols, trie.children and trie.source (the source side that ends at a node, or -1) for rows that are
// distinct, not empty and lexicographic in `order`; for those of them that `has` says.
void write_source_trie(const std::string& folder, const Ragged<Symbol>& rows, const std::vector<uint32_t>& order,
                       const std::function<bool(uint32_t row)>& has);

}  // namespace dragoman::grammar
