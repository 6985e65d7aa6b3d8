#include "core/lm/model.hh"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/base/checksum.hh"
#include "core/base/errors.hh"

namespace dragoman::lm {

static_assert(std::endian::native == std::endian::little, "the binary format is little-endian");

namespace {

constexpr size_t kAlign = Checksum::kAlign;
constexpr char kPadding[kAlign] = {};

size_t padded(size_t n_bytes) { return (n_bytes + kAlign - 1) / kAlign * kAlign; }

template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

uint64_t header_checksum(const Header& header) {
  Checksum sum;
  sum.add(bytes_of(header).substr(0, offsetof(Header, header_checksum)));
  return sum.value();
}

[[noreturn]] void damaged(const std::string& why) {
  throw InputError("the binary language model is damaged: " + why + "; build it again from its text or ARPA file");
}

// Sizes of the sections; section_bytes throws unless they add up to the file size.
struct SectionBytes {
  size_t offsets, blob, unigrams, nodes, table;
};

SectionBytes section_bytes(const Header& h, uint64_t file_bytes) {
  // Each count is bounded by the file before anything is multiplied.
  const uint64_t limit = file_bytes;
  if (h.n_words >= limit || h.vocab_bytes > limit || h.n_nodes > limit || h.n_slots > limit)
    damaged("its header does not match its size of " + std::to_string(file_bytes) + " bytes (truncated?)");
  const SectionBytes s{(h.n_words + 1) * sizeof(int64_t), h.vocab_bytes, h.n_words * sizeof(Unigram),
                       h.n_nodes * sizeof(Node), h.n_slots * sizeof(Entry)};
  const uint64_t expected = padded(sizeof(Header)) + padded(s.offsets) + padded(s.blob) + padded(s.unigrams) +
                            padded(s.nodes) + padded(s.table);
  if (expected != file_bytes)
    damaged("it has " + std::to_string(file_bytes) + " bytes, expected " + std::to_string(expected));
  return s;
}

void check_header(const Header& h) {
  if (std::memcmp(h.magic, kMagic, sizeof(kMagic)) != 0) throw InputError("is not a Dragoman binary language model");
  if (h.version != kVersion)
    throw InputError("has version " + std::to_string(h.version) + " of the binary format; this program reads " +
                     std::to_string(kVersion) + ": build it again");
  if (header_checksum(h) != h.header_checksum) damaged("its header does not match the checksum");
  if (h.order < 1 || h.order > kMaxOrder) damaged("it has order " + std::to_string(h.order));
  constexpr uint64_t kMaxId = std::numeric_limits<int32_t>::max();
  if (h.n_words <= kEos || h.n_words > kMaxId) damaged("it has no vocabulary");
  if (h.n_nodes < 1 || h.n_nodes > std::numeric_limits<uint32_t>::max()) damaged("it has no contexts");
  if (h.n_homes < 1 || h.n_slots % kBucket != 0 || h.n_homes >= h.n_slots / kBucket) damaged("it has no table");
  if (h.level_begin[0] != 0 || h.level_begin[1] != 1) damaged("its contexts have no order");
  for (size_t n = 1; n <= kMaxOrder; ++n)
    if (h.level_begin[n] < h.level_begin[n - 1] || (n >= h.order && h.level_begin[n] != h.n_nodes))
      damaged("its contexts have no order");
}

names::WordTable read_words(const int64_t* offsets, std::string_view blob, uint64_t n_words) {
  std::vector<int64_t> copy(offsets, offsets + n_words + 1);
  if (copy.front() != 0 || copy.back() != static_cast<int64_t>(blob.size()) ||
      !std::is_sorted(copy.begin(), copy.end()))
    damaged("its words do not match their offsets");
  if (names::valid_utf8_prefix(blob) != blob.size()) damaged("its words are not UTF-8");
  names::WordTable words;
  try {
    words = names::WordTable(blob, copy);
  } catch (const InputError& error) {
    damaged(error.what());
  }
  if (words.word(kUnk) != "<unk>" || words.word(kBos) != "<s>" || words.word(kEos) != "</s>")
    damaged("its vocabulary does not begin with <unk>, <s>, </s>");
  return words;
}

}  // namespace

struct Model::Mapping {
  const char* data = nullptr;
  size_t n_bytes = 0;

  explicit Mapping(int descriptor) {
    struct stat status{};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
      throw InputError("a binary language model must be a regular file, because it is memory-mapped");
    n_bytes = static_cast<size_t>(status.st_size);
    if (n_bytes < padded(sizeof(Header))) damaged("its header is truncated");
    void* mapped = mmap(nullptr, n_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) throw InputError(std::string("cannot be mapped: ") + std::strerror(errno));
    data = static_cast<const char*>(mapped);
  }
  ~Mapping() { munmap(const_cast<char*>(data), n_bytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

Model::~Model() = default;

Model::Model(Parts&& parts) : parts_(std::move(parts)) {
  order_ = parts_.order;
  n_words_ = static_cast<uint32_t>(parts_.unigrams.size());
  n_nodes_ = static_cast<uint32_t>(parts_.nodes.size());
  std::copy(parts_.level_begin.begin(), parts_.level_begin.end(), level_begin_);
  unigrams_ = parts_.unigrams.data();
  nodes_ = parts_.nodes.data();
  table_ = parts_.table.data();
  n_homes_ = parts_.n_homes;
  n_slots_ = parts_.table.size();
  n_ngrams_ = parts_.n_ngrams;
  words_ = names::WordTable(parts_.vocab_blob, parts_.vocab_offsets);

  std::memcpy(header_.magic, kMagic, sizeof(kMagic));
  header_.version = kVersion;
  header_.order = static_cast<uint32_t>(order_);
  header_.n_words = n_words_;
  header_.vocab_bytes = parts_.vocab_blob.size();
  header_.n_nodes = n_nodes_;
  header_.n_homes = n_homes_;
  header_.n_slots = n_slots_;
  for (size_t n = 0; n < n_ngrams_.size(); ++n) header_.n_ngrams[n] = static_cast<uint64_t>(n_ngrams_[n]);
  std::copy(parts_.level_begin.begin(), parts_.level_begin.end(), header_.level_begin);
  Checksum sum;
  for (const auto piece : sections()) sum.add(piece);
  header_.content_checksum = sum.value();
  header_.header_checksum = header_checksum(header_);
}

std::vector<std::string_view> Model::sections() const {
  return {bytes_of(parts_.vocab_offsets),
          parts_.vocab_blob,
          bytes_of(parts_.unigrams),
          bytes_of(parts_.nodes),
          {reinterpret_cast<const char*>(parts_.table.data()), parts_.table.size() * sizeof(Entry)}};
}

Model::Model(int descriptor, bool verify) : mapping_(std::make_unique<Mapping>(descriptor)) {
  std::memcpy(&header_, mapping_->data, sizeof(Header));
  check_header(header_);
  const SectionBytes bytes = section_bytes(header_, mapping_->n_bytes);
  const char* at = mapping_->data + padded(sizeof(Header));
  if (verify) {
    Checksum sum;
    sum.add({at, mapping_->n_bytes - padded(sizeof(Header))});
    if (sum.value() != header_.content_checksum) damaged("its content does not match the checksum");
  }
  const auto take = [&at](size_t n_bytes) { return std::exchange(at, at + padded(n_bytes)); };
  const auto* offsets = reinterpret_cast<const int64_t*>(take(bytes.offsets));
  words_ = read_words(offsets, {take(bytes.blob), bytes.blob}, header_.n_words);
  unigrams_ = reinterpret_cast<const Unigram*>(take(bytes.unigrams));
  nodes_ = reinterpret_cast<const Node*>(take(bytes.nodes));
  table_ = reinterpret_cast<const Entry*>(take(bytes.table));
  order_ = static_cast<int>(header_.order);
  n_words_ = static_cast<uint32_t>(header_.n_words);
  n_nodes_ = static_cast<uint32_t>(header_.n_nodes);
  n_homes_ = header_.n_homes;
  n_slots_ = header_.n_slots;
  if (table_[n_slots_ - 1].key != kEmptyKey) damaged("its table has no end");
  std::copy(std::begin(header_.level_begin), std::end(header_.level_begin), level_begin_);
  for (int n = 0; n < order_; ++n) n_ngrams_.push_back(static_cast<int64_t>(header_.n_ngrams[n]));
}

std::vector<std::string_view> Model::file_pieces() const {
  if (mapping_) return {{mapping_->data, mapping_->n_bytes}};
  std::vector<std::string_view> pieces;
  const auto push = [&pieces](std::string_view bytes) {
    pieces.push_back(bytes);
    pieces.push_back({kPadding, padded(bytes.size()) - bytes.size()});
  };
  push(bytes_of(header_));
  for (const auto section : sections()) push(section);
  return pieces;
}

}  // namespace dragoman::lm
