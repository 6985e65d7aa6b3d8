#include "core/grammar/orientation.hh"

#include <algorithm>
#include <limits>

namespace dragoman::grammar {

void SentenceBlocks::Corners::assign(int n_source, int n_target) {
  n_source_ = n_source;
  n_target_ = n_target;
  row_ = static_cast<size_t>(n_source + 63) / 64;
  words_.assign(row_ * static_cast<size_t>(n_target), 0);
}

void SentenceBlocks::CornerSet::assign(int n_source, int n_target) {
  for (Corners* corners : {&after_last, &after_first, &before_first, &before_last}) corners->assign(n_source, n_target);
}

void SentenceBlocks::assign(int n_source, int n_target, std::span<const align::Link> links, int max_length) {
  n_source_ = n_source;
  n_target_ = n_target;
  max_length_ = max_length;
  source_sums_.assign(n_source + 1, 0);
  target_sums_.assign(n_target + 1, 0);
  min_source_.assign(n_target, std::numeric_limits<int>::max());
  max_source_.assign(n_target, -1);
  for (const align::Link& link : links) {
    ++source_sums_[link.source + 1];
    ++target_sums_[link.target + 1];
    min_source_[link.target] = std::min<int>(min_source_[link.target], link.source);
    max_source_[link.target] = std::max<int>(max_source_[link.target], link.source);
  }
  for (int i = 0; i < n_source; ++i) source_sums_[i + 1] += source_sums_[i];
  for (int j = 0; j < n_target; ++j) target_sums_[j + 1] += target_sums_[j];
  targets_.resize(links.size());
  {
    std::vector<int>& cursor = previous_linked_;
    cursor.assign(source_sums_.begin(), source_sums_.end());
    for (const align::Link& link : links) targets_[cursor[link.source]++] = link.target;
    for (int i = 0; i < n_source; ++i)
      std::sort(targets_.begin() + source_sums_[i], targets_.begin() + source_sums_[i + 1]);
  }
  previous_linked_.assign(n_target + 1, -1);
  next_linked_.assign(n_target + 1, n_target);
  prefix_max_.assign(n_target + 1, -1);
  suffix_min_.assign(n_target + 1, std::numeric_limits<int>::max());
  for (int j = 0; j < n_target; ++j) {
    previous_linked_[j + 1] = target_degree(j) ? j : previous_linked_[j];
    prefix_max_[j + 1] = std::max(prefix_max_[j], max_source_[j]);
  }
  for (int j = n_target - 1; j >= 0; --j) {
    next_linked_[j] = target_degree(j) ? j : next_linked_[j + 1];
    suffix_min_[j] = std::min(suffix_min_[j + 1], min_source_[j]);
  }
  phrase_corners_.assign(n_source, n_target);
  block_corners_.assign(n_source, n_target);
  tight_phrases_.clear();
  for (int end = 0; end < n_target; ++end) {
    int low = std::numeric_limits<int>::max(), high = -1;
    for (int begin = end; begin >= 0; --begin) {
      low = std::min(low, min_source_[begin]);
      high = std::max(high, max_source_[begin]);
      if (high < 0) continue;
      // All links of these target words lie in [low, high]; no others do when the numbers agree.
      if (target_sums_[end + 1] - target_sums_[begin] == source_sums_[high + 1] - source_sums_[low])
        add_block({low, high, begin, end});
    }
  }
}

void SentenceBlocks::add_block(const PhraseSpan& tight) {
  const bool is_phrase =
      tight.target_end - tight.target_begin < max_length_ && tight.source_end - tight.source_begin < max_length_;
  if (is_phrase) tight_phrases_.push_back(tight);
  int position = tight.source_begin;
  do {
    block_corners_.after_first.set(tight.target_end, position);
    block_corners_.before_first.set(tight.target_begin, position);
    if (is_phrase && tight.source_end - position < max_length_) {
      phrase_corners_.after_first.set(tight.target_end, position);
      phrase_corners_.before_first.set(tight.target_begin, position);
    }
    --position;
  } while (position >= 0 && source_degree(position) == 0);
  position = tight.source_end;
  do {
    block_corners_.after_last.set(tight.target_end, position);
    block_corners_.before_last.set(tight.target_begin, position);
    if (is_phrase && position - tight.source_begin < max_length_) {
      phrase_corners_.after_last.set(tight.target_end, position);
      phrase_corners_.before_last.set(tight.target_begin, position);
    }
    ++position;
  } while (position < n_source_ && source_degree(position) == 0);
}

// The sentence's ends are words too, linked to each other.
bool SentenceBlocks::linked(int source, int target) const {
  if (target < 0) return source < 0;
  if (target >= n_target_) return source >= n_source_;
  if (source < 0 || source >= n_source_) return false;
  const auto row = targets_of(source);
  return std::find(row.begin(), row.end(), target) != row.end();
}

// On which side a neighbour lies that is not adjacent: the nearest linked target word decides.
Orientation SentenceBlocks::side(const PhraseSpan& phrase, Direction direction) const {
  if (direction == Direction::kBackward) {
    const int j = previous_linked_[phrase.target_begin];
    return j < 0 || min_source_[j] < phrase.source_begin ? Orientation::kRight : Orientation::kLeft;
  }
  const int j = next_linked_[phrase.target_end + 1];
  return j >= n_target_ || max_source_[j] > phrase.source_end ? Orientation::kRight : Orientation::kLeft;
}

Orientation SentenceBlocks::by_word(const PhraseSpan& phrase, Direction direction) const {
  const bool backward = direction == Direction::kBackward;
  const int neighbour = backward ? phrase.target_begin - 1 : phrase.target_end + 1;
  const bool left = linked(phrase.source_begin - 1, neighbour);
  const bool right = linked(phrase.source_end + 1, neighbour);
  if (left != right) return left == backward ? Orientation::kMono : Orientation::kSwap;
  return side(phrase, direction);
}

Orientation SentenceBlocks::by_block(const PhraseSpan& phrase, Direction direction, const CornerSet& corners) const {
  if (direction == Direction::kBackward) {
    const int neighbour = phrase.target_begin - 1;
    if (neighbour < 0 && phrase.source_begin == 0) return Orientation::kMono;
    if (corners.after_last.has(neighbour, phrase.source_begin - 1)) return Orientation::kMono;
    if (corners.after_first.has(neighbour, phrase.source_end + 1)) return Orientation::kSwap;
  } else {
    const int neighbour = phrase.target_end + 1;
    if (neighbour == n_target_ && phrase.source_end + 1 == n_source_) return Orientation::kMono;
    if (corners.before_first.has(neighbour, phrase.source_end + 1)) return Orientation::kMono;
    if (corners.before_last.has(neighbour, phrase.source_begin - 1)) return Orientation::kSwap;
  }
  return side(phrase, direction);
}

// Whether everything before (after) the phrase is one block in both languages; asked of monotone phrases only.
bool SentenceBlocks::global(const PhraseSpan& phrase, Direction direction) const {
  if (direction == Direction::kBackward)
    return prefix_max_[phrase.target_begin] < phrase.source_begin &&
           target_sums_[phrase.target_begin] == source_sums_[phrase.source_begin];
  return suffix_min_[phrase.target_end + 1] > phrase.source_end &&
         target_sums_[n_target_] - target_sums_[phrase.target_end + 1] ==
             source_sums_[n_source_] - source_sums_[phrase.source_end + 1];
}

OrientationCode SentenceBlocks::orientation(const PhraseSpan& phrase) const {
  OrientationCode code;
  for (const Direction direction : {Direction::kBackward, Direction::kForward}) {
    code.set(ReorderingModel::kWord, direction, by_word(phrase, direction));
    code.set(ReorderingModel::kPhrase, direction, by_block(phrase, direction, phrase_corners_));
    Orientation block = by_block(phrase, direction, block_corners_);
    if (block == Orientation::kMono && global(phrase, direction)) block = Orientation::kMonoGlobal;
    code.set(ReorderingModel::kHierarchical, direction, block);
  }
  return code;
}

}  // namespace dragoman::grammar
