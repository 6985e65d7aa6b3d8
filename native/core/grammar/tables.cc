#include "core/grammar/tables.hh"

#include <algorithm>

namespace dragoman::grammar {

void GrammarTables::check() const {
  const auto fits = [](bool condition) {
    if (!condition) throw_damaged_grammar();
  };
  const auto rows_fit = [&](const auto& rows) {
    fits(!rows.offsets.empty() && rows.offsets.front() == 0 &&
         rows.offsets.back() == static_cast<int64_t>(rows.values.size()));
  };
  rows_fit(sources);
  rows_fit(targets);
  rows_fit(pair_targets);
  rows_fit(pair_events);
  rows_fit(source_counts);
  rows_fit(target_counts);
  rows_fit(alignments);
  rows_fit(word_pairs);
  rows_fit(word_pair_counts);
  rows_fit(source_words);
  rows_fit(target_words);
  fits(pair_targets.size() == sources.size() && source_counts.size() == sources.size());
  fits(target_counts.size() == targets.size());
  fits(pair_events.size() == static_cast<int64_t>(pair_targets.values.size()));
  fits(!trie_symbols.empty() && trie_source.size() == trie_symbols.size() &&
       trie_children.size() == trie_symbols.size() + 1);
  fits(word_pair_counts.size() == static_cast<int64_t>(word_pairs.values.size()));
  fits(word_pairs.size() == source_words.size());
  const auto n_pairs = static_cast<size_t>(pair_events.size());
  fits(given_scores.size() == n_pairs * static_cast<size_t>(std::max(0, n_given_scores)));
  fits(is_rules || !is_given() || n_given_scores == 4);
  fits(event_mass.size() == (is_rules && !is_given() ? pair_events.values.size() : 0));
  fits(n_given_reordering >= 0 && given_reordering.size() == n_pairs * static_cast<size_t>(n_given_reordering));
}

namespace {

int64_t find_row(const CheckedRows<Symbol>& rows, std::span<const Symbol> symbols) {
  int64_t low = 0, high = rows.size();
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const auto row = rows[middle];
    if (std::lexicographical_compare(row.begin(), row.end(), symbols.begin(), symbols.end()))
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows.size() && std::ranges::equal(rows[low], symbols) ? low : -1;
}

}  // namespace

int64_t GrammarTables::find_source(std::span<const Symbol> symbols) const {
  if (symbols.empty()) return -1;
  int64_t node = 0;
  for (size_t i = 0; i < symbols.size() && node >= 0; ++i) node = child(node, symbols[i]);
  const int64_t source = node < 0 ? -1 : trie_source[static_cast<size_t>(node)];
  return source < 0 && has_added ? find_row(sources, symbols) : source;
}

int64_t GrammarTables::find_target(std::span<const Symbol> symbols) const { return find_row(targets, symbols); }

int64_t GrammarTables::find_pair(std::span<const Symbol> source, std::span<const Symbol> target) const {
  const int64_t s = find_source(source), t = find_target(target);
  return s < 0 || t < 0 ? -1 : find_pair(s, t);
}

int64_t GrammarTables::find_pair(int64_t source, int64_t target) const {
  const auto row = pair_targets[source];
  const auto at = std::lower_bound(row.begin(), row.end(), target);
  if (at == row.end() || *at != target) return -1;
  return pair_targets.bounds(source).first + (at - row.begin());
}

int64_t GrammarTables::source_of_pair(int64_t pair) const {
  const auto at = std::upper_bound(pair_targets.offsets.begin(), pair_targets.offsets.end(), pair);
  const int64_t source = at - pair_targets.offsets.begin() - 1;
  if (pair < 0 || source < 0 || source >= n_sources()) throw_damaged_grammar();
  return source;
}

int64_t GrammarTables::target_of_pair(int64_t pair) const {
  if (pair < 0 || pair >= n_pairs()) throw_damaged_grammar();
  return pair_targets.values[static_cast<size_t>(pair)];
}

std::vector<int64_t> GrammarTables::word_counts(const CheckedRows<FoldCount>& words) const {
  std::vector<int64_t> counts;
  if (is_given()) return counts;
  for (int64_t row = 1; row < words.size(); ++row) counts.push_back(FoldFilter().sum(words[row]));
  return counts;
}

std::vector<int64_t> GrammarTables::unaligned_source_words() const {
  if (is_given()) return {};
  std::vector<int64_t> counts(static_cast<size_t>(std::max<int64_t>(word_pairs.size() - 1, 0)), 0);
  for (int64_t row = 1; row < word_pairs.size(); ++row) {
    const auto keys = word_pairs[row];
    // The empty word is the first.
    if (!keys.empty() && static_cast<uint32_t>(keys.front()) == 0)
      counts[static_cast<size_t>(row) - 1] = FoldFilter().sum(word_pair_counts[word_pairs.bounds(row).first]);
  }
  return counts;
}

std::vector<int64_t> GrammarTables::unaligned_target_words() const {
  if (is_given()) return {};
  std::vector<int64_t> counts(static_cast<size_t>(std::max<int64_t>(target_words.size() - 1, 0)), 0);
  if (word_pairs.size() == 0) return counts;
  const auto keys = word_pairs[0];
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t row = static_cast<uint32_t>(keys[i]);
    if (row == 0 || row > counts.size()) throw_damaged_grammar();
    counts[row - 1] = FoldFilter().sum(word_pair_counts[word_pairs.bounds(0).first + static_cast<int64_t>(i)]);
  }
  return counts;
}

uint64_t GrammarTables::mass(int64_t pair, const FoldFilter& folds) const {
  const auto [begin, end] = pair_events.bounds(pair);
  uint64_t total = 0;
  for (auto e = static_cast<size_t>(begin); e < static_cast<size_t>(end); ++e)
    if (folds.has(pair_events.values[e])) total += event_mass[e];
  return total;
}

GrammarTables::Shown GrammarTables::shown(int64_t rule, const FoldFilter& folds, const RuleCut& cut,
                                          bool has_gaps) const {
  const auto events = pair_events[rule];
  if (is_given()) {
    const int64_t count = folds.sum(events);
    return {has_gaps && count < cut.min_count ? 0 : count, RuleKind::kAdded, Origin::kAny};
  }
  Shown extracted{0, RuleKind::kComposed, Origin::kExtracted}, added{0, RuleKind::kAdded, Origin::kAdded};
  for (const Event event : events) {
    if (!folds.has(event)) continue;
    if (event.kind() == RuleKind::kAdded) {
      added.count += event.count();
    } else {
      extracted.count += event.count();
      if (event.kind() == RuleKind::kMinimal) extracted.kind = RuleKind::kMinimal;
    }
  }
  const bool is_cut = cut.composed ? extracted.kind == RuleKind::kComposed : has_gaps;
  return extracted.count > 0 && (!is_cut || extracted.count >= cut.min_count) ? extracted : added;
}

std::pair<int64_t, int64_t> GrammarTables::children(int64_t node) const {
  const int64_t begin = trie_children[static_cast<size_t>(node)], end = trie_children[static_cast<size_t>(node) + 1];
  // Children come after their parent: a damaged trie cannot make a walk go round in circles.
  if (begin <= node || end < begin || static_cast<size_t>(end) > trie_symbols.size()) throw_damaged_grammar();
  return {begin, end};
}

int64_t GrammarTables::child(int64_t node, Symbol symbol) const {
  const auto [begin, end] = children(node);
  const auto symbols = trie_symbols.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  const auto at = std::lower_bound(symbols.begin(), symbols.end(), symbol);
  return at != symbols.end() && *at == symbol ? begin + (at - symbols.begin()) : -1;
}

}  // namespace dragoman::grammar
