// A checksum of bytes at the speed of memory. It tells damage, not intent.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dragoman {

inline constexpr uint64_t kMixA = 0x9e3779b97f4a7c15ull, kMixB = 0xd1342543de82ef95ull;

// A bijection.
constexpr uint64_t mix_raw(uint64_t key) {
  key *= kMixA;
  key ^= key >> 32;
  return key * kMixB;
}

// Four independent multiply-rotate lanes over 32-byte steps. Every step is invertible, so changing the bytes of one
// step always changes the checksum.
class Checksum {
 public:
  static constexpr size_t kAlign = 64;

  // As if the bytes were zero-padded to a multiple of kAlign.
  void add(std::string_view bytes) {
    const size_t whole = bytes.size() / kAlign * kAlign;
    for (size_t i = 0; i < whole; i += 32) step(bytes.data() + i);
    if (whole < bytes.size()) {
      char tail[kAlign] = {};
      std::memcpy(tail, bytes.data() + whole, bytes.size() - whole);
      step(tail);
      step(tail + 32);
    }
  }
  uint64_t value() const {
    uint64_t sum = 0;
    for (const uint64_t lane : lanes_) sum = mix_raw(sum ^ lane);
    return sum;
  }

 private:
  void step(const char* data) {
    uint64_t values[4];
    std::memcpy(values, data, sizeof(values));
    for (size_t lane = 0; lane < 4; ++lane) lanes_[lane] = std::rotl(lanes_[lane] ^ values[lane], 29) * kMixA;
  }

  uint64_t lanes_[4] = {1, 2, 3, 4};
};

}  // namespace dragoman
