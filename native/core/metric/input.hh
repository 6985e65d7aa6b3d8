// What every metric kernel reads: candidates, the sentence each belongs to, and that sentence's references.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/control.hh"
#include "core/base/errors.hh"
#include "core/base/parallel.hh"
#include "core/base/ragged.hh"

namespace dragoman::metric {

struct MetricInput {
  Sentences candidates;
  std::span<const int32_t> sentence;     // of each candidate; runs of equal values share the reference tables
  std::span<const int64_t> ref_offsets;  // sentence s has the references [ref_offsets[s], ref_offsets[s + 1])
  Sentences references;

  int64_t n_sentences() const { return static_cast<int64_t>(ref_offsets.size()) - 1; }

  // Call before the first access. Throws std::invalid_argument for arrays that do not fit together,
  // InputError for a sentence that has candidates but no reference.
  void check() const {
    candidates.check("candidates");
    references.check("references");
    if (sentence.size() != static_cast<size_t>(candidates.size()))
      throw std::invalid_argument("sentence: one number per candidate expected, " + std::to_string(candidates.size()) +
                                  ", got " + std::to_string(sentence.size()));
    if (ref_offsets.empty() || ref_offsets.front() != 0 || ref_offsets.back() != references.size())
      throw std::invalid_argument("ref_offsets must start with 0 and end with the number of references");
    for (size_t s = 1; s < ref_offsets.size(); ++s)
      if (ref_offsets[s] < ref_offsets[s - 1])
        throw std::invalid_argument("ref_offsets must not decrease (sentence " + std::to_string(s - 1) + ")");
    for (const int32_t s : sentence) {
      if (s < 0 || s >= n_sentences())
        throw std::invalid_argument("sentence: " + std::to_string(s) + " is not in [0, " +
                                    std::to_string(n_sentences()) + ")");
      if (ref_offsets[static_cast<size_t>(s)] == ref_offsets[static_cast<size_t>(s) + 1])
        throw InputError("a segment to be scored has no reference; give it at least one", s + 1);
    }
  }

  std::vector<std::span<const int32_t>> references_of(int32_t s) const {
    std::vector<std::span<const int32_t>> result;
    for (int64_t r = ref_offsets[static_cast<size_t>(s)]; r < ref_offsets[static_cast<size_t>(s) + 1]; ++r)
      result.push_back(references[r]);
    return result;
  }
};

// How many threads are of use: scratch space is allocated for each.
inline int useful_threads(const MetricInput& input, int n_threads) {
  return static_cast<int>(std::clamp<int64_t>(input.candidates.size(), 1, std::max(1, n_threads)));
}

// Calls body(worker, sentence, begin, end) for each run of consecutive candidates of one sentence, in
// parallel.
template <typename Body>
void for_each_run(const MetricInput& input, int n_threads, Control& control, Body&& body) {
  // Long runs are cut so that one sentence with very many candidates still keeps all threads busy.
  constexpr int64_t kLongestRun = 1024, kMostRunsPerChunk = 16;
  struct Run {
    int64_t begin, end;
  };
  std::vector<Run> runs;
  const auto n = static_cast<int64_t>(input.sentence.size());
  for (int64_t begin = 0; begin < n;) {
    int64_t end = begin + 1;
    while (end < n && end - begin < kLongestRun &&
           input.sentence[static_cast<size_t>(end)] == input.sentence[static_cast<size_t>(begin)])
      ++end;
    runs.push_back({begin, end});
    begin = end;
  }
  const auto body_of_chunk = [&](int64_t first, int64_t last, int worker) {
    for (int64_t r = first; r < last; ++r) {
      const Run& run = runs[static_cast<size_t>(r)];
      control.check();
      body(worker, input.sentence[static_cast<size_t>(run.begin)], run.begin, run.end);
    }
  };
  const auto n_runs = static_cast<int64_t>(runs.size());
  const int64_t chunk = std::min(kMostRunsPerChunk, n_runs / (8 * int64_t{std::max(1, n_threads)}));
  parallel_chunks(n_runs, chunk, n_threads, control, body_of_chunk);
}

}  // namespace dragoman::metric
