// Builds the tables of a grammar from occurrences of pairs: spread over buckets by source, grouped and counted, grouped
// by target for the marginals, put into lexicographic order, written. Hashes only bring equal pairs together; the
// symbols decide. Apart from the tables' own size, memory is bounded: occurrences go to scratch files.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/base/bucket_spool.hh"
#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/base/temp_file.hh"
#include "core/grammar/alignment_keys.hh"
#include "core/grammar/key.hh"
#include "core/grammar/side_index.hh"
#include "core/grammar/tables.hh"

namespace dragoman::grammar {

struct ParallelText {
  Sentences source, target;
  std::span<const uint8_t> folds;  // one per sentence pair
};

struct BuildOptions {
  std::string folder;  // exists and is empty; scratch files live in it too
  int64_t max_memory_bytes = int64_t{4} << 30;
  int n_threads = 1;
  uint64_t hash_mask = ~uint64_t{0};  // tests make collisions with it
  // Rules are extracted: occurrences may have gaps and a mass, and target sides get the label 0 in front.
  bool rules = false;
  // Of extracted rules; the marginals count those that are left out.
  RuleCut cut;
};

struct BuildStats {
  int64_t n_occurrences = 0, n_pairs = 0, n_sources = 0, n_targets = 0, n_events = 0, n_alignments = 0;
  int64_t n_added = 0;  // pairs all of whose occurrences are added
  int64_t spilled_bytes = 0;
};

// Words of a side that a nonterminal stands for, counted from the side's first. No words: no nonterminal.
struct Gap {
  uint8_t begin = 0, length = 0;
};
constexpr size_t kMaxGaps = 2;
using Gaps = std::array<Gap, kMaxGaps>;

// One pair at one place of the text. Gaps are in the order of the source side; both sides have as many. Sides of added
// rules, which may have more gaps and be longer, stand in a column of symbols instead: then both lengths are 0, `begin`
// is how many symbols there are, and the gaps' bits are where the first one is.
struct Occurrence {
  uint64_t source_hash, target_hash;
  uint64_t alignment;  // an AlignmentKeys key
  uint32_t sentence;
  uint16_t source_begin, target_begin;
  uint16_t kind;  // an OrientationCode or a RuleKind
  uint8_t source_length, target_length;
  uint32_t amount;  // how many there are; of rules, the mass of this one
  Gaps source_gaps, target_gaps;
};

// A rule whose sides are written out, the target's with the left-hand side in front.
struct WrittenRule {
  std::span<const Symbol> source, target;
  std::span<const PhraseLink> links;
  uint32_t sentence, mass;
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
    // An added rule. Throws InputError where there are too many.
    void add(const WrittenRule& rule);
    void flush() {
      write_out();
      occurrences_.flush();
    }

   private:
    static constexpr size_t kBufferSymbols = 1 << 14;
    void write_out();

    GrammarBuilder& builder_;
    BucketSpool<Occurrence>::Writer occurrences_;
    // Added rules whose sides wait to be written; their places are in the buffer.
    std::vector<Symbol> sides_;
    std::vector<Occurrence> waiting_;
  };

  AlignmentKeys& alignments() { return alignments_; }
  BuildStats build(Control& control) {
    group(control);
    return finish(control);
  }
  // The two steps of build(). Between them, occurrences that were never written may be added to the marginals of the
  // sides that are there, by any thread.
  void group(Control& control);
  void add_to_marginals(const Occurrence& occurrence);
  BuildStats finish(Control& control);

 private:
  // What stands in scratch files between grouping and writing; rows are in order of arrival.
  struct RawEvent {
    uint64_t alignment, mass;
    uint16_t count, kind;
    uint8_t fold;
  };
  struct RawSource {
    int64_t first_symbol, first_pair, first_event, first_count;
    bool is_added;  // by added rules only
  };
  struct RawTarget {
    int64_t first_symbol, first_count;
  };
  static constexpr uint64_t kNoPair = ~uint64_t{0};  // of a pair that is left out
  struct TargetUse {                                 // a pair in a fold
    uint64_t target_hash, pair;
    uint32_t sentence;
    uint16_t target_begin;
    uint8_t target_length, fold;
    Gaps target_gaps;
    bool is_added;
    uint64_t amount;
  };
  struct SourceBatch;

  void group_sources(Control& control);
  void group_targets(Control& control);
  void write(Control& control);
  void write_targets(Control& control, std::vector<uint32_t>& new_id);
  void write_sources(Control& control, const std::vector<uint32_t>& target_id);
  void group_bucket(std::vector<Occurrence>& records, SourceBatch& batch) const;
  bool add_pair(std::span<const Occurrence> records, SourceBatch& batch) const;
  void write_counts(const char* name, std::span<const int64_t> offsets, std::span<const FoldCount> counts,
                    const SideIndex* more, const std::vector<uint32_t>& order, Control& control);
  void keep(SourceBatch& batch, BucketSpool<TargetUse>::Writer& uses);
  // The symbols of an occurrence's sides; where they are not in the text as they are, in the buffer.
  std::span<const Symbol> source_of(const Occurrence& o, std::vector<Symbol>& buffer) const;
  std::span<const Symbol> target_of(const auto& o, std::vector<Symbol>& buffer) const;
  // A target side whatever the order of its nonterminals, in the buffer.
  std::span<const Symbol> pattern_of(const auto& o, std::vector<Symbol>& buffer) const;
  bool is_added(const Occurrence& o) const;
  bool have_same_order(const TargetUse& a, const TargetUse& b) const;
  std::span<const Symbol> written(uint16_t size, Gaps place) const;
  std::string path(const char* name) const { return options_.folder + "/" + name; }

  ParallelText text_;
  BuildOptions options_;
  AlignmentKeys alignments_;
  BucketSpool<Occurrence> occurrences_;
  BucketSpool<TargetUse> uses_;
  std::mutex mutex_;
  std::vector<uint64_t> used_alignments_;
  TempColumn<Symbol> written_symbols_, source_symbols_, target_symbols_;
  std::span<const Symbol> written_;
  TempColumn<RawSource> sources_;
  TempColumn<RawTarget> targets_;
  TempColumn<int64_t> pair_events_;  // the first event of every pair
  TempColumn<RawEvent> events_;
  TempColumn<FoldCount> source_counts_, target_counts_;
  std::vector<uint32_t> pair_target_;                       // rows of targets_
  std::vector<int64_t> source_offsets_, target_offsets_;    // of symbols, by row
  std::unique_ptr<SideIndex> more_sources_, more_targets_;  // what add_to_marginals() adds to
  BuildStats stats_;
};

}  // namespace dragoman::grammar
