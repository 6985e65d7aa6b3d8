#include "core/grammar_build.hh"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/errors.hh"
#include "core/parallel.hh"

namespace dragoman {

namespace {

bool equal(std::span<const Symbol> a, std::span<const Symbol> b) { return std::ranges::equal(a, b); }
bool less(std::span<const Symbol> a, std::span<const Symbol> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

// Calls body(run) for the runs of records with equal hash and equal symbols. Records of one hash whose symbols differ,
// which is next to never, are sorted apart first.
template <typename Record, typename Hash, typename Symbols, typename Body>
void each_group(std::span<Record> records, Hash&& hash, Symbols&& symbols, Body&& body) {
  for (size_t begin = 0; begin < records.size();) {
    size_t end = begin + 1;
    bool collision = false;
    const auto first = symbols(records[begin]);
    for (; end < records.size() && hash(records[end]) == hash(records[begin]); ++end)
      collision = collision || !equal(first, symbols(records[end]));
    const auto run = records.subspan(begin, end - begin);
    begin = end;
    if (!collision) {
      body(run);
      continue;
    }
    std::stable_sort(run.begin(), run.end(),
                     [&](const Record& a, const Record& b) { return less(symbols(a), symbols(b)); });
    for (size_t from = 0; from < run.size();) {
      size_t to = from + 1;
      while (to < run.size() && equal(symbols(run[from]), symbols(run[to]))) ++to;
      body(run.subspan(from, to - from));
      from = to;
    }
  }
}

}  // namespace

// What a bucket of sources becomes; places are relative to the batch until it is kept.
struct GrammarBuilder::SourceBatch {
  std::vector<Symbol> symbols;
  std::vector<RawSource> sources;
  std::vector<int64_t> pair_events;
  std::vector<RawEvent> events;
  std::vector<TargetUse> uses;
  std::vector<uint64_t> alignments;
  // Scratch of one pair: its occurrences by alignment, fold, orientation, and its folds.
  std::vector<std::pair<std::tuple<uint64_t, uint8_t, uint16_t>, uint64_t>> kinds;
  FoldSums folds;
};

GrammarBuilder::GrammarBuilder(const ParallelText& text, const BuildOptions& options)
    : text_(text),
      options_(options),
      occurrences_(options.folder, options.max_memory_bytes / 2),
      uses_(options.folder, options.max_memory_bytes / 2),
      source_symbols_(options.folder),
      target_symbols_(options.folder),
      sources_(options.folder),
      targets_(options.folder),
      pair_events_(options.folder),
      events_(options.folder),
      target_counts_(options.folder) {}

BuildStats GrammarBuilder::build(Control& control) {
  stats_.n_occurrences = occurrences_.size();
  group_sources(control);
  group_targets(control);
  stats_.spilled_bytes = occurrences_.spilled_bytes() + uses_.spilled_bytes();
  write(control);
  return stats_;
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
      [&](const Occurrence& o) { return source_of(o); },
      [&](std::span<Occurrence> source) {
        const auto symbols = source_of(source.front());
        batch.sources.push_back({static_cast<int64_t>(batch.symbols.size()),
                                 static_cast<int64_t>(batch.pair_events.size()),
                                 static_cast<int64_t>(batch.events.size()), 0});
        batch.symbols.insert(batch.symbols.end(), symbols.begin(), symbols.end());
        if (!std::is_sorted(source.begin(), source.end(), by_target_hash))
          std::sort(source.begin(), source.end(), by_target_hash);
        each_group(
            source, [](const Occurrence& o) { return o.target_hash; },
            [&](const Occurrence& o) { return target_of(o); },
            [&](std::span<Occurrence> pair) { add_pair(pair, batch); });
        batch.folds.clear();
        for (auto e = static_cast<size_t>(batch.sources.back().first_event); e < batch.events.size(); ++e)
          batch.folds.add(batch.events[e].fold, 1);
        batch.sources.back().n_folds = static_cast<int64_t>(batch.folds.sorted().size());
      });
  for (const RawEvent& event : batch.events) batch.alignments.push_back(event.alignment);
  std::sort(batch.alignments.begin(), batch.alignments.end());
  batch.alignments.erase(std::unique(batch.alignments.begin(), batch.alignments.end()), batch.alignments.end());
}

void GrammarBuilder::add_pair(std::span<const Occurrence> records, SourceBatch& batch) const {
  auto& kinds = batch.kinds;
  kinds.clear();
  for (const Occurrence& o : records) kinds.push_back({{o.alignment, text_.folds[o.sentence], o.orientation}, o.count});
  std::sort(kinds.begin(), kinds.end());
  batch.pair_events.push_back(static_cast<int64_t>(batch.events.size()));
  batch.folds.clear();
  for (size_t begin = 0; begin < kinds.size();) {
    uint64_t count = 0;
    size_t end = begin;
    for (; end < kinds.size() && kinds[end].first == kinds[begin].first; ++end) count += kinds[end].second;
    const auto [alignment, fold, orientation] = kinds[begin].first;
    batch.folds.add(fold, count);
    begin = end;
    do {
      const uint64_t part = std::min(count, Event::kMaxCount);
      batch.events.push_back({alignment, static_cast<uint16_t>(part), orientation, fold});
      count -= part;
    } while (count);
  }
  const Occurrence& first = records.front();
  for (const auto& [fold, count] : batch.folds.sorted())
    batch.uses.push_back({first.target_hash, batch.pair_events.size() - 1, first.sentence, first.target_begin,
                          first.target_length, fold, count});
}

void GrammarBuilder::keep(SourceBatch& batch, BucketSpool<TargetUse>::Writer& uses) {
  int64_t first_pair = 0;
  {
    std::scoped_lock lock(mutex_);
    const int64_t first_symbol = source_symbols_.append(batch.symbols);
    const int64_t first_event = events_.append(batch.events);
    first_pair = pair_events_.size();
    for (int64_t& event : batch.pair_events) event += first_event;
    pair_events_.append(batch.pair_events);
    for (RawSource& source : batch.sources) {
      source.first_symbol += first_symbol;
      source.first_pair += first_pair;
      source.first_event += first_event;
    }
    sources_.append(batch.sources);
    used_alignments_.insert(used_alignments_.end(), batch.alignments.begin(), batch.alignments.end());
  }
  for (TargetUse use : batch.uses) {
    use.pair += static_cast<uint64_t>(first_pair);
    uses.add(use.target_hash, use);
  }
}

void GrammarBuilder::group_targets(Control& control) {
  pair_target_.resize(static_cast<size_t>(pair_events_.size()));
  parallel_chunks(BucketSpool<TargetUse>::kBuckets, 1, options_.n_threads, control, [&](int64_t bucket, int64_t, int) {
    auto records = uses_.take(static_cast<int>(bucket));
    std::sort(records.begin(), records.end(),
              [](const TargetUse& a, const TargetUse& b) { return a.target_hash < b.target_hash; });
    std::vector<Symbol> symbols;
    std::vector<RawTarget> targets;
    std::vector<FoldCount> counts;
    std::vector<std::pair<uint64_t, uint32_t>> pair_target;
    FoldSums folds;
    each_group(
        std::span(records), [](const TargetUse& u) { return u.target_hash; },
        [&](const TargetUse& u) { return target_of(u); },
        [&](std::span<TargetUse> target) {
          folds.clear();
          for (const TargetUse& use : target) {
            folds.add(use.fold, use.count);
            pair_target.emplace_back(use.pair, static_cast<uint32_t>(targets.size()));
          }
          const auto text = target_of(target.front());
          targets.push_back({static_cast<int64_t>(symbols.size()), static_cast<int64_t>(counts.size())});
          symbols.insert(symbols.end(), text.begin(), text.end());
          for (const auto& [fold, count] : folds.sorted()) counts.push_back(FoldCount::of(fold, count));
        });
    std::scoped_lock lock(mutex_);
    const int64_t first_symbol = target_symbols_.append(symbols);
    const int64_t first_count = target_counts_.append(counts);
    for (RawTarget& target : targets) {
      target.first_symbol += first_symbol;
      target.first_count += first_count;
    }
    const int64_t first_target = targets_.append(targets);
    if (first_target + static_cast<int64_t>(targets.size()) > std::numeric_limits<int32_t>::max())
      throw InputError("more than 2^31 distinct target phrases; lower the maximal phrase length");
    for (const auto& [pair, target] : pair_target) pair_target_[pair] = static_cast<uint32_t>(first_target) + target;
  });
}

}  // namespace dragoman
