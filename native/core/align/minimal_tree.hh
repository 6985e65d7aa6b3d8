// The minimal tree of a word-aligned sentence pair (Zhang, Gildea and Chiang 2008): the tight phrase pairs that overlap
// no other one without nesting, as a tree.
//
// A phrase pair is tight when its links stay inside and the words at the four ends have links. Two that overlap have a
// common part, a union and rests that are phrase pairs too, so those that cross no other one form a tree, in which a
// node is a row, whose neighbouring children can be joined at will, or can be cut only into its children. Where a row's
// children are more than two, nodes for its first two, first three and so on are added, so that every row is binary.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/align/links.hh"
#include "core/base/control.hh"

namespace dragoman::align {

enum class TreeNodeKind : uint8_t {
  kPlain,     // words, or children that cannot be joined in part
  kMonotone,  // a row of two or more children (before rows are made binary), in the same order on both sides
  kReverse,   // in the opposite order
  kPart,      // the first children of a row: crosses another tight phrase pair
};

struct TreeNode {
  int32_t source_begin, source_end, target_begin, target_end;  // ends are not included
  int32_t parent;                                              // in the same tree; -1: the top
  TreeNodeKind kind;
};

// Trees of sentence pairs: tree i has the nodes [offsets[i], offsets[i + 1]), children before their parents and from
// left to right, the top last.
struct TreeTable {
  std::vector<int64_t> offsets{0};
  std::vector<TreeNode> nodes;
};

// Reusable, for one thread at a time. Time is n log n in the number of words and links.
class TreeBuilder {
 public:
  // Appends the tree of a pair. Links lie inside it and are distinct and sorted. The top covers the whole pair: words
  // without links belong to the lowest node around them, those at the ends to the top. No nodes where a side is empty;
  // only the top where there are no links.
  void build(int32_t n_source, int32_t n_target, std::span<const Link> links, std::vector<TreeNode>& out);

 private:
  struct Word {  // a source word with links
    int32_t position, low, high, n_links;
  };
  // A node before rows are made binary, by words with links.
  struct Draft {
    int32_t first_word, last_word;
    int32_t low, high;  // first and last partner
    int32_t parent, number, n_children;
    TreeNodeKind kind;
  };

  // far[k]: the first word of the longest tight phrase pair that ends with word k; k itself if there is none.
  static void find_far(std::span<const Word> words, std::span<const int32_t> sums, std::vector<int32_t>& far);
  void add_draft(int32_t begin, int32_t end);
  void append_binary(int32_t n_source, int32_t n_target, std::vector<TreeNode>& out);
  int32_t links_between(int32_t begin, int32_t end) const { return sums_[at(end)] - sums_[at(begin)]; }
  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  std::vector<Word> words_, mirrored_;
  std::vector<int32_t> sums_;  // links of the target words before each
  std::vector<int32_t> first_,
      last_;  // by word, where the longest phrase pair that ends with it begins, and vice versa
  std::vector<int32_t> n_begins_, n_ends_;
  std::vector<int32_t> open_, roots_;  // begins without an end, nodes without a parent
  std::vector<Draft> drafts_;
  std::vector<int32_t> places_, waiting_;
};

// Links lie inside the pairs, whose numbers of words are given, and are distinct and sorted (else InputError).
TreeTable minimal_trees(std::span<const int32_t> n_source, std::span<const int32_t> n_target, const Links& links,
                        int n_threads, Control& control);

}  // namespace dragoman::align
