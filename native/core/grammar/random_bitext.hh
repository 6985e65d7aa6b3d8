// A small word-aligned text made up from a seed, and folders to extract it into.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/align/links.hh"
#include "core/grammar/build.hh"

namespace dragoman::grammar {

struct TempFolder {
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "grammar.XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

inline std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
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
  ParallelText text() const { return {{source_offsets, source}, {target_offsets, target}, folds}; }
  align::Links aligned() const { return {link_offsets, links}; }

  std::vector<int32_t> source, target;
  std::vector<int64_t> source_offsets{0}, target_offsets{0}, link_offsets{0};
  std::vector<align::Link> links;
  std::vector<uint8_t> folds;
};

}  // namespace dragoman::grammar
