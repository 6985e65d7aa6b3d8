// Sorting corners of envelopes by where they are along a line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace dragoman::optim {

// The bits of a number as an integer of the same order.
inline uint64_t ordered_bits(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits ^ (bits >> 63 ? ~uint64_t{0} : uint64_t{1} << 63);
}

// Ascending by `at`; corners at the same place stay as they are. A radix sort of the 33 high bits, then of those that
// agree in them by comparison.
template <typename Corner>
void sort_corners(std::vector<Corner>& corners, std::vector<Corner>& scratch) {
  constexpr int kBits = 11, kPasses = 3, kShift = 64 - kBits * kPasses;
  constexpr size_t kBuckets = size_t{1} << kBits;
  const auto is_before = [](const Corner& a, const Corner& b) { return a.at < b.at; };
  if (corners.size() < 256) {
    std::stable_sort(corners.begin(), corners.end(), is_before);
    return;
  }
  scratch.resize(corners.size());
  const auto digit = [](const Corner& corner, int pass) {
    return ordered_bits(corner.at) >> (kShift + pass * kBits) & (kBuckets - 1);
  };
  uint32_t counts[kPasses][kBuckets] = {};
  for (const Corner& corner : corners)
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass][digit(corner, pass)];
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t position = 0;
    for (uint32_t& count : counts[pass]) position += std::exchange(count, position);
    for (const Corner& corner : corners) scratch[counts[pass][digit(corner, pass)]++] = corner;
    corners.swap(scratch);
  }
  for (auto begin = corners.begin(); begin != corners.end();) {
    const uint64_t high = ordered_bits(begin->at) >> kShift;
    auto end = begin + 1;
    while (end != corners.end() && ordered_bits(end->at) >> kShift == high) ++end;
    if (!std::is_sorted(begin, end, is_before)) std::stable_sort(begin, end, is_before);
    begin = end;
  }
}

}  // namespace dragoman::optim
