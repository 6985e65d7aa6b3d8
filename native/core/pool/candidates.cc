#include "core/pool/candidates.hh"

#include <algorithm>
#include <cstring>

#include "core/base/number.hh"
#include "core/base/parallel.hh"

namespace dragoman::pool {

namespace {

constexpr int64_t kSentencesPerChunk = 16;

uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9fb21c651e98df25ull;
  return h ^ (h >> 32);
}

// Hash of a row of 4- or 8-byte elements.
template <typename T>
uint64_t hash_of(uint64_t h, std::span<const T> row) {
  h = mix(h, row.size());
  for (const T& element : row) {
    uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof(T));
    h = mix(h, bits);
  }
  return h;
}

template <typename T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace

void Candidates::check() const {
  Ragged<int32_t>{rows, ids}.check("features");
  if (ids.size() != values.size()) throw std::invalid_argument("features: expected as many values as ids");
  if (sentences.empty() || sentences.front() != 0 || sentences.back() != size())
    throw std::invalid_argument("sentences must start with 0 and end with the number of candidates");
  for (size_t s = 1; s < sentences.size(); ++s)
    if (sentences[s] < sentences[s - 1]) throw std::invalid_argument("sentences must not decrease");
}

std::vector<double> model_scores(const Candidates& candidates, std::span<const double> weights, int n_threads,
                                 Control& control) {
  candidates.check();
  std::vector<double> scores(static_cast<size_t>(candidates.size()));
  parallel_chunks(candidates.size(), 4096, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t c = begin; c < end; ++c) scores[static_cast<size_t>(c)] = dot(candidates, c, weights);
  });
  return scores;
}

std::vector<int64_t> best_candidates(const Candidates& candidates, std::span<const double> weights, int n_threads,
                                     Control& control) {
  candidates.check();
  std::vector<int64_t> best(static_cast<size_t>(candidates.n_sentences()), -1);
  parallel_chunks(candidates.n_sentences(), kSentencesPerChunk, n_threads, control,
                  [&](int64_t begin, int64_t end, int) {
                    for (int64_t s = begin; s < end; ++s) {
                      double top = 0;
                      for (int64_t c = candidates.sentences[static_cast<size_t>(s)];
                           c < candidates.sentences[static_cast<size_t>(s) + 1]; ++c) {
                        const double score = dot(candidates, c, weights);
                        if (best[static_cast<size_t>(s)] < 0 || score > top) {
                          top = score;
                          best[static_cast<size_t>(s)] = c;
                        }
                      }
                    }
                  });
  return best;
}

std::vector<int64_t> distinct_candidates(const Candidates& candidates, const Sentences& tokens,
                                         std::span<const double> extra, int64_t n_extra, int n_threads,
                                         Control& control) {
  candidates.check();
  tokens.check("tokens");
  const Ragged<int32_t> ids{candidates.rows, candidates.ids};
  const Ragged<float> values{candidates.rows, candidates.values};
  if (tokens.size() != candidates.size() ||
      extra.size() != static_cast<size_t>(candidates.size()) * static_cast<size_t>(n_extra))
    throw std::invalid_argument("tokens and extra columns must have one row per candidate");
  const auto extra_of = [&](int64_t c) {
    return extra.subspan(static_cast<size_t>(c * n_extra), static_cast<size_t>(n_extra));
  };
  const auto hash = [&](int64_t c) {
    return hash_of(hash_of(hash_of(hash_of(0, tokens[c]), ids[c]), values[c]), extra_of(c));
  };
  const auto same = [&](int64_t a, int64_t b) {
    return same_bits(tokens[a], tokens[b]) && same_bits(ids[a], ids[b]) && same_bits(values[a], values[b]) &&
           same_bits(extra_of(a), extra_of(b));
  };
  std::vector<uint8_t> keep(static_cast<size_t>(candidates.size()), 0);
  parallel_chunks(candidates.n_sentences(), kSentencesPerChunk, n_threads, control,
                  [&](int64_t first, int64_t last, int) {
                    std::vector<std::pair<uint64_t, int64_t>> slots;
                    for (int64_t s = first; s < last; ++s) {
                      const int64_t begin = candidates.sentences[static_cast<size_t>(s)];
                      const int64_t end = candidates.sentences[static_cast<size_t>(s) + 1];
                      size_t n_slots = 16;
                      while (n_slots < 2 * static_cast<size_t>(end - begin)) n_slots *= 2;
                      slots.assign(n_slots, {0, -1});
                      for (int64_t c = begin; c < end; ++c) {
                        const uint64_t h = hash(c);
                        size_t slot = static_cast<size_t>(h) & (n_slots - 1);
                        while (slots[slot].second >= 0 && !(slots[slot].first == h && same(slots[slot].second, c)))
                          slot = (slot + 1) & (n_slots - 1);
                        if (slots[slot].second >= 0) continue;
                        slots[slot] = {h, c};
                        keep[static_cast<size_t>(c)] = 1;
                      }
                    }
                  });
  std::vector<int64_t> kept;
  for (size_t c = 0; c < keep.size(); ++c)
    if (keep[c]) kept.push_back(static_cast<int64_t>(c));
  return kept;
}

SparseRows project(const Candidates& candidates, const Projection& projection, Control& control) {
  candidates.check();
  projection.targets.check("targets");
  const auto n_features = static_cast<uint32_t>(projection.drop.size());
  if (projection.targets.size() != static_cast<int64_t>(n_features) ||
      projection.coefficients.size() != projection.targets.values.size())
    throw std::invalid_argument("a projection needs one row per feature and one coefficient per target");
  SparseRows result;
  std::vector<std::pair<int32_t, double>> row;
  for (int64_t c = 0; c < candidates.size(); ++c) {
    if (c % 65536 == 0) control.check();
    row.clear();
    for (auto i = static_cast<size_t>(candidates.rows[static_cast<size_t>(c)]);
         i < static_cast<size_t>(candidates.rows[static_cast<size_t>(c) + 1]); ++i) {
      const int32_t id = candidates.ids[i];
      if (static_cast<uint32_t>(id) >= n_features) throw InputError("a candidate has a feature id beyond the index");
      const auto value = static_cast<double>(candidates.values[i]);
      const auto targets = projection.targets[id];
      const size_t at = static_cast<size_t>(projection.targets.offsets[static_cast<size_t>(id)]);
      for (size_t t = 0; t < targets.size(); ++t) row.emplace_back(targets[t], projection.coefficients[at + t] * value);
      if (!projection.drop[static_cast<size_t>(id)]) row.emplace_back(id, value);
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < row.size();) {
      const int32_t id = row[i].first;
      double sum = 0;
      for (; i < row.size() && row[i].first == id; ++i) sum += row[i].second;
      result.add(id, to_feature_value(sum, 0));
    }
    result.end_row();
  }
  return result;
}

}  // namespace dragoman::pool
