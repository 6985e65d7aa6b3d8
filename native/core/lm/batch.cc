#include "core/lm/batch.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"

namespace dragoman::lm {

namespace {

// Sentences per chunk: many, because tokenising and scoring evict each other's tables from the caches.
constexpr int64_t kMaxChunk = 8192;
constexpr int kLanes = 16;  // sentences scored concurrently, to overlap their memory accesses

// One sentence in progress: a lookup of `word` after `node` is pending.
struct Lane {
  int64_t row;
  std::span<const int32_t> rest;
  bool end_due;
  bool missed;  // the lookup failed; the node is being prefetched
  uint32_t node, word;
  float backoff;
  double total, unknown;
  int32_t n_tokens, n_unknown;
};

class Interleaved {
 public:
  Interleaved(const Model& model, const Sentences& sentences, int64_t first_row, Ends ends, BatchScores& out)
      : model_(model), sentences_(sentences), first_row_(first_row), ends_(ends), out_(out) {}

  void run() {
    Lane lanes[kLanes];
    int n_lanes = 0;
    while (n_lanes < kLanes && start(lanes[n_lanes])) ++n_lanes;
    while (n_lanes > 0) {
      for (int i = 0; i < n_lanes; ++i)
        if (!step(lanes[i]) && !start(lanes[i])) lanes[i--] = lanes[--n_lanes];
    }
  }

 private:
  // Starts the next sentence that has tokens to score.
  bool start(Lane& lane) {
    for (; next_row_ < sentences_.size(); ++next_row_) {
      lane = {next_row_, sentences_[next_row_], ends_.end, false, 0, 0, 0, 0, 0, 0, 0};
      if (ends_.begin) lane.node = model_.begin_state().node;
      if (!advance(lane)) {
        store(lane);
        continue;
      }
      ++next_row_;
      return true;
    }
    return false;
  }

  bool advance(Lane& lane) {
    if (!lane.rest.empty()) {
      lane.word = static_cast<uint32_t>(lane.rest.front());
      lane.rest = lane.rest.subspan(1);
    } else if (lane.end_due) {
      lane.word = kEos;
      lane.end_due = false;
    } else {
      return false;
    }
    lane.backoff = 0;
    model_.prefetch(lane.node, lane.word);
    return true;
  }

  // Completes one lookup and starts the next; returns false when the sentence is finished.
  bool step(Lane& lane) {
    float prob;
    uint32_t next;
    if (lane.missed) {
      lane.missed = false;
      lane.backoff += model_.nodes()[lane.node].backoff;
      lane.node = model_.suffix(lane.node);
      if (lane.node != 0) {
        model_.prefetch(lane.node, lane.word);
        return true;
      }
    }
    if (lane.node != 0) {
      const Entry* entry = model_.find(lane.node, lane.word);
      if (entry == nullptr) {
        lane.missed = true;
        model_.prefetch_node(lane.node);
        return true;
      }
      prob = entry->prob;
      next = entry->next;
    } else {
      prob = model_.unigrams()[lane.word].prob;
      next = model_.unigrams()[lane.word].next;
    }
    const float logprob = lane.backoff - std::fabs(prob);
    lane.total += static_cast<double>(logprob);
    ++lane.n_tokens;
    if (lane.word == kUnk) {
      lane.unknown += static_cast<double>(logprob);
      ++lane.n_unknown;
    }
    lane.node = model_.checked(next);
    if (advance(lane)) return true;
    store(lane);
    return false;
  }

  void store(const Lane& lane) {
    const auto row = static_cast<size_t>(first_row_ + lane.row);
    out_.logprob[row] = lane.total;
    out_.unknown_logprob[row] = lane.unknown;
    out_.n_tokens[row] = lane.n_tokens;
    out_.n_unknown[row] = lane.n_unknown;
  }

  const Model& model_;
  Sentences sentences_;
  int64_t first_row_;
  Ends ends_;
  BatchScores& out_;
  int64_t next_row_ = 0;
};

int64_t chunk_size(int64_t n_sentences, int n_threads) {
  return std::clamp<int64_t>(n_sentences / (4 * std::max(1, n_threads)), 1, kMaxChunk);
}

// The beginnings of the lines, and the end of the block.
std::vector<size_t> line_starts(std::string_view block) {
  std::vector<size_t> starts{0};
  for (size_t at = 0; at < block.size();) {
    const void* newline = std::memchr(block.data() + at, '\n', block.size() - at);
    at = newline ? static_cast<size_t>(static_cast<const char*>(newline) - block.data()) + 1 : block.size();
    starts.push_back(at);
  }
  return starts;
}

}  // namespace

void BatchScores::resize(size_t n) {
  logprob.resize(n);
  unknown_logprob.resize(n);
  n_tokens.resize(n);
  n_unknown.resize(n);
}

BatchScores score_ids(const Model& model, const Sentences& sentences, Ends ends, int n_threads, Control& control) {
  for (const int32_t id : sentences.values)
    if (id < 0 || static_cast<uint32_t>(id) >= model.n_words())
      throw InputError("the id " + std::to_string(id) + " is not in the language model's vocabulary of " +
                       std::to_string(model.n_words()) + " words");
  BatchScores out;
  out.resize(static_cast<size_t>(sentences.size()));
  const int64_t chunk = chunk_size(sentences.size(), n_threads);
  parallel_chunks(sentences.size(), chunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    const Sentences part{sentences.offsets.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin) + 1),
                         sentences.values};
    Interleaved(model, part, begin, ends, out).run();
  });
  return out;
}

BatchScores score_text(const Model& model, std::string_view block, int64_t first_line, Ends ends, int n_threads,
                       Control& control) {
  const std::vector<size_t> starts = line_starts(block);
  const auto n_lines = static_cast<int64_t>(starts.size()) - 1;
  BatchScores out;
  out.resize(static_cast<size_t>(n_lines));
  std::vector<names::EncodedLines> scratch(static_cast<size_t>(std::max(1, n_threads)));
  const int64_t chunk = chunk_size(n_lines, n_threads);
  parallel_chunks(n_lines, chunk, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
    names::EncodedLines& lines = scratch[static_cast<size_t>(worker)];
    lines.offsets.assign(1, 0);
    lines.ids.clear();
    const size_t start = starts[static_cast<size_t>(begin)], stop = starts[static_cast<size_t>(end)];
    names::encode_lines_frozen(block.substr(start, stop - start), model.words(), kUnk, first_line + begin, lines);
    Interleaved(model, {lines.offsets, lines.ids}, begin, ends, out).run();
  });
  return out;
}

}  // namespace dragoman::lm
