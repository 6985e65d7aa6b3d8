#include "core/optim/corner_sort.hh"

#include "core/base/random.hh"
#include "test/test.hh"

using namespace dragoman;

namespace {

struct Corner {
  double at;
  int number;
  bool operator==(const Corner&) const = default;
};

bool is_sorted_as_expected(std::vector<Corner> corners) {
  std::vector<Corner> expected = corners, scratch;
  std::stable_sort(expected.begin(), expected.end(), [](const Corner& a, const Corner& b) { return a.at < b.at; });
  optim::sort_corners(corners, scratch);
  return corners == expected;
}

}  // namespace

TEST(corners_are_sorted_whatever_their_bits) {
  Random random({1});
  for (const size_t n : {0u, 1u, 255u, 256u, 5000u}) {
    std::vector<Corner> wide, near;
    for (size_t i = 0; i < n; ++i) {
      const double at = random.normal() * (random.below(2) ? 1e-8 : 1e8);
      wide.push_back({random.below(20) ? at : 0.0, static_cast<int>(i)});
      near.push_back({1 + random.uniform() * 1e-7 * random.below(3), static_cast<int>(i)});
    }
    CHECK(is_sorted_as_expected(wide) && is_sorted_as_expected(near));
  }
}

// Insertion of one after the other would take an hour.
TEST(corners_that_hardly_differ_are_sorted_in_a_moment) {
  std::vector<Corner> corners;
  for (int i = 0; i < 3'000'000; ++i) corners.push_back({1 + 1e-15 * (3'000'000 - i), i});
  CHECK(is_sorted_as_expected(corners));
}
