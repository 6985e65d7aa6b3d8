#include "core/grammar/word_counts.hh"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/parallel.hh"
#include "core/base/temp_file.hh"
#include "core/grammar/symbol_order.hh"

namespace dragoman::grammar {

namespace {

struct Count {
  uint64_t key;
  uint64_t n;
  uint8_t fold;
};

void write_marginals(const std::string& prefix, int32_t n_words, const std::vector<Count>& counts,
                     int32_t (*row_of)(uint64_t)) {
  std::vector<std::pair<uint64_t, uint64_t>> cells;  // (row, fold), count
  for (const Count& c : counts)
    cells.emplace_back(static_cast<uint64_t>(static_cast<uint32_t>(row_of(c.key))) << 8 | c.fold, c.n);
  std::sort(cells.begin(), cells.end());
  std::vector<int64_t> offsets(static_cast<size_t>(n_words) + 2, 0);
  std::vector<FoldCount> values;
  for (size_t begin = 0; begin < cells.size();) {
    uint64_t n = 0;
    size_t end = begin;
    for (; end < cells.size() && cells[end].first == cells[begin].first; ++end) n += cells[end].second;
    values.push_back(FoldCount::of(static_cast<uint8_t>(cells[begin].first), n));
    ++offsets[(cells[begin].first >> 8) + 1];
    begin = end;
  }
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  write_array(prefix + ".offsets", std::span<const int64_t>(offsets));
  write_array(prefix + ".values", std::span<const FoldCount>(values));
}

}  // namespace

void WordCounter::write(int32_t n_source_words, int32_t n_target_words, int n_threads, Control& control) {
  std::vector<Count> counts;
  std::mutex mutex;
  parallel_chunks(decltype(spool_)::kBuckets, 1, n_threads, control, [&](int64_t bucket, int64_t, int) {
    auto records = spool_.take(static_cast<int>(bucket));
    std::sort(records.begin(), records.end());
    std::vector<Count> found;
    for (size_t begin = 0; begin < records.size();) {
      size_t end = begin;
      while (end < records.size() && records[end] == records[begin]) ++end;
      found.push_back({records[begin].first, end - begin, records[begin].second});
      begin = end;
    }
    std::scoped_lock lock(mutex);
    counts.insert(counts.end(), found.begin(), found.end());
  });
  parallel_sort(counts, n_threads, control,
                [](const Count& a, const Count& b) { return a.key != b.key ? a.key < b.key : a.fold < b.fold; });
  std::vector<uint64_t> keys;
  std::vector<int64_t> offsets, rows(static_cast<size_t>(n_source_words) + 2, 0);
  std::vector<FoldCount> values;
  for (const Count& c : counts) {
    if (keys.empty() || keys.back() != c.key) {
      keys.push_back(c.key);
      offsets.push_back(static_cast<int64_t>(values.size()));
      ++rows[(c.key >> 32) + 1];
    }
    values.push_back(FoldCount::of(c.fold, c.n));
  }
  offsets.push_back(static_cast<int64_t>(values.size()));
  for (size_t i = 1; i < rows.size(); ++i) rows[i] += rows[i - 1];
  write_array(folder_ + "/word_pairs.rows", std::span<const int64_t>(rows));
  write_array(folder_ + "/word_pairs.keys", std::span<const uint64_t>(keys));
  write_array(folder_ + "/word_pairs.offsets", std::span<const int64_t>(offsets));
  write_array(folder_ + "/word_pairs.values", std::span<const FoldCount>(values));
  write_marginals(folder_ + "/source_words", n_source_words, counts,
                  [](uint64_t key) { return static_cast<int32_t>(key >> 32); });
  write_marginals(folder_ + "/target_words", n_target_words, counts,
                  [](uint64_t key) { return static_cast<int32_t>(key & 0xffffffffU); });
}

}  // namespace dragoman::grammar
