#include "core/grammar/rule_enumerate.hh"

#include <algorithm>
#include <limits>

namespace dragoman::grammar {

namespace {

constexpr Symbol kGapSymbol = -1;  // label 0

}  // namespace

void RuleEnumerator::assign(uint32_t sentence, std::span<const Symbol> source, std::span<const Symbol> target,
                            std::span<const align::Link> links) {
  sentence_ = sentence;
  source_ = source;
  target_ = target;
  links_ = links;
  first_link_.assign(source.size() + 1, 0);
  target_degree_.assign(target.size(), 0);
  target_sums_.assign(target.size() + 1, 0);
  low_.assign(target.size(), std::numeric_limits<int>::max());
  high_.assign(target.size(), -1);
  for (const align::Link& link : links) {
    const auto j = static_cast<size_t>(link.target);
    ++first_link_[static_cast<size_t>(link.source) + 1];
    ++target_degree_[j];
    low_[j] = std::min<int>(low_[j], link.source);
    high_[j] = std::max<int>(high_[j], link.source);
  }
  for (size_t i = 0; i < source.size(); ++i) first_link_[i + 1] += first_link_[i];
  for (size_t j = 0; j < target.size(); ++j) target_sums_[j + 1] = target_sums_[j] + target_degree_[j];
  find_phrases();
  n_rules_.assign(phrases_.size(), 0);
  found_.clear();
  for (int begin = 0; begin < static_cast<int>(source.size()); ++begin) {
    if (phrases_.empty()) break;
    if (first_phrase_[cell(begin, 1)] == first_phrase_[cell(begin, limits_.max_length) + 1]) continue;
    extend({begin, begin, 0, 0, false, false, kHashStart, {}});
  }
}

void RuleEnumerator::find_phrases() {
  unsorted_.clear();
  const int n_target = static_cast<int>(target_.size());
  for (int begin = 0; begin < n_target; ++begin) {
    if (limits_.tight && !target_degree_[static_cast<size_t>(begin)]) continue;
    int low = std::numeric_limits<int>::max(), high = -1;
    for (int end = begin; end < std::min(n_target, begin + limits_.max_length); ++end) {
      low = std::min(low, low_[static_cast<size_t>(end)]);
      high = std::max(high, high_[static_cast<size_t>(end)]);
      if (high < 0 || (limits_.tight && !target_degree_[static_cast<size_t>(end)])) continue;
      if (high - low >= limits_.max_length) {
        // It only gets longer.
        break;
      }
      // All links of these target words lie in [low, high]; no others do when the numbers agree.
      const int n_links = target_sums_[static_cast<size_t>(end) + 1] - target_sums_[static_cast<size_t>(begin)];
      if (n_links == first_link_[static_cast<size_t>(high) + 1] - first_link_[static_cast<size_t>(low)])
        add_phrase({low, high + 1, begin, end + 1});
    }
  }
  sort_phrases();
}

// The phrase and, unless phrases are tight, those with more unaligned source words at the ends.
void RuleEnumerator::add_phrase(const Phrase& phrase) {
  int begin = phrase.source_begin;
  do {
    int end = phrase.source_end;
    do {
      if (end - begin > limits_.max_length) break;
      unsorted_.push_back({begin, end, phrase.target_begin, phrase.target_end});
      ++end;
    } while (!limits_.tight && end <= static_cast<int>(source_.size()) && !source_degree(static_cast<size_t>(end) - 1));
    --begin;
  } while (!limits_.tight && begin >= 0 && !source_degree(static_cast<size_t>(begin)));
}

// By source span; within one, in the order they were found in, which is by target span.
void RuleEnumerator::sort_phrases() {
  first_phrase_.assign(source_.size() * static_cast<size_t>(limits_.max_length) + 2, 0);
  for (const Phrase& p : unsorted_) ++first_phrase_[cell(p.source_begin, p.source_end - p.source_begin) + 2];
  for (size_t i = 1; i < first_phrase_.size(); ++i) first_phrase_[i] += first_phrase_[i - 1];
  phrases_.resize(unsorted_.size());
  for (const Phrase& p : unsorted_)
    phrases_[first_phrase_[cell(p.source_begin, p.source_end - p.source_begin) + 1]++] = p;
}

std::span<const RuleEnumerator::Phrase> RuleEnumerator::phrases_of(int source_begin, int source_end) const {
  const size_t at = cell(source_begin, source_end - source_begin);
  return std::span(phrases_).subspan(first_phrase_[at], first_phrase_[at + 1] - first_phrase_[at]);
}

int64_t RuleEnumerator::n_rules(int source_begin, int source_end, int target_begin, int target_end) const {
  if (phrases_.empty() || source_end - source_begin > limits_.max_length) return 0;
  const size_t at = cell(source_begin, source_end - source_begin);
  for (uint32_t phrase = first_phrase_[at]; phrase < first_phrase_[at + 1]; ++phrase)
    if (phrases_[phrase].target_begin == target_begin && phrases_[phrase].target_end == target_end)
      return n_rules_[phrase];
  return 0;
}

void RuleEnumerator::extend(const Walk& walk) {
  if (walk.at > walk.begin) keep(walk);
  if (walk.n_symbols == limits_.max_symbols) return;
  const int end = std::min(walk.begin + limits_.max_length, static_cast<int>(source_.size()));
  if (walk.at == end) return;
  {
    Walk next = walk;
    next.hash = hash_extend(walk.hash, source_[static_cast<size_t>(walk.at)]);
    next.aligned = walk.aligned || source_degree(static_cast<size_t>(walk.at));
    ++next.at;
    ++next.n_symbols;
    next.after_gap = false;
    extend(next);
  }
  if (walk.n_gaps == limits_.max_gaps || (walk.after_gap && !limits_.adjacent)) return;
  Walk next = walk;
  next.hash = hash_extend(walk.hash, kGapSymbol);
  ++next.n_symbols;
  ++next.n_gaps;
  next.after_gap = true;
  for (int gap_end = walk.at + limits_.min_source_gap; gap_end <= end; ++gap_end) {
    next.at = gap_end;
    const size_t at = cell(walk.at, gap_end - walk.at);
    for (uint32_t phrase = first_phrase_[at]; phrase < first_phrase_[at + 1]; ++phrase) {
      if (phrases_[phrase].target_end - phrases_[phrase].target_begin < limits_.min_target_gap) continue;
      next.gaps[walk.n_gaps] = phrase;
      extend(next);
    }
  }
}

// The source side is complete if it covers an initial phrase; its target side must hold the gaps', apart.
void RuleEnumerator::keep(const Walk& walk) {
  if (limits_.aligned && !walk.aligned) return;
  if (walk.n_symbols == 1 && walk.n_gaps == 1) return;
  const size_t at = cell(walk.begin, walk.at - walk.begin);
  for (uint32_t outer = first_phrase_[at]; outer < first_phrase_[at + 1]; ++outer) {
    const Phrase& whole = phrases_[outer];
    Found found{mix64(walk.hash), outer, {}, {}};
    bool inside = true;
    for (int i = 0; i < walk.n_gaps; ++i) {
      const Phrase& gap = phrases_[walk.gaps[i]];
      inside = inside && gap.target_begin >= whole.target_begin && gap.target_end <= whole.target_end;
      const auto k = static_cast<size_t>(i);
      found.source_gaps[k] = {static_cast<uint8_t>(gap.source_begin - whole.source_begin),
                              static_cast<uint8_t>(gap.source_end - gap.source_begin)};
      found.target_gaps[k] = {static_cast<uint8_t>(gap.target_begin - whole.target_begin),
                              static_cast<uint8_t>(gap.target_end - gap.target_begin)};
    }
    if (walk.n_gaps == 2) {
      const Phrase &a = phrases_[walk.gaps[0]], &b = phrases_[walk.gaps[1]];
      inside = inside && (a.target_end <= b.target_begin || b.target_end <= a.target_begin);
    }
    if (!inside) continue;
    ++n_rules_[outer];
    found_.push_back(found);
  }
}

Occurrence RuleEnumerator::operator[](int64_t i) const {
  const Found& found = found_[static_cast<size_t>(i)];
  const Phrase& phrase = phrases_[found.phrase];
  Occurrence rule{};
  rule.source_hash = found.source_hash;
  rule.sentence = sentence_;
  rule.source_begin = static_cast<uint16_t>(phrase.source_begin);
  rule.target_begin = static_cast<uint16_t>(phrase.target_begin);
  rule.source_length = static_cast<uint8_t>(phrase.source_end - phrase.source_begin);
  rule.target_length = static_cast<uint8_t>(phrase.target_end - phrase.target_begin);
  rule.source_gaps = found.source_gaps;
  rule.target_gaps = found.target_gaps;
  rule.amount = mass_share(limits_.fractional ? n_rules_[found.phrase] : 1);
  uint64_t hash = hash_extend(kHashStart, kGapSymbol);  // the left-hand side
  for (int j = phrase.target_begin; j < phrase.target_end;) {
    size_t k = 0;
    while (k < kMaxGaps && !(found.target_gaps[k].length && found.target_gaps[k].begin == j - phrase.target_begin)) ++k;
    hash = hash_extend(hash, k < kMaxGaps ? -1 - static_cast<Symbol>(k) : target_[static_cast<size_t>(j)]);
    j += k < kMaxGaps ? found.target_gaps[k].length : 1;
  }
  rule.target_hash = mix64(hash);
  return rule;
}

void RuleEnumerator::complete(int64_t i, Occurrence& rule, AlignmentKeys& alignments) {
  const Found& found = found_[static_cast<size_t>(i)];
  const Phrase& phrase = phrases_[found.phrase];
  inner_.clear();
  uint8_t symbol = 0;
  size_t gap = 0;
  for (int at = phrase.source_begin; at < phrase.source_end; ++symbol) {
    const Gap next = gap < kMaxGaps ? found.source_gaps[gap] : Gap{};
    if (next.length && next.begin == at - phrase.source_begin) {
      at += next.length;
      ++gap;
      continue;
    }
    for (int l = first_link_[static_cast<size_t>(at)]; l < first_link_[static_cast<size_t>(at) + 1]; ++l) {
      const int j = links_[static_cast<size_t>(l)].target - phrase.target_begin;
      int shift = 0;
      for (const Gap g : found.target_gaps)
        if (g.length && g.begin < j) shift += g.length - 1;
      inner_.push_back({symbol, static_cast<uint8_t>(j - shift)});
    }
    ++at;
  }
  rule.alignment = alignments.key(inner_);
  rule.kind = static_cast<uint16_t>(composed(found) ? RuleKind::kComposed : RuleKind::kMinimal);
}

// Whether some part of the source side, more than a gap and less than all, is an initial phrase, and both the part and
// what remains when a gap takes its place are rules within the limits.
bool RuleEnumerator::composed(const Found& found) const {
  const Phrase& whole = phrases_[found.phrase];
  struct Piece {
    int begin, end;
    bool gap, aligned;
  };
  Piece pieces[256];
  int n = 0, n_gaps = 0, n_aligned = 0;
  for (int at = whole.source_begin; at < whole.source_end; ++n) {
    const Gap next = static_cast<size_t>(n_gaps) < kMaxGaps ? found.source_gaps[static_cast<size_t>(n_gaps)] : Gap{};
    const bool gap = next.length && next.begin == at - whole.source_begin;
    const bool aligned = !gap && source_degree(static_cast<size_t>(at));
    pieces[n] = {at, at + (gap ? next.length : 1), gap, aligned};
    at = pieces[n].end;
    n_gaps += gap;
    n_aligned += aligned;
  }
  for (int i = 0; i < n; ++i) {
    int gaps_inside = 0, aligned_inside = 0;
    if (i > 0 && pieces[i - 1].gap && !limits_.adjacent) continue;
    for (int j = i; j < n; ++j) {
      gaps_inside += pieces[j].gap;
      aligned_inside += pieces[j].aligned;
      if ((i == 0 && j == n - 1) || (i == j && pieces[i].gap)) continue;
      if (j + 1 < n && pieces[j + 1].gap && !limits_.adjacent) continue;
      if (n_gaps - gaps_inside + 1 > limits_.max_gaps) continue;
      if (limits_.aligned && (!aligned_inside || aligned_inside == n_aligned)) continue;
      if (pieces[j].end - pieces[i].begin < limits_.min_source_gap) continue;
      for (const Phrase& part : phrases_of(pieces[i].begin, pieces[j].end))
        if (part.target_end - part.target_begin >= limits_.min_target_gap) return true;
    }
  }
  return false;
}

}  // namespace dragoman::grammar
