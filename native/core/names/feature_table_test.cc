// Tables of features: merging, interning, and arrays that do not fit together.
#include "core/names/feature_table.hh"

#include <limits>
#include <map>
#include <random>
#include <string>

#include "core/base/errors.hh"
#include "core/names/feature_index.hh"
#include "test/test.hh"

using namespace dragoman;
using names::FeatureIndex;
using names::FeatureTable;

namespace {

FeatureTable table_of(FeatureIndex& index, const std::vector<std::string>& features) {
  std::vector<int32_t> ids;
  for (const std::string& name : features) ids.push_back(index.intern(name));
  return names::sort_features(index, ids).table;
}

}  // namespace

TEST(tables_merge_and_are_interned) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    FeatureIndex index;
    std::vector<std::string> sides[2];
    for (int i = 0; i < 40; ++i)
      if (const unsigned where = random() % 4; where < 3)
        for (unsigned side = 0; side < 2; ++side)
          if (where == 2 || where == side) sides[side].push_back("f" + std::to_string(i));
    const FeatureTable left = table_of(index, sides[0]), right = table_of(index, sides[1]);
    const names::Merged merged = names::merge_features(left, right);
    CHECK(merged.table.size() == index.size());
    for (int64_t i = 0; i < left.size(); ++i) CHECK(merged.table.name(merged.left[at(i)]) == left.name(i));
    for (int64_t i = 0; i < right.size(); ++i) CHECK(merged.table.name(merged.right[at(i)]) == right.name(i));
    // Names of an empty index are the table's own; later ones are copied.
    FeatureIndex other;
    const std::vector<int32_t> ids = other.extend(left, {});
    const std::vector<int32_t> all = other.extend(merged.table, {});
    CHECK(other.size() == index.size());
    for (int64_t i = 0; i < left.size(); ++i) CHECK(other.name(ids[at(i)]) == left.name(i));
    CHECK(other.find_all(merged.table) == all);
  }
}

TEST(places_are_a_permutation) {
  FeatureIndex index, turned;
  const FeatureTable table = table_of(index, {"a", "b", "c"});
  CHECK((turned.extend(table, std::vector<int64_t>{2, 0, 1}) == std::vector<int32_t>{2, 0, 1}));
  for (const std::vector<int64_t>& places : {std::vector<int64_t>{0, 0, 1}, {0, 1}, {0, 1, 3}, {-1, 0, 1}}) {
    FeatureIndex empty;
    CHECK(test::throws<InputError>([&] { empty.extend(table, places); }));
    CHECK(test::throws<InputError>([&] { index.extend(table, places); }));
    CHECK(empty.size() == 0);
  }
}

TEST(random_arrays_are_no_table) {
  std::mt19937 random(4);
  int n_good = 0;
  for (int round = 0; round < 20000; ++round) {
    FeatureIndex index;
    const FeatureTable good = table_of(index, {"a", "naïve", "c:d", "eee"});
    std::vector<uint64_t> keys(good.keys().begin(), good.keys().end());
    std::vector<int64_t> offsets(good.offsets().begin(), good.offsets().end());
    std::vector<char> blob(good.blob().begin(), good.blob().end());
    switch (random() % 4) {
      case 0:
        blob[random() % blob.size()] ^= static_cast<char>(1 << random() % 8);
        break;
      case 1:
        offsets[random() % offsets.size()] = static_cast<int64_t>(random() % 30) - 10;
        if (random() % 4 == 0) offsets[2] = std::numeric_limits<int64_t>::min();
        break;
      case 2:
        offsets.resize(random() % 7);
        break;
      case 3:
        keys[random() % keys.size()] ^= random() % 3;
    }
    try {
      const FeatureTable table(keys, offsets, blob, nullptr);
      for (int64_t i = 0; i < table.size(); ++i) CHECK(table.name(i) == good.name(i));
      ++n_good;
    } catch (const InputError&) {
    }
  }
  CHECK(n_good > 100 && n_good < 10000);
}
