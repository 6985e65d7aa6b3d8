// The last step of GrammarBuilder: lexicographic order, dense ids, files.
#include <algorithm>
#include <utility>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"
#include "core/grammar/build.hh"
#include "core/grammar/source_trie.hh"
#include "core/grammar/symbol_order.hh"

namespace dragoman::grammar {

namespace {

constexpr int64_t kChunk = 1 << 14;

// Offsets of rows whose first values are known, in order of arrival.
template <typename Row>
std::vector<int64_t> offsets_of(std::span<const Row> rows, int64_t Row::* first, int64_t end) {
  std::vector<int64_t> offsets;
  offsets.reserve(rows.size() + 1);
  for (const Row& row : rows) offsets.push_back(row.*first);
  offsets.push_back(end);
  return offsets;
}

// Offsets after the rows were put into `order`.
template <typename Length>
std::vector<int64_t> reordered_offsets(const std::vector<uint32_t>& order, Length&& length) {
  std::vector<int64_t> offsets(order.size() + 1, 0);
  for (size_t i = 0; i < order.size(); ++i) offsets[i + 1] = offsets[i] + length(order[i]);
  return offsets;
}

// Writes rows in `order` and their offsets.
template <typename T>
void write_rows(const std::string& values_path, const std::string& offsets_path, const Ragged<T>& rows,
                const std::vector<uint32_t>& order, int n_threads, Control& control) {
  const auto offsets =
      reordered_offsets(order, [&](uint32_t row) { return rows.offsets[row + 1] - rows.offsets[row]; });
  OutFile file(values_path);
  const auto n = static_cast<int64_t>(order.size());
  parallel_chunks((n + kChunk - 1) / kChunk, 1, n_threads, control, [&](int64_t chunk, int64_t, int) {
    std::vector<T> buffer;
    const int64_t begin = chunk * kChunk, end = std::min(n, begin + kChunk);
    for (int64_t i = begin; i < end; ++i) {
      const auto row = rows[order[static_cast<size_t>(i)]];
      buffer.insert(buffer.end(), row.begin(), row.end());
    }
    file.write(offsets[static_cast<size_t>(begin)], std::span<const T>(buffer));
  });
  file.finish();
  write_array(offsets_path, std::span<const int64_t>(offsets));
}

}  // namespace

// Writes the marginals of a side in `order`: counts from the grouping and what came to them afterwards.
void GrammarBuilder::write_counts(const char* name, std::span<const int64_t> offsets, std::span<const FoldCount> counts,
                                  const SideIndex* more, const std::vector<uint32_t>& order, Control& control) {
  const Ragged<FoldCount> rows{offsets, counts};
  if (!more) {
    write_rows(path(name) + ".values", path(name) + ".offsets", rows, order, options_.n_threads, control);
    return;
  }
  std::vector<int64_t> new_offsets{0};
  std::vector<FoldCount> values;
  std::vector<uint64_t> sums(static_cast<size_t>(more->n_folds()));
  new_offsets.reserve(order.size() + 1);
  for (const uint32_t row : order) {
    for (size_t fold = 0; fold < sums.size(); ++fold) sums[fold] = more->sum(row, static_cast<int>(fold));
    for (const FoldCount count : rows[row])
      if (!count.added()) sums[count.fold()] += static_cast<uint64_t>(count.count());
    for (size_t fold = 0; fold < sums.size(); ++fold)
      if (sums[fold]) values.push_back(fold_count(static_cast<uint8_t>(fold), sums[fold]));
    for (const FoldCount count : rows[row])
      if (count.added()) values.push_back(count);
    new_offsets.push_back(static_cast<int64_t>(values.size()));
  }
  write_array(path(name) + ".offsets", std::span<const int64_t>(new_offsets));
  write_array(path(name) + ".values", std::span<const FoldCount>(values));
}

BuildStats GrammarBuilder::finish(Control& control) {
  stats_.n_sources = sources_.size();
  stats_.n_targets = targets_.size();
  stats_.n_pairs = pair_events_.size();
  stats_.n_events = events_.size();
  std::vector<uint32_t> target_id;
  write_targets(control, target_id);
  write_sources(control, target_id);
  return stats_;
}

void GrammarBuilder::write_targets(Control& control, std::vector<uint32_t>& new_id) {
  const auto targets = targets_.map();
  const Ragged<Symbol> rows{target_offsets_, target_symbols_.map()};
  const auto order = lexicographic_order(rows, options_.n_threads, control);
  new_id.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) new_id[order[i]] = static_cast<uint32_t>(i);
  write_rows(path("targets.symbols"), path("targets.offsets"), rows, order, options_.n_threads, control);
  const auto count_offsets = offsets_of(targets, &RawTarget::first_count, target_counts_.size());
  write_counts("target_counts", count_offsets, target_counts_.map(), more_targets_.get(), order, control);
  more_targets_.reset();
}

void GrammarBuilder::write_sources(Control& control, const std::vector<uint32_t>& target_id) {
  const auto sources = sources_.map();
  const auto first_event = pair_events_.map();
  const auto events = events_.map();
  const AlignmentTable alignments(alignments_, used_alignments_);
  stats_.n_alignments = static_cast<int64_t>(alignments.offsets.size()) - 1;
  write_array(path("alignments.offsets"), std::span<const int64_t>(alignments.offsets));
  write_array(path("alignments.links"), std::span<const PhraseLink>(alignments.links));

  const Ragged<Symbol> rows{source_offsets_, source_symbols_.map()};
  const auto order = lexicographic_order(rows, options_.n_threads, control);
  write_rows(path("sources.symbols"), path("sources.offsets"), rows, order, options_.n_threads, control);
  write_source_trie(options_.folder, rows, order, [&](uint32_t row) { return !sources[row].is_added; });
  {
    const auto count_offsets = offsets_of(sources, &RawSource::first_count, source_counts_.size());
    write_counts("source_counts", count_offsets, source_counts_.map(), more_sources_.get(), order, control);
    more_sources_.reset();
  }

  const auto end_of = [&](uint32_t row, int64_t RawSource::* first, int64_t end) {
    return row + 1 < sources.size() ? sources[row + 1].*first : end;
  };
  const auto length_of = [&](int64_t RawSource::* first, int64_t end) {
    return [=, &sources](uint32_t row) { return end_of(row, first, end) - sources[row].*first; };
  };
  const int64_t n_pairs = stats_.n_pairs, n_events = stats_.n_events;
  const auto pair_offsets = reordered_offsets(order, length_of(&RawSource::first_pair, n_pairs));
  const auto event_offsets = reordered_offsets(order, length_of(&RawSource::first_event, n_events));

  OutFile out_targets(path("pairs.target")), out_pair_events(path("pairs.events")), out_events(path("events"));
  OutFile out_mass(path("events.mass"));
  const auto n = static_cast<int64_t>(order.size());
  parallel_chunks((n + kChunk - 1) / kChunk, 1, options_.n_threads, control, [&](int64_t chunk, int64_t, int) {
    const int64_t begin = chunk * kChunk, end = std::min(n, begin + kChunk);
    std::vector<int32_t> pair_targets;
    std::vector<int64_t> pair_events;
    std::vector<uint64_t> event_bits, event_mass;
    std::vector<std::pair<uint64_t, uint64_t>> of_pair;
    std::vector<std::pair<uint32_t, int64_t>> pairs;
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t row = order[static_cast<size_t>(i)];
      pairs.clear();
      for (int64_t pair = sources[row].first_pair; pair < end_of(row, &RawSource::first_pair, n_pairs); ++pair)
        pairs.emplace_back(target_id[pair_target_[static_cast<size_t>(pair)]], pair);
      std::sort(pairs.begin(), pairs.end());
      for (const auto& [target, pair] : pairs) {
        pair_targets.push_back(static_cast<int32_t>(target));
        pair_events.push_back(event_offsets[static_cast<size_t>(begin)] + static_cast<int64_t>(event_bits.size()));
        of_pair.clear();
        const int64_t last = pair + 1 < n_pairs ? first_event[static_cast<size_t>(pair) + 1] : n_events;
        for (int64_t e = first_event[static_cast<size_t>(pair)]; e < last; ++e) {
          const RawEvent& raw = events[static_cast<size_t>(e)];
          of_pair.emplace_back(Event::of(alignments.id(raw.alignment), raw.fold, raw.kind, raw.count).bits, raw.mass);
        }
        std::sort(of_pair.begin(), of_pair.end());
        for (const auto& [bits, mass] : of_pair) {
          event_bits.push_back(bits);
          if (options_.rules) event_mass.push_back(mass);
        }
      }
    }
    const auto at = static_cast<size_t>(begin);
    out_targets.write(pair_offsets[at], std::span<const int32_t>(pair_targets));
    out_pair_events.write(pair_offsets[at], std::span<const int64_t>(pair_events));
    out_events.write(event_offsets[at], std::span<const uint64_t>(event_bits));
    out_mass.write(options_.rules ? event_offsets[at] : 0, std::span<const uint64_t>(event_mass));
  });
  out_pair_events.write(n_pairs, std::span<const int64_t>(&n_events, 1));
  for (OutFile* file : {&out_targets, &out_pair_events, &out_events, &out_mass}) file->finish();
  write_array(path("sources.pairs"), std::span<const int64_t>(pair_offsets));
}

}  // namespace dragoman::grammar
