#include "core/search/phrase_coverage.hh"

#include <algorithm>
#include <bit>

namespace dragoman::search {

void FutureCosts::compute(int32_t n_words, int32_t max_length, std::span<const double> best, int32_t width) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  n_words_ = n_words;
  width_ = std::min(width, n_words);
  const auto best_of = [&](int32_t begin, int32_t length) {
    return best[static_cast<size_t>(begin) * static_cast<size_t>(max_length) + static_cast<size_t>(length - 1)];
  };
  suffix_.assign(static_cast<size_t>(n_words) + 1, kNone);
  suffix_.back() = 0;
  for (int32_t i = n_words - 1; i >= 0; --i)
    for (int32_t l = 1; l <= std::min(max_length, n_words - i); ++l)
      suffix_[static_cast<size_t>(i)] =
          std::max(suffix_[static_cast<size_t>(i)], best_of(i, l) + suffix_[static_cast<size_t>(i + l)]);
  inner_.assign(static_cast<size_t>(n_words) * static_cast<size_t>(width_ + 1), kNone);
  for (int32_t i = 0; i < n_words; ++i) {
    double* row = inner_.data() + static_cast<size_t>(i) * static_cast<size_t>(width_ + 1);
    row[0] = 0;
    for (int32_t length = 1; length <= std::min(width_, n_words - i); ++length)
      for (int32_t last = 1; last <= std::min(length, max_length); ++last)
        row[length] = std::max(row[length], row[length - last] + best_of(i + length - last, last));
  }
}

void Coverages::start(int32_t n_words, int32_t limit, const FutureCosts& costs) {
  n_words_ = n_words;
  const int32_t n_bits = limit < 0 ? n_words : std::min(limit, n_words);
  n_blocks_ = std::max(1, (n_bits + 63) / 64);
  costs_ = &costs;
  windows_.assign(static_cast<size_t>(n_blocks_), 0);
  infos_.assign(1, {0, 0, 0, costs.of(0, n_words)});
  slots_.assign(1 << 10, 0);
  slots_[hash(0) & (slots_.size() - 1)] = 1;
}

uint64_t Coverages::hash(uint32_t c) const {
  uint64_t h = static_cast<uint32_t>(infos_[c].first_gap);
  for (int32_t i = 0; i < n_blocks_; ++i) {
    h = (h ^ windows_[c * static_cast<size_t>(n_blocks_) + static_cast<size_t>(i)]) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 31;
  }
  return h;
}

uint32_t Coverages::extend(uint32_t coverage, SourceSpan span) {
  const auto id = static_cast<uint32_t>(infos_.size());
  infos_.push_back(infos_[coverage]);
  Info& info = infos_.back();
  windows_.resize(windows_.size() + static_cast<size_t>(n_blocks_));
  const auto old = window(coverage);
  const auto bits = window(id);
  std::copy(old.begin(), old.end(), bits.begin());
  info.n_covered += span.end - span.begin;
  info.end = std::max(info.end, span.end);
  int32_t advance = 0;
  if (span.begin == info.first_gap) {
    // The gap moves behind the phrase, then over what was covered there already.
    advance = span.end - span.begin;
    while (advance < 64 * n_blocks_ && (bits[static_cast<size_t>(advance >> 6)] >> (advance & 63) & 1) != 0) ++advance;
  } else {
    for (int32_t p = span.begin; p < span.end; ++p) {
      const int32_t bit = p - info.first_gap;
      bits[static_cast<size_t>(bit >> 6)] |= uint64_t{1} << (bit & 63);
    }
  }
  if (advance > 0) {
    const auto whole = static_cast<size_t>(advance >> 6);
    const int part = advance & 63;
    for (size_t i = 0; i < bits.size(); ++i) {
      const uint64_t low = i + whole < bits.size() ? bits[i + whole] : 0;
      const uint64_t high = i + whole + 1 < bits.size() ? bits[i + whole + 1] : 0;
      bits[i] = part == 0 ? low : low >> part | high << (64 - part);
    }
    info.first_gap += advance;
  }
  return intern_last();
}

uint32_t Coverages::intern_last() {
  const auto id = static_cast<uint32_t>(infos_.size() - 1);
  if (infos_.size() * 2 >= slots_.size()) {
    slots_.assign(slots_.size() * 2, 0);
    const size_t mask = slots_.size() - 1;
    for (uint32_t c = 0; c < id; ++c) {
      size_t slot = hash(c) & mask;
      while (slots_[slot] != 0) slot = (slot + 1) & mask;
      slots_[slot] = c + 1;
    }
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = hash(id) & mask;
  const auto mine = window(id);
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const uint32_t other = slots_[slot] - 1;
    const auto theirs = window(other);
    if (infos_[other].first_gap != infos_[id].first_gap || !std::equal(mine.begin(), mine.end(), theirs.begin()))
      continue;
    infos_.pop_back();
    windows_.resize(windows_.size() - static_cast<size_t>(n_blocks_));
    return other;
  }
  slots_[slot] = id + 1;
  infos_[id].future = gap_cost(id);
  return id;
}

double Coverages::gap_cost(uint32_t c) const {
  const Info& info = infos_[c];
  if (info.first_gap == n_words_) return 0;
  double sum = 0;
  int32_t gap = info.first_gap;
  bool in_gap = true;
  for (int32_t p = info.first_gap + 1; p < info.end; ++p) {
    const bool covered = is_covered(c, p);
    if (covered && in_gap) sum += costs_->of(gap, p);
    if (!covered && !in_gap) gap = p;
    in_gap = !covered;
  }
  // What is covered ends at info.end, so a gap follows there unless the sentence is over.
  if (info.end > info.first_gap) gap = info.end;
  return gap < n_words_ ? sum + costs_->of(gap, n_words_) : sum;
}

}  // namespace dragoman::search
