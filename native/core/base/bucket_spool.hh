// Records partitioned into buckets by the top bits of a hash: in memory while they fit, then in a scratch file.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/temp_file.hh"

namespace dragoman {

template <typename Record>
class BucketSpool {
 public:
  static constexpr int kBuckets = 256;
  static int bucket_of(uint64_t hash) { return static_cast<int>(hash >> 56); }

  BucketSpool(std::string folder, int64_t max_memory_bytes)
      : folder_(std::move(folder)), max_memory_bytes_(max_memory_bytes), buckets_(kBuckets) {}

  // The writer of one thread; call flush() before reading the spool.
  class Writer {
   public:
    explicit Writer(BucketSpool& spool) : spool_(spool), buffers_(kBuckets) {}
    void add(uint64_t hash, const Record& record) {
      auto& buffer = buffers_[static_cast<size_t>(bucket_of(hash))];
      if (buffer.empty()) buffer.reserve(kBufferRecords);
      buffer.push_back(record);
      if (buffer.size() == kBufferRecords) {
        spool_.add(bucket_of(hash), buffer);
        buffer.clear();
      }
    }
    void flush() {
      for (int b = 0; b < kBuckets; ++b) {
        auto& buffer = buffers_[static_cast<size_t>(b)];
        if (!buffer.empty()) spool_.add(b, buffer);
        buffer = {};
      }
    }

   private:
    static constexpr size_t kBufferRecords = 256;
    BucketSpool& spool_;
    std::vector<std::vector<Record>> buffers_;
  };

  // Takes the records of a bucket, in no particular order, and frees the spool's memory for them.
  std::vector<Record> take(int bucket) {
    Bucket& b = buckets_[static_cast<size_t>(bucket)];
    std::vector<Record> records(b.n_records);
    size_t at = 0;
    for (const auto& [offset, n] : b.extents) {
      file_->read(offset, records.data() + at, n * sizeof(Record));
      at += n;
    }
    for (auto& block : b.blocks) {
      std::copy(block.begin(), block.end(), records.begin() + static_cast<int64_t>(at));
      at += block.size();
      block = {};
    }
    b = Bucket();
    return records;
  }

  // Frees the scratch file's space; call it when everything has been taken.
  void release() {
    spilled_bytes_ = spilled_bytes();
    file_.reset();
  }

  int64_t spilled_bytes() const { return file_ ? file_->size() : spilled_bytes_; }
  int64_t size() const { return n_records_; }

 private:
  static constexpr size_t kBlockRecords = 4096;
  struct Bucket {
    std::vector<std::vector<Record>> blocks;
    std::vector<std::pair<int64_t, size_t>> extents;  // in the scratch file: offset, number of records
    size_t n_records = 0;
  };

  void add(int bucket, const std::vector<Record>& records) {
    std::scoped_lock lock(mutex_);
    Bucket& b = buckets_[static_cast<size_t>(bucket)];
    if (b.blocks.empty() || b.blocks.back().size() + records.size() > kBlockRecords) {
      const int64_t block_bytes = static_cast<int64_t>(kBlockRecords * sizeof(Record));
      if (memory_bytes_ + block_bytes > max_memory_bytes_) spill();
      b.blocks.emplace_back().reserve(kBlockRecords);
      memory_bytes_ += block_bytes;
    }
    b.blocks.back().insert(b.blocks.back().end(), records.begin(), records.end());
    b.n_records += records.size();
    n_records_ += static_cast<int64_t>(records.size());
  }

  void spill() {
    if (!file_) file_ = std::make_unique<TempFile>(folder_);
    for (Bucket& b : buckets_) {
      for (const auto& block : b.blocks)
        b.extents.emplace_back(file_->append(block.data(), block.size() * sizeof(Record)), block.size());
      b.blocks = {};
    }
    memory_bytes_ = 0;
  }

  std::string folder_;
  int64_t max_memory_bytes_;
  int64_t memory_bytes_ = 0, n_records_ = 0, spilled_bytes_ = 0;
  std::vector<Bucket> buckets_;
  std::unique_ptr<TempFile> file_;
  std::mutex mutex_;
};

}  // namespace dragoman
