// The hypergraph text format of Moses and the kenlm tools, one search space per file, bottom-up, the goal last:
//
//   # target ||| features ||| source-covered
//   3 3
//   1
//   <s> |||  ||| 0
//   1
//   [0] the house ||| LM0=-1.5 ||| 2
//   1
//   [1] </s> ||| LM0=-0.5 ||| 2
//
// The second line has the numbers of vertices and edges; each vertex then has its number of edges and the edges.
// Lines that begin with '#' and have no fields are comments, such as Moses' "# node 0".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/forest/forest.hh"
#include "core/names/feature_index.hh"
#include "core/names/vocab.hh"

namespace dragoman::forest {

// Interns words (as stored forms) and feature names. Throws InputError with the line.
Forest read_hypergraph(std::string_view text, names::WordTable& words, names::FeatureIndex& features);

// Word ids from words.size() on are `own_words` (out-of-vocabulary words), also as stored forms. Throws InputError for
// anything the format cannot represent.
std::string write_hypergraph(const Forest& forest, const names::WordTable& words,
                             const std::vector<std::string>& own_words, const names::FeatureIndex& features);

}  // namespace dragoman::forest
