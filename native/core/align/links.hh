// Word links of sentence pairs: symmetrisation of two directed alignments, and Pharaoh text.
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

// From one position (or -1) a word, words in the rows of `offsets`: of every target word's source word, or with
// `by_source` of every source word's target word. Links come out sorted.
LinkTable links_of(std::span<const int64_t> offsets, std::span<const int32_t> assignment, bool by_source);

// All start from the intersection (union: from both) and visit candidates in the order (source, target), changing the
// result at once. "Adjacent" includes diagonals, except in kRefined.
enum class Heuristic {
  kIntersection,
  kUnion,
  kGrowDiag,       // adds links of the union adjacent to a link while a word of theirs has none, until nothing changes
  kGrowDiagAnd,    // the same while both words have none
  kGrowDiagFinal,  // kGrowDiag, then links of the first alignment and of the second with a word that has none
  kGrowDiagFinalAnd,  // kGrowDiag, then those with two words that have none
  // Och and Ney (2003): adds links of the union whose words both have none, or which have a horizontal or vertical
  // neighbour and leave no link with both kinds of neighbour, until nothing changes.
  kRefined,
};

// By its name on the command line, such as "grow-diag-final-and". Throws std::invalid_argument.
Heuristic heuristic_named(std::string_view name);

// Rows need not be sorted; repeated links count once. Positions must not be negative.
LinkTable symmetrize(const Links& first, const Links& second, Heuristic heuristic, int n_threads, Control& control);

// Sizes of the two alignments and of what they share, repeated links counted once.
struct Overlap {
  int64_t n_first = 0, n_second = 0, n_shared = 0;
};
Overlap overlap(const Links& first, const Links& second, int n_threads, Control& control);

// Appends the lines of `block` ("0-0 1-2", source-target from 0, sorted and made distinct); lines end with "\n" only.
// Throws InputError with the line, counted from first_line.
void parse_pharaoh(std::string_view block, int64_t first_line, LinkTable& out);
// Appends rows [begin, end) as lines.
void format_pharaoh(const Links& links, int64_t begin, int64_t end, std::string& out);

}  // namespace dragoman::align
