// Scratch space on disk, and output files. Errors are std::system_error with the path in the message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace dragoman {

// An unnamed file in a folder, deleted when the process ends, however it ends.
class TempFile {
 public:
  explicit TempFile(const std::string& folder);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Appending and reading are thread-safe. Returns the offset.
  int64_t append(const void* data, size_t n_bytes);
  void read(int64_t offset, void* data, size_t n_bytes) const;
  // The whole content, mapped read-only; call it after the last append.
  const std::byte* map();
  int64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  std::string folder_;
  int fd_ = -1;
  std::atomic<int64_t> size_{0};
  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
};

// An array of scratch data, written once sequentially and then mapped.
template <typename T>
class TempColumn {
 public:
  explicit TempColumn(const std::string& folder) : file_(folder) {}
  int64_t append(std::span<const T> values) {
    return file_.append(values.data(), values.size_bytes()) / static_cast<int64_t>(sizeof(T));
  }
  int64_t size() const { return file_.size() / static_cast<int64_t>(sizeof(T)); }
  std::span<const T> map() {
    if (!size()) return {};
    return {reinterpret_cast<const T*>(file_.map()), static_cast<size_t>(size())};
  }

 private:
  TempFile file_;
};

// A new file written at given offsets. The creator of the folder is responsible for fsync.
class OutFile {
 public:
  explicit OutFile(const std::string& path);
  ~OutFile();
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;

  template <typename T>
  void write(int64_t index, std::span<const T> values) {
    write_at(index * static_cast<int64_t>(sizeof(T)), values.data(), values.size_bytes());
  }
  void finish();  // closes the file; throws on error

 private:
  void write_at(int64_t offset, const void* data, size_t n_bytes);
  std::string path_;
  int fd_ = -1;
};

template <typename T>
void write_array(const std::string& path, std::span<const T> values) {
  OutFile file(path);
  file.write(0, values);
  file.finish();
}

}  // namespace dragoman
