#include "core/grammar/build.hh"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"
#include "core/grammar/symbol_order.hh"

namespace dragoman::grammar {

namespace {

bool equal(std::span<const Symbol> a, std::span<const Symbol> b) { return std::ranges::equal(a, b); }
bool less(std::span<const Symbol> a, std::span<const Symbol> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

// Calls body(run, symbols) for the runs of records with equal hash and equal symbols. Records of one hash whose symbols
// differ, which is next to never, are sorted apart first. symbols(record, buffer) may use the buffer for its result.
template <typename Record, typename Hash, typename Symbols, typename Body>
void each_group(std::span<Record> records, Hash&& hash, Symbols&& symbols, Body&& body) {
  std::vector<Symbol> here, there;
  for (size_t begin = 0; begin < records.size();) {
    size_t end = begin + 1;
    bool collision = false;
    const auto first = symbols(records[begin], here);
    for (; end < records.size() && hash(records[end]) == hash(records[begin]); ++end)
      collision = collision || !equal(first, symbols(records[end], there));
    const auto run = records.subspan(begin, end - begin);
    begin = end;
    if (!collision) {
      body(run, first);
      continue;
    }
    std::stable_sort(run.begin(), run.end(),
                     [&](const Record& a, const Record& b) { return less(symbols(a, here), symbols(b, there)); });
    for (size_t from = 0; from < run.size();) {
      size_t to = from + 1;
      const auto same = symbols(run[from], here);
      while (to < run.size() && equal(same, symbols(run[to], there))) ++to;
      body(run.subspan(from, to - from), same);
      from = to;
    }
  }
}

bool is_swapped(const Gaps& target) { return target[1].length && target[1].begin < target[0].begin; }

}  // namespace

// What a bucket of sources becomes; places are relative to the batch until it is kept.
struct GrammarBuilder::SourceBatch {
  std::vector<Symbol> symbols;
  std::vector<RawSource> sources;
  std::vector<int64_t> pair_events;
  std::vector<RawEvent> events;
  std::vector<FoldCount> counts;
  std::vector<TargetUse> uses;
  std::vector<uint64_t> alignments;
  // Scratch of one pair: its occurrences by alignment, fold and kind, and its folds.
  std::vector<std::pair<std::tuple<uint64_t, uint8_t, uint16_t>, uint32_t>> kinds;
  int64_t n_added = 0;
  FoldSums folds, added_folds, source_folds, added_source_folds;
  std::vector<Symbol> buffer;
};

GrammarBuilder::GrammarBuilder(const ParallelText& text, const BuildOptions& options)
    : text_(text),
      options_(options),
      occurrences_(options.folder, options.max_memory_bytes / 2),
      uses_(options.folder, options.max_memory_bytes / 2),
      written_symbols_(options.folder),
      source_symbols_(options.folder),
      target_symbols_(options.folder),
      sources_(options.folder),
      targets_(options.folder),
      pair_events_(options.folder),
      events_(options.folder),
      source_counts_(options.folder),
      target_counts_(options.folder) {}

void GrammarBuilder::Writer::add(const WrittenRule& rule) {
  Occurrence occurrence{};
  occurrence.source_hash = hash_symbols(rule.source);
  occurrence.target_hash = hash_symbols(rule.target);
  occurrence.alignment = builder_.alignments_.key(rule.links);
  occurrence.sentence = rule.sentence;
  occurrence.source_begin = static_cast<uint16_t>(rule.source.size());
  occurrence.target_begin = static_cast<uint16_t>(rule.target.size());
  occurrence.kind = static_cast<uint16_t>(RuleKind::kAdded);
  occurrence.amount = rule.mass;
  occurrence.source_gaps = std::bit_cast<Gaps>(static_cast<uint32_t>(sides_.size()));
  sides_.insert(sides_.end(), rule.source.begin(), rule.source.end());
  occurrence.target_gaps = std::bit_cast<Gaps>(static_cast<uint32_t>(sides_.size()));
  sides_.insert(sides_.end(), rule.target.begin(), rule.target.end());
  waiting_.push_back(occurrence);
  if (sides_.size() >= kBufferSymbols) write_out();
}

void GrammarBuilder::Writer::write_out() {
  if (waiting_.empty()) return;
  const int64_t place = builder_.written_symbols_.append(sides_);
  if (place + static_cast<int64_t>(sides_.size()) > int64_t{std::numeric_limits<uint32_t>::max()})
    throw InputError("the added rules have more than 2^32 words; split the corpus");
  for (Occurrence& occurrence : waiting_) {
    for (Gaps* gaps : {&occurrence.source_gaps, &occurrence.target_gaps})
      *gaps = std::bit_cast<Gaps>(static_cast<uint32_t>(place) + std::bit_cast<uint32_t>(*gaps));
    add(occurrence);
  }
  sides_.clear();
  waiting_.clear();
}

std::span<const Symbol> GrammarBuilder::written(uint16_t size, Gaps place) const {
  return written_.subspan(std::bit_cast<uint32_t>(place), size);
}

bool GrammarBuilder::is_added(const Occurrence& o) const {
  return options_.rules && o.kind == static_cast<uint16_t>(RuleKind::kAdded);
}

std::span<const Symbol> GrammarBuilder::source_of(const Occurrence& o, std::vector<Symbol>& buffer) const {
  if (!o.source_length) return written(o.source_begin, o.source_gaps);
  const auto words = text_.source[o.sentence].subspan(o.source_begin, o.source_length);
  if (!o.source_gaps[0].length) return words;
  buffer.clear();
  size_t at = 0;
  for (const Gap gap : o.source_gaps) {
    if (!gap.length) break;
    buffer.insert(buffer.end(), words.begin() + static_cast<int64_t>(at), words.begin() + gap.begin);
    buffer.push_back(-1);
    at = size_t{gap.begin} + gap.length;
  }
  buffer.insert(buffer.end(), words.begin() + static_cast<int64_t>(at), words.end());
  return buffer;
}

std::span<const Symbol> GrammarBuilder::target_of(const auto& o, std::vector<Symbol>& buffer) const {
  if (!o.target_length) return written(o.target_begin, o.target_gaps);
  const auto words = text_.target[o.sentence].subspan(o.target_begin, o.target_length);
  if (!options_.rules) return words;
  buffer.assign(1, -1);
  for (size_t at = 0; at < words.size();) {
    const auto gap = std::ranges::find_if(o.target_gaps, [&](Gap g) { return g.length && g.begin == at; });
    if (gap == o.target_gaps.end()) {
      buffer.push_back(words[at++]);
    } else {
      buffer.push_back(static_cast<Symbol>(-1 - (gap - o.target_gaps.begin())));
      at += gap->length;
    }
  }
  return buffer;
}

// p(f|e) is given what stands around the nonterminals.
std::span<const Symbol> GrammarBuilder::pattern_of(const auto& o, std::vector<Symbol>& buffer) const {
  const auto symbols = target_of(o, buffer);
  if (!options_.rules) return symbols;
  if (symbols.data() != buffer.data()) buffer.assign(symbols.begin(), symbols.end());
  for (Symbol& symbol : buffer) symbol = std::max(symbol, -1);
  return buffer;
}

// Of two target sides that have the same pattern.
bool GrammarBuilder::have_same_order(const TargetUse& a, const TargetUse& b) const {
  if (a.target_length && b.target_length) return is_swapped(a.target_gaps) == is_swapped(b.target_gaps);
  thread_local std::vector<Symbol> here, there;
  return equal(target_of(a, here), target_of(b, there));
}

void GrammarBuilder::group(Control& control) {
  stats_.n_occurrences = occurrences_.size();
  written_ = written_symbols_.map();
  group_sources(control);
  occurrences_.release();
  group_targets(control);
  uses_.release();
  stats_.spilled_bytes = occurrences_.spilled_bytes() + uses_.spilled_bytes();
  const auto offsets = [](const auto& rows, int64_t n_symbols) {
    std::vector<int64_t> result;
    result.reserve(rows.size() + 1);
    for (const auto& row : rows) result.push_back(row.first_symbol);
    result.push_back(n_symbols);
    return result;
  };
  source_offsets_ = offsets(sources_.map(), source_symbols_.size());
  target_offsets_ = offsets(targets_.map(), target_symbols_.size());
  if (options_.cut.min_count < 2) return;
  const int n_folds = text_.folds.empty() ? 1 : 1 + *std::ranges::max_element(text_.folds);
  more_sources_ = std::make_unique<SideIndex>(Ragged<Symbol>{source_offsets_, source_symbols_.map()}, n_folds);
  more_targets_ = std::make_unique<SideIndex>(Ragged<Symbol>{target_offsets_, target_symbols_.map()}, n_folds);
}

void GrammarBuilder::add_to_marginals(const Occurrence& o) {
  thread_local std::vector<Symbol> buffer;
  const uint8_t fold = text_.folds[o.sentence];
  if (const int64_t row = more_sources_->find(o.source_hash, source_of(o, buffer)); row >= 0)
    more_sources_->add(row, fold, o.amount);
  // All orders of the nonterminals share their marginal.
  const auto target = target_of(o, buffer);
  if (const int64_t row = more_targets_->find(o.target_hash, target); row >= 0) more_targets_->add(row, fold, o.amount);
  if (!o.target_gaps[1].length) return;
  for (Symbol& symbol : std::span(buffer).subspan(1))
    if (symbol < 0) symbol = -3 - symbol;
  if (const int64_t row = more_targets_->find(hash_symbols(buffer), buffer); row >= 0)
    more_targets_->add(row, fold, o.amount);
}

void GrammarBuilder::group_sources(Control& control) {
  const int n_threads = std::max(1, options_.n_threads);
  std::vector<BucketSpool<TargetUse>::Writer> writers;
  writers.reserve(static_cast<size_t>(n_threads));
  for (int i = 0; i < n_threads; ++i) writers.emplace_back(uses_);
  parallel_chunks(BucketSpool<Occurrence>::kBuckets, 1, n_threads, control, [&](int64_t bucket, int64_t, int worker) {
    auto records = occurrences_.take(static_cast<int>(bucket));
    SourceBatch batch;
    group_bucket(records, batch);
    keep(batch, writers[static_cast<size_t>(worker)]);
  });
  for (auto& writer : writers) writer.flush();
  std::sort(used_alignments_.begin(), used_alignments_.end());
  used_alignments_.erase(std::unique(used_alignments_.begin(), used_alignments_.end()), used_alignments_.end());
}

void GrammarBuilder::group_bucket(std::vector<Occurrence>& records, SourceBatch& batch) const {
  const auto by_target_hash = [](const Occurrence& a, const Occurrence& b) { return a.target_hash < b.target_hash; };
  std::sort(records.begin(), records.end(), [](const Occurrence& a, const Occurrence& b) {
    return std::tie(a.source_hash, a.target_hash) < std::tie(b.source_hash, b.target_hash);
  });
  each_group(
      std::span(records), [](const Occurrence& o) { return o.source_hash; },
      [&](const Occurrence& o, std::vector<Symbol>& buffer) { return source_of(o, buffer); },
      [&](std::span<Occurrence> source, std::span<const Symbol> symbols) {
        RawSource row{static_cast<int64_t>(batch.symbols.size()), static_cast<int64_t>(batch.pair_events.size()),
                      static_cast<int64_t>(batch.events.size()), static_cast<int64_t>(batch.counts.size()), true};
        batch.source_folds.clear();
        batch.added_source_folds.clear();
        if (!std::is_sorted(source.begin(), source.end(), by_target_hash))
          std::sort(source.begin(), source.end(), by_target_hash);
        each_group(
            source, [](const Occurrence& o) { return o.target_hash; },
            [&](const Occurrence& o, std::vector<Symbol>& buffer) { return target_of(o, buffer); },
            [&](std::span<Occurrence> pair, std::span<const Symbol>) {
              if (add_pair(pair, batch)) row.is_added = false;
            });
        if (static_cast<size_t>(row.first_pair) == batch.pair_events.size()) return;
        batch.sources.push_back(row);
        batch.symbols.insert(batch.symbols.end(), symbols.begin(), symbols.end());
        for (const auto& [fold, amount] : batch.source_folds.sorted()) batch.counts.push_back(fold_count(fold, amount));
        for (const auto& [fold, amount] : batch.added_source_folds.sorted())
          batch.counts.push_back(fold_count(fold, amount, true));
      });
  for (const RawEvent& event : batch.events) batch.alignments.push_back(event.alignment);
  std::sort(batch.alignments.begin(), batch.alignments.end());
  batch.alignments.erase(std::unique(batch.alignments.begin(), batch.alignments.end()), batch.alignments.end());
}

// The extracted and the added occurrences of a pair, which stays in the grammar if any of them do. Returns whether
// extracted ones do.
bool GrammarBuilder::add_pair(std::span<const Occurrence> records, SourceBatch& batch) const {
  auto& kinds = batch.kinds;
  kinds.clear();
  batch.folds.clear();
  batch.added_folds.clear();
  int64_t n_extracted = 0;
  bool has_gaps = false, is_composed = true;
  for (const Occurrence& o : records) {
    const uint8_t fold = text_.folds[o.sentence];
    if (is_added(o)) {
      batch.added_folds.add(fold, o.amount);
      continue;
    }
    batch.folds.add(fold, o.amount);
    ++n_extracted;
    has_gaps = o.source_gaps[0].length;
    is_composed = is_composed && o.kind == static_cast<uint16_t>(RuleKind::kComposed);
  }
  const bool is_cut = n_extracted < options_.cut.min_count && (options_.cut.composed ? is_composed : has_gaps);
  for (const Occurrence& o : records)
    if (!is_cut || is_added(o)) kinds.push_back({{o.alignment, text_.folds[o.sentence], o.kind}, o.amount});
  const Occurrence& first = records.front();
  const uint64_t pair = kinds.empty() ? kNoPair : batch.pair_events.size();
  const bool is_ordered = options_.rules && (!first.target_length || first.target_gaps[1].length);
  const uint64_t target_hash =
      is_ordered ? hash_symbols(pattern_of(first, batch.buffer)) & options_.hash_mask : first.target_hash;
  const auto use = [&](FoldSums& folds, FoldSums& of_source, bool is_added) {
    for (const auto& [fold, amount] : folds.sorted()) {
      of_source.add(fold, amount);
      batch.uses.push_back({target_hash, pair, first.sentence, first.target_begin, first.target_length, fold,
                            first.target_gaps, is_added, amount});
    }
  };
  use(batch.folds, batch.source_folds, false);
  use(batch.added_folds, batch.added_source_folds, true);
  if (kinds.empty()) return false;
  std::sort(kinds.begin(), kinds.end());
  batch.pair_events.push_back(static_cast<int64_t>(batch.events.size()));
  for (size_t begin = 0; begin < kinds.size();) {
    uint64_t amount = 0;
    size_t end = begin;
    for (; end < kinds.size() && kinds[end].first == kinds[begin].first; ++end) amount += kinds[end].second;
    const auto [alignment, fold, kind] = kinds[begin].first;
    uint64_t count = options_.rules ? end - begin : amount, mass = options_.rules ? amount : 0;
    begin = end;
    do {
      const uint64_t part = std::min(count, Event::kMaxCount);
      batch.events.push_back({alignment, mass, static_cast<uint16_t>(part), kind, fold});
      count -= part;
      mass = 0;
    } while (count);
  }
  const bool is_extracted = n_extracted > 0 && !is_cut;
  batch.n_added += !is_extracted;
  return is_extracted;
}

void GrammarBuilder::keep(SourceBatch& batch, BucketSpool<TargetUse>::Writer& uses) {
  int64_t first_pair = 0;
  {
    std::scoped_lock lock(mutex_);
    const int64_t first_symbol = source_symbols_.append(batch.symbols);
    const int64_t first_event = events_.append(batch.events);
    const int64_t first_count = source_counts_.append(batch.counts);
    first_pair = pair_events_.size();
    for (int64_t& event : batch.pair_events) event += first_event;
    pair_events_.append(batch.pair_events);
    for (RawSource& source : batch.sources) {
      source.first_symbol += first_symbol;
      source.first_pair += first_pair;
      source.first_event += first_event;
      source.first_count += first_count;
    }
    const int64_t first_source = sources_.append(batch.sources);
    check_n_sides(first_source + static_cast<int64_t>(batch.sources.size()), "source");
    stats_.n_added += batch.n_added;
    used_alignments_.insert(used_alignments_.end(), batch.alignments.begin(), batch.alignments.end());
  }
  for (TargetUse use : batch.uses) {
    if (use.pair != kNoPair) use.pair += static_cast<uint64_t>(first_pair);
    uses.add(use.target_hash, use);
  }
}

void GrammarBuilder::group_targets(Control& control) {
  pair_target_.resize(static_cast<size_t>(pair_events_.size()));
  parallel_chunks(BucketSpool<TargetUse>::kBuckets, 1, options_.n_threads, control, [&](int64_t bucket, int64_t, int) {
    auto records = uses_.take(static_cast<int>(bucket));
    std::sort(records.begin(), records.end(),
              [](const TargetUse& a, const TargetUse& b) { return a.target_hash < b.target_hash; });
    std::vector<Symbol> symbols, buffer;
    std::vector<RawTarget> targets;
    std::vector<FoldCount> counts;
    std::vector<std::pair<uint64_t, uint32_t>> pair_target;
    FoldSums folds, added_folds;
    each_group(
        std::span(records), [](const TargetUse& u) { return u.target_hash; },
        [&](const TargetUse& u, std::vector<Symbol>& buffer) { return pattern_of(u, buffer); },
        [&](std::span<TargetUse> target, std::span<const Symbol>) {
          folds.clear();
          added_folds.clear();
          for (const TargetUse& use : target) (use.is_added ? added_folds : folds).add(use.fold, use.amount);
          // One marginal for the target sides that differ in the order of their nonterminals only.
          auto rest =
              std::partition(target.begin(), target.end(), [](const TargetUse& u) { return u.pair == kNoPair; });
          while (rest != target.end()) {
            const TargetUse first = *rest;
            const auto end =
                std::partition(rest, target.end(), [&](const TargetUse& u) { return have_same_order(first, u); });
            for (; rest != end; ++rest) pair_target.emplace_back(rest->pair, static_cast<uint32_t>(targets.size()));
            const auto text = target_of(first, buffer);
            targets.push_back({static_cast<int64_t>(symbols.size()), static_cast<int64_t>(counts.size())});
            symbols.insert(symbols.end(), text.begin(), text.end());
            for (const auto& [fold, amount] : folds.sorted()) counts.push_back(fold_count(fold, amount));
            for (const auto& [fold, amount] : added_folds.sorted()) counts.push_back(fold_count(fold, amount, true));
          }
        });
    std::scoped_lock lock(mutex_);
    const int64_t first_symbol = target_symbols_.append(symbols);
    const int64_t first_count = target_counts_.append(counts);
    for (RawTarget& target : targets) {
      target.first_symbol += first_symbol;
      target.first_count += first_count;
    }
    const int64_t first_target = targets_.append(targets);
    check_n_sides(first_target + static_cast<int64_t>(targets.size()), "target");
    for (const auto& [pair, target] : pair_target) pair_target_[pair] = static_cast<uint32_t>(first_target) + target;
  });
}

}  // namespace dragoman::grammar
