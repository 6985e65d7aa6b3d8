// Builds the tables of a grammar from occurrences of pairs: spread over buckets by source, grouped and counted, grouped
// by target for the marginals, put into lexicographic order, written. Hashes only bring equal pairs together; the
// symbols decide. Apart from the tables' own size, memory is bounded: occurrences go to scratch files.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/alignment_keys.hh"
#include "core/bucket_spool.hh"
#include "core/control.hh"
#include "core/grammar_key.hh"
#include "core/ragged.hh"
#include "core/temp_file.hh"

namespace dragoman {

struct ParallelText {
  Sentences source, target;
  std::span<const uint8_t> folds;  // one per sentence pair
};

struct BuildOptions {
  std::string folder;  // exists and is empty; scratch files live in it too
  int64_t max_memory_bytes = int64_t{4} << 30;
  int n_threads = 1;
  uint64_t hash_mask = ~uint64_t{0};  // tests make collisions with it
};

struct BuildStats {
  int64_t n_occurrences = 0, n_pairs = 0, n_sources = 0, n_targets = 0, n_events = 0, n_alignments = 0;
  int64_t spilled_bytes = 0;
};

// One pair at one place of the text.
struct Occurrence {
  uint64_t source_hash, target_hash;
  uint64_t alignment;  // an AlignmentKeys key
  uint32_t sentence;
  uint16_t source_begin, target_begin;
  uint16_t orientation;
  uint8_t source_length, target_length;
  uint32_t count;
};

class GrammarBuilder {
 public:
  GrammarBuilder(const ParallelText& text, const BuildOptions& options);

  // One per thread; flush() it before build().
  class Writer {
   public:
    explicit Writer(GrammarBuilder& builder) : builder_(builder), occurrences_(builder.occurrences_) {}
    void add(Occurrence occurrence) {
      occurrence.source_hash &= builder_.options_.hash_mask;
      occurrence.target_hash &= builder_.options_.hash_mask;
      occurrences_.add(occurrence.source_hash, occurrence);
    }
    void flush() { occurrences_.flush(); }

   private:
    GrammarBuilder& builder_;
    BucketSpool<Occurrence>::Writer occurrences_;
  };

  AlignmentKeys& alignments() { return alignments_; }
  BuildStats build(Control& control);

 private:
  // What stands in scratch files between grouping and writing; rows are in order of arrival.
  struct RawEvent {
    uint64_t alignment;
    uint16_t count, orientation;
    uint8_t fold;
    friend auto operator<=>(const RawEvent&, const RawEvent&) = default;
  };
  struct RawSource {
    int64_t first_symbol, first_pair, first_event, n_folds;
  };
  struct RawTarget {
    int64_t first_symbol, first_count;
  };
  struct TargetUse {  // a pair in a fold
    uint64_t target_hash, pair;
    uint32_t sentence;
    uint16_t target_begin;
    uint8_t target_length, fold;
    uint64_t count;
  };
  struct SourceBatch;

  void group_sources(Control& control);
  void group_targets(Control& control);
  void write(Control& control);
  void write_targets(Control& control, std::vector<uint32_t>& new_id);
  void write_sources(Control& control, const std::vector<uint32_t>& target_id);
  void group_bucket(std::vector<Occurrence>& records, SourceBatch& batch) const;
  void add_pair(std::span<const Occurrence> records, SourceBatch& batch) const;
  void keep(SourceBatch& batch, BucketSpool<TargetUse>::Writer& uses);
  std::span<const Symbol> source_of(const Occurrence& o) const {
    return text_.source[o.sentence].subspan(o.source_begin, o.source_length);
  }
  std::span<const Symbol> target_of(const auto& o) const {
    return text_.target[o.sentence].subspan(o.target_begin, o.target_length);
  }
  std::string path(const char* name) const { return options_.folder + "/" + name; }

  ParallelText text_;
  BuildOptions options_;
  AlignmentKeys alignments_;
  BucketSpool<Occurrence> occurrences_;
  BucketSpool<TargetUse> uses_;
  std::mutex mutex_;
  std::vector<uint64_t> used_alignments_;
  TempColumn<Symbol> source_symbols_, target_symbols_;
  TempColumn<RawSource> sources_;
  TempColumn<RawTarget> targets_;
  TempColumn<int64_t> pair_events_;  // the first event of every pair
  TempColumn<RawEvent> events_;
  TempColumn<FoldCount> target_counts_;
  std::vector<uint32_t> pair_target_;  // rows of targets_
  BuildStats stats_;
};

}  // namespace dragoman
