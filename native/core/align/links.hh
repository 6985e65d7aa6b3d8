// Word alignments of sentence pairs: symmetrisation of two directional alignments, and the Pharaoh format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/control.hh"
#include "core/base/ragged.hh"

namespace dragoman::align {

struct Link {
  int32_t source, target;
  friend auto operator<=>(const Link&, const Link&) = default;
};

// Row i of (offsets, links) is sentence pair i.
struct LinkTable {
  std::vector<int64_t> offsets{0};
  std::vector<Link> links;
};

using Links = Ragged<Link>;

// Links from one position (or -1) per word, words in the rows of `offsets`: the source position of every target word,
// or with `by_source` the target position of every source word. Links are sorted.
LinkTable links_of(std::span<const int64_t> offsets, std::span<const int32_t> assignment, bool by_source);

// All but kUnion start from the intersection and visit candidate links in the order (source, target), updating the
// result immediately. Adjacent links include diagonal neighbours, except in kRefined.
enum class Heuristic {
  kIntersection,
  kUnion,
  kGrowDiag,          // adds adjacent links of the union with an unaligned word, until nothing changes
  kGrowDiagAnd,       // the same with two unaligned words
  kGrowDiagFinal,     // kGrowDiag, then links of the first and of the second alignment with an unaligned word
  kGrowDiagFinalAnd,  // kGrowDiag, then those with two unaligned words
  // Och and Ney (2003): adds links of the union whose words are both unaligned, or that have a horizontal or vertical
  // neighbour and leave no link with both kinds of neighbour, until nothing changes.
  kRefined,
};

// By its name on the command line, such as "grow-diag-final-and". Throws std::invalid_argument.
Heuristic heuristic_named(std::string_view name);

// Rows need not be sorted; duplicate links count once. Positions must not be negative.
LinkTable symmetrize(const Links& first, const Links& second, Heuristic heuristic, int n_threads, Control& control);

// Sizes of the two alignments and of their intersection, duplicate links counted once.
struct Overlap {
  int64_t n_first = 0, n_second = 0, n_shared = 0;
};
Overlap overlap(const Links& first, const Links& second, int n_threads, Control& control);

// Appends the lines of `block` ("0-0 1-2", source-target from 0), sorted and without duplicates; lines end with "\n"
// only. Throws InputError with the line, counted from first_line.
void parse_pharaoh(std::string_view block, int64_t first_line, LinkTable& out);
// Appends rows [begin, end) as lines.
void format_pharaoh(const Links& links, int64_t begin, int64_t end, std::string& out);

}  // namespace dragoman::align
