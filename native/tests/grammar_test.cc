#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/errors.hh"
#include "core/moses_table.hh"
#include "core/phrase_extract.hh"
#include "test.hh"

namespace {

using namespace dragoman;

struct TempFolder {
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "grammar.XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
  return files;
}

struct RandomBitext {
  explicit RandomBitext(unsigned seed, int n_words) {
    std::mt19937 random(seed);
    for (int i = 0; i < 60; ++i) {
      const int n = 1 + static_cast<int>(random() % 12), m = 1 + static_cast<int>(random() % 12);
      for (int k = 0; k < n; ++k) source.push_back(static_cast<int32_t>(random() % n_words));
      for (int k = 0; k < m; ++k) target.push_back(static_cast<int32_t>(random() % n_words));
      for (int s = 0; s < n; ++s)
        for (int t = 0; t < m; ++t)
          if (random() % (n + m) < 2) links.push_back({s, t});
      source_offsets.push_back(static_cast<int64_t>(source.size()));
      target_offsets.push_back(static_cast<int64_t>(target.size()));
      link_offsets.push_back(static_cast<int64_t>(links.size()));
      folds.push_back(static_cast<uint8_t>(random() % 3));
    }
  }
  std::map<std::string, std::string> extract(uint64_t hash_mask, int n_threads, int64_t max_memory_bytes,
                                             int max_length) const {
    TempFolder folder;
    const ParallelText text{{source_offsets, source}, {target_offsets, target}, folds};
    const ExtractOptions options{max_length, 100, 50, 50, {folder.path, max_memory_bytes, n_threads, hash_mask}};
    Control control;
    const auto stats = extract_phrases(text, {link_offsets, links}, options, control);
    CHECK(stats.build.n_pairs > 0 && stats.build.n_events >= stats.build.n_pairs);
    CHECK((stats.build.spilled_bytes > 0) == (max_memory_bytes < 1000));
    return contents(folder.path);
  }

  std::vector<int32_t> source, target;
  std::vector<int64_t> source_offsets{0}, target_offsets{0}, link_offsets{0};
  std::vector<Link> links;
  std::vector<uint8_t> folds;
};

}  // namespace

TEST(collisions_threads_and_spilling_change_nothing) {
  for (const int max_length : {3, 7, 12})
    for (const unsigned seed : {1U, 2U}) {
      const RandomBitext bitext(seed, 3 + 20 * static_cast<int>(seed));
      const auto expected = bitext.extract(~uint64_t{0}, 1, 1 << 30, max_length);
      CHECK(expected.size() == 25);
      CHECK(bitext.extract(0, 2, 1 << 30, max_length) == expected);
      CHECK(bitext.extract(uint64_t{3} << 60, 3, 1, max_length) == expected);
      CHECK(bitext.extract(0x1f, 1, 1 << 30, max_length) == expected);
    }
}

TEST(wild_moses_tables_are_refused_or_read) {
  std::mt19937 random(3);
  const std::string good = "a b ||| c ||| 0.5 0.25 1 0.125 ||| 0-0 1-0 ||| 2 3 1 ||| |||\n";
  int n_read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good + good;
    for (unsigned k = random() % 4; k > 0; --k) text[random() % text.size()] = "ab|0.1- \n\t\\[<\xc3"[random() % 14];
    MosesTable table;
    WordTable source, target;
    try {
      table.add_phrases(text, 1, source, target);
      CHECK(table.size() >= 1);
      ++n_read;
    } catch (const InputError& error) {
      CHECK(error.line >= 1 && error.line <= 6);
    }
    try {
      table.add_reordering(text, 1, source, target);
    } catch (const InputError& error) {
      CHECK(error.line >= 1 && error.line <= 6);
    }
  }
  CHECK(n_read > 1000);
}
