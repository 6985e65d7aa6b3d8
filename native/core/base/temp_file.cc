#include "core/base/temp_file.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace dragoman {

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void write_all(int fd, int64_t offset, const void* data, size_t n_bytes, const std::string& path) {
  auto* at = static_cast<const std::byte*>(data);
  while (n_bytes) {
    const ssize_t n = pwrite(fd, at, std::min<size_t>(n_bytes, 1 << 30), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path + ": cannot be written");
    at += n;
    offset += n;
    n_bytes -= static_cast<size_t>(n);
  }
}

}  // namespace

TempFile::TempFile(const std::string& folder) : folder_(folder) {
  std::string path = folder + "/scratch.XXXXXX";
  fd_ = mkstemp(path.data());
  if (fd_ < 0) fail(folder + ": cannot create a scratch file");
  unlink(path.c_str());
}

TempFile::~TempFile() {
  if (mapped_) munmap(mapped_, mapped_bytes_);
  if (fd_ >= 0) close(fd_);
}

int64_t TempFile::append(const void* data, size_t n_bytes) {
  const int64_t offset = size_.fetch_add(static_cast<int64_t>(n_bytes), std::memory_order_relaxed);
  write_all(fd_, offset, data, n_bytes, folder_ + ": scratch file");
  return offset;
}

void TempFile::read(int64_t offset, void* data, size_t n_bytes) const {
  auto* at = static_cast<std::byte*>(data);
  while (n_bytes) {
    const ssize_t n = pread(fd_, at, std::min<size_t>(n_bytes, 1 << 30), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = EIO;
      fail(folder_ + ": cannot read the scratch file");
    }
    at += n;
    offset += n;
    n_bytes -= static_cast<size_t>(n);
  }
}

const std::byte* TempFile::map() {
  if (!mapped_ && size()) {
    mapped_bytes_ = static_cast<size_t>(size());
    void* at = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, fd_, 0);
    if (at == MAP_FAILED) fail(folder_ + ": cannot map the scratch file");
    mapped_ = at;
  }
  return static_cast<const std::byte*>(mapped_);
}

OutFile::OutFile(const std::string& path) : path_(path) {
  fd_ = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(path + ": cannot be created");
}

OutFile::~OutFile() {
  if (fd_ >= 0) close(fd_);
}

void OutFile::write_at(int64_t offset, const void* data, size_t n_bytes) {
  write_all(fd_, offset, data, n_bytes, path_);
}

void OutFile::finish() {
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) fail(path_ + ": cannot be closed");
}

}  // namespace dragoman
