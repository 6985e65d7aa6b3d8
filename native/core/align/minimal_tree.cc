#include "core/align/minimal_tree.hh"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"

namespace dragoman::align {

namespace {

constexpr int32_t kNever = std::numeric_limits<int32_t>::max() / 2;

// Values that are added to by ranges, and the first zero among them. None may be below zero.
class RangeSums {
 public:
  explicit RangeSums(size_t n) {
    while (size_ < n) size_ *= 2;
    least_.assign(2 * size_, kNever);
    added_.assign(2 * size_, 0);
  }

  void add(size_t begin, size_t end, int32_t amount) { add(1, 0, size_, begin, end, amount); }

  // The place of the first zero, or -1.
  int32_t first_zero() const {
    if (least_[1] != 0) return -1;
    size_t node = 1;
    for (int32_t wanted = 0; node < size_;) {
      wanted -= added_[node];
      node = 2 * node + (least_[2 * node] == wanted ? 0 : 1);
    }
    return static_cast<int32_t>(node - size_);
  }

 private:
  void add(size_t node, size_t from, size_t to, size_t begin, size_t end, int32_t amount) {
    if (begin >= to || end <= from) return;
    if (begin <= from && to <= end) {
      least_[node] += amount;
      added_[node] += amount;
      return;
    }
    const size_t middle = (from + to) / 2;
    add(2 * node, from, middle, begin, end, amount);
    add(2 * node + 1, middle, to, begin, end, amount);
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) + added_[node];
  }

  size_t size_ = 1;
  std::vector<int32_t> least_, added_;  // the least value below a node, its own additions included
};

}  // namespace

// The words from k to `end` are a phrase pair's when the target words between their first and last partner have no more
// links than they. For all k at once: when `end` moves on, the difference falls by the links of the new word, and grows
// where the word's partners are beyond those there were; of these, those with the same partner so far are neighbours.
void TreeBuilder::find_far(std::span<const Word> words, std::span<const int32_t> sums, std::vector<int32_t>& far) {
  far.resize(words.size());
  RangeSums differences(words.size());
  struct Run {  // words from `begin` to the next run have this partner as their first, or last, up to here
    size_t begin;
    int32_t partner;
  };
  std::vector<Run> lows, highs;
  const auto links_to = [&](int32_t partner) { return sums[at(partner)]; };
  for (size_t end = 0; end < words.size(); ++end) {
    const Word& word = words[end];
    differences.add(end, end + 1, links_to(word.high + 1) - links_to(word.low) - kNever);
    if (end > 0) differences.add(0, end, -word.n_links);
    differences.add(end, end + 1, -word.n_links);
    size_t begin = end;
    for (size_t until = end; !lows.empty() && lows.back().partner > word.low; lows.pop_back()) {
      begin = lows.back().begin;
      differences.add(begin, until, links_to(lows.back().partner) - links_to(word.low));
      until = begin;
    }
    lows.push_back({begin, word.low});
    begin = end;
    for (size_t until = end; !highs.empty() && highs.back().partner < word.high; highs.pop_back()) {
      begin = highs.back().begin;
      differences.add(begin, until, links_to(word.high + 1) - links_to(highs.back().partner + 1));
      until = begin;
    }
    highs.push_back({begin, word.high});
    const int32_t found = differences.first_zero();
    far[end] = found < 0 ? static_cast<int32_t>(end) : found;
  }
}

void TreeBuilder::build(int32_t n_source, int32_t n_target, std::span<const Link> links, std::vector<TreeNode>& out) {
  if (n_source == 0 || n_target == 0) return;
  words_.clear();
  sums_.assign(at(n_target) + 1, 0);
  for (const Link& link : links) {
    if (words_.empty() || words_.back().position != link.source)
      words_.push_back({link.source, link.target, link.target, 0});
    words_.back().high = link.target;
    ++words_.back().n_links;
    ++sums_[at(link.target) + 1];
  }
  for (size_t j = 0; j < at(n_target); ++j) sums_[j + 1] += sums_[j];
  const auto n = static_cast<int32_t>(words_.size());
  if (n == 0) {
    out.push_back({0, n_source, 0, n_target, -1, TreeNodeKind::kPlain});
    return;
  }
  find_far(words_, sums_, first_);
  // The same from the right: the mirrored sentence.
  mirrored_.assign(words_.rbegin(), words_.rend());
  find_far(mirrored_, sums_, last_);
  std::reverse(last_.begin(), last_.end());
  for (int32_t& k : last_) k = n - 1 - k;

  // Of the longest phrase pairs that begin or end with each word, all begins and ends as brackets, begins first at each
  // word: those that match are the phrase pairs that cross no other (Bergeron et al. 2008), some several times.
  n_begins_.assign(at(n), 1);
  n_ends_.assign(at(n), 1);
  for (int32_t k = 0; k < n; ++k) {
    ++n_begins_[at(first_[at(k)])];
    ++n_ends_[at(last_[at(k)])];
  }
  open_.clear();
  roots_.clear();
  drafts_.clear();
  int32_t last_begin = -1, last_end = -1;
  for (int32_t end = 0; end < n; ++end) {
    open_.insert(open_.end(), at(n_begins_[at(end)]), end);
    for (int32_t i = 0; i < n_ends_[at(end)]; ++i) {
      const int32_t begin = open_.back();
      open_.pop_back();
      if (begin == last_begin && end == last_end) continue;
      last_begin = begin;
      last_end = end;
      add_draft(begin, end);
    }
  }
  append_binary(n_source, n_target, out);
}

// A node over the words from `begin` to `end`, whose children are the last of the roots so far.
void TreeBuilder::add_draft(int32_t begin, int32_t end) {
  Draft draft{begin, end, kNever, -1, -1, 0, 0, TreeNodeKind::kPlain};
  size_t first_child = roots_.size();
  while (first_child > 0 && drafts_[at(roots_[first_child - 1])].first_word >= begin) --first_child;
  const std::span<const int32_t> below = std::span(roots_).subspan(first_child);
  const auto take = [&](int32_t low, int32_t high) {
    draft.low = std::min(draft.low, low);
    draft.high = std::max(draft.high, high);
  };
  bool has_words = false;
  int32_t word = begin;
  const auto take_words = [&](int32_t until) {
    for (; word < until; ++word, has_words = true) take(words_[at(word)].low, words_[at(word)].high);
  };
  for (const int32_t id : below) {
    const Draft& child = drafts_[at(id)];
    take_words(child.first_word);
    take(child.low, child.high);
    word = child.last_word + 1;
  }
  take_words(end + 1);
  // A word alone is a node only if its partners are linked to nothing else.
  if (begin == end && links_between(draft.low, draft.high + 1) != words_[at(begin)].n_links) return;
  if (!has_words && below.size() >= 2) {
    const Draft &a = drafts_[at(below[0])], &b = drafts_[at(below[1])];
    const bool monotone = a.low < b.low;
    if (links_between(monotone ? a.high + 1 : b.high + 1, monotone ? b.low : a.low) == 0)
      draft.kind = monotone ? TreeNodeKind::kMonotone : TreeNodeKind::kReverse;
  }
  const auto id = static_cast<int32_t>(drafts_.size());
  draft.n_children = static_cast<int32_t>(below.size());
  for (size_t c = 0; c < below.size(); ++c) {
    drafts_[at(below[c])].parent = id;
    drafts_[at(below[c])].number = static_cast<int32_t>(c);
  }
  roots_.resize(first_child);
  roots_.push_back(id);
  drafts_.push_back(draft);
}

// The node for the first i children of a row follows the i-th one.
void TreeBuilder::append_binary(int32_t n_source, int32_t n_target, std::vector<TreeNode>& out) {
  const size_t first = out.size();
  places_.resize(drafts_.size());
  const auto is_part = [&](const Draft& draft) {
    if (draft.parent < 0) return false;
    const Draft& parent = drafts_[at(draft.parent)];
    return parent.kind != TreeNodeKind::kPlain && draft.number >= 1 && draft.number + 1 < parent.n_children;
  };
  int32_t place = 0;
  for (size_t d = 0; d < drafts_.size(); ++d) {
    places_[d] = place++;
    if (is_part(drafts_[d])) ++place;
  }
  // By row: the part that waits for its parent, or the first child.
  waiting_.assign(drafts_.size(), -1);
  for (size_t d = 0; d < drafts_.size(); ++d) {
    const Draft& draft = drafts_[d];
    const int32_t parent = draft.parent < 0 ? -1 : places_[at(draft.parent)];
    const int32_t own = static_cast<int32_t>(out.size() - first);
    out.push_back({words_[at(draft.first_word)].position, words_[at(draft.last_word)].position + 1, draft.low,
                   draft.high + 1, parent, draft.kind});
    if (draft.parent < 0 || drafts_[at(draft.parent)].kind == TreeNodeKind::kPlain) continue;
    int32_t& waiting = waiting_[at(draft.parent)];
    if (!is_part(draft)) {
      if (draft.number == 0) waiting = own;
      continue;
    }
    TreeNode part = out.back();
    const TreeNode& before = out[first + at(waiting)];
    part.source_begin = before.source_begin;
    part.target_begin = std::min(part.target_begin, before.target_begin);
    part.target_end = std::max(part.target_end, before.target_end);
    part.kind = TreeNodeKind::kPart;
    out.push_back(part);
    out[first + at(own)].parent = own + 1;
    out[first + at(waiting)].parent = own + 1;
    waiting = own + 1;
  }
  TreeNode& top = out.back();
  top.source_begin = top.target_begin = 0;
  top.source_end = n_source;
  top.target_end = n_target;
}

TreeTable minimal_trees(std::span<const int32_t> n_source, std::span<const int32_t> n_target, const Links& links,
                        int n_threads, Control& control) {
  if (static_cast<int64_t>(n_source.size()) != links.size() || n_target.size() != n_source.size())
    throw std::invalid_argument("links and lengths are of different numbers of sentence pairs");
  constexpr int64_t kChunk = 64;
  const int64_t n = links.size();
  std::vector<TreeTable> parts(static_cast<size_t>((n + kChunk - 1) / kChunk));
  parallel_chunks(n, kChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    TreeBuilder builder;
    TreeTable& part = parts[static_cast<size_t>(begin / kChunk)];
    for (int64_t i = begin; i < end; ++i) {
      const auto row = links[i];
      const int32_t length = n_source[static_cast<size_t>(i)], target_length = n_target[static_cast<size_t>(i)];
      if (length < 0 || target_length < 0) throw std::invalid_argument("a sentence has a negative length");
      for (size_t k = 0; k < row.size(); ++k) {
        const Link& link = row[k];
        if (link.source < 0 || link.target < 0 || link.source >= length || link.target >= target_length)
          throw InputError("link " + std::to_string(link.source) + "-" + std::to_string(link.target) +
                               " is outside the sentence pair, which has " + std::to_string(length) + " and " +
                               std::to_string(target_length) + " words",
                           i + 1);
        if (k > 0 && !(row[k - 1] < link)) throw std::invalid_argument("links must be distinct and sorted");
      }
      builder.build(length, target_length, row, part.nodes);
      part.offsets.push_back(static_cast<int64_t>(part.nodes.size()));
    }
  });
  TreeTable all;
  for (const TreeTable& part : parts) {
    const int64_t before = all.offsets.back();
    for (size_t i = 1; i < part.offsets.size(); ++i) all.offsets.push_back(before + part.offsets[i]);
    all.nodes.insert(all.nodes.end(), part.nodes.begin(), part.nodes.end());
  }
  return all;
}

}  // namespace dragoman::align
