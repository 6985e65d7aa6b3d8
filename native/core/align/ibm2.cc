#include "core/align/ibm2.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/align/diagonal.hh"
#include "core/align/dirichlet.hh"
#include "core/base/parallel.hh"

namespace dragoman::align {

namespace {

constexpr int64_t kSentencesPerChunk = 256;
constexpr double kUnseenProb = 1e-9;  // of a word pair that never co-occurred in training

bool is_alignable(size_t n_source, size_t n_target, int32_t max_length) {
  const auto limit = static_cast<size_t>(max_length);
  return n_source > 0 && n_target > 0 && n_source <= limit && n_target <= limit;
}

int32_t n_words(const Sentences& text) {
  int32_t largest = -1;
  for (const int32_t id : text.values) {
    if (id < 0) throw std::invalid_argument("word ids must not be negative");
    largest = std::max(largest, id);
  }
  if (largest == std::numeric_limits<int32_t>::max()) throw std::invalid_argument("word ids must be below 2^31 - 1");
  return largest + 1;
}

void check_sides(const Sentences& source, const Sentences& target) {
  if (source.size() != target.size())
    throw std::invalid_argument("source and target must have the same number of sentences");
}

// The most probable source position of every target word; -1 for the null word (also on ties) and in skipped pairs.
// prob(sentence, i, j) and null(target word) are the translation probabilities.
template <typename Prob, typename Null>
std::vector<int32_t> best_assignment(const Sentences& source, const Sentences& target, const Diagonal& diagonal,
                                     const Ibm2Options& options, Prob&& prob, Null&& null, Control& control) {
  std::vector<int32_t> assignment(target.values.size(), -1);
  parallel_chunks(source.size(), kSentencesPerChunk, options.n_threads, control, [&](int64_t begin, int64_t end, int) {
    std::vector<double> d, z, best;
    for (int64_t s = begin; s < end; ++s) {
      const size_t n = source[s].size(), m = target[s].size();
      if (!is_alignable(n, m, options.max_length)) continue;
      int32_t* out = assignment.data() + target.offsets[static_cast<size_t>(s)];
      d.resize(m);
      z.assign(m, 0);
      best.assign(m, -1);
      for (size_t i = 0; i < n; ++i) {
        diagonal.row(static_cast<int32_t>(i), static_cast<int32_t>(n), d);
        for (size_t j = 0; j < m; ++j) {
          z[j] += d[j];
          const double p = prob(s, i, j) * d[j];
          if (p > best[j]) {
            best[j] = p;
            out[j] = static_cast<int32_t>(i);
          }
        }
      }
      for (size_t j = 0; j < m; ++j)
        if (!((1 - options.null_prob) * best[j] / z[j] > options.null_prob * null(target[s][j]))) out[j] = -1;
    }
  });
  return assignment;
}

struct Occurrence {
  int32_t sentence, position;
};

class Trainer {
 public:
  Trainer(const Sentences& source, const Sentences& target, const Ibm2Options& options, Control& control)
      : source_(source), target_(target), options_(options), control_(control), tension_(options.tension) {
    check_sides(source, target);
    if (source.size() > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("more than 2^31 sentences");
    n_source_words_ = n_words(source);
    n_target_words_ = n_words(target);
    place_cells();
    list_occurrences();
    index_pairs();
    weights_.resize(target.values.size());
    null_posteriors_.resize(target.values.size());
  }

  Ibm2Step iterate() {
    Ibm2Step step;
    step.tension = tension_;
    const Diagonal diagonal(tension_, longest_);
    step.log_likelihood = sweep_sentences(diagonal);
    const double observed = sweep_words(diagonal);
    step.null_mass = sum_masses();
    if (options_.fit_tension && !shapes_.empty()) tension_ = fit_tension(shapes_, observed, tension_);
    return step;
  }

  std::vector<int32_t> assign() const {
    const auto prob = [&](int64_t s, size_t i, size_t j) {
      const auto row = row_offsets_[static_cast<size_t>(source_[s][i])];
      const size_t cell = static_cast<size_t>(cell_offsets_[static_cast<size_t>(s)]) + i * target_[s].size() + j;
      return probs_[static_cast<size_t>(row + cells_[cell])];
    };
    const auto null = [&](int32_t f) { return null_probs_[static_cast<size_t>(f)]; };
    return best_assignment(source_, target_, Diagonal(tension_, longest_), options_, prob, null, control_);
  }

  Ibm2Model release_model() {
    parallel_words([&](int64_t word, int) {
      const auto begin = static_cast<size_t>(row_offsets_[static_cast<size_t>(word)]);
      const auto& row = row_targets_[static_cast<size_t>(word)];
      std::vector<std::pair<int32_t, float>> entries(row.size());
      for (size_t k = 0; k < row.size(); ++k) entries[k] = {row[k], probs_[begin + k]};
      std::sort(entries.begin(), entries.end());
      for (size_t k = 0; k < row.size(); ++k) {
        row_targets_[static_cast<size_t>(word)][k] = entries[k].first;
        probs_[begin + k] = entries[k].second;
      }
    });
    Ibm2Model model;
    model.targets.reserve(probs_.size());
    for (const auto& row : row_targets_) model.targets.insert(model.targets.end(), row.begin(), row.end());
    model.row_offsets = std::move(row_offsets_);
    model.probs = std::move(probs_);
    model.null_probs = std::move(null_probs_);
    model.tension = tension_;
    model.null_prob = options_.null_prob;
    model.max_length = options_.max_length;
    return model;
  }

 private:
  bool alignable(int64_t s) const { return shape_of_[static_cast<size_t>(s)] >= 0; }
  size_t target_begin(int64_t s) const { return static_cast<size_t>(target_.offsets[static_cast<size_t>(s)]); }

  // A cell is a (source position, target position) of a sentence pair; a sentence's cells are source-major.
  void place_cells() {
    std::map<std::pair<size_t, size_t>, int32_t> shape_ids;
    cell_offsets_.push_back(0);
    for (int64_t s = 0; s < source_.size(); ++s) {
      const size_t n = source_[s].size(), m = target_[s].size();
      const bool good = is_alignable(n, m, options_.max_length);
      cell_offsets_.push_back(cell_offsets_.back() + (good ? static_cast<int64_t>(n * m) : 0));
      if (!good) {
        shape_of_.push_back(-1);
        continue;
      }
      longest_ = std::max(longest_, static_cast<int32_t>(std::max(n, m)));
      const auto [found, is_new] = shape_ids.emplace(std::pair{n, m}, static_cast<int32_t>(shapes_.size()));
      if (is_new) shapes_.push_back({static_cast<int32_t>(n), static_cast<int32_t>(m), std::vector<double>(m, 0.0)});
      shape_of_.push_back(found->second);
    }
  }

  void list_occurrences() {
    occurrence_offsets_.assign(static_cast<size_t>(n_source_words_) + 1, 0);
    for (int64_t s = 0; s < source_.size(); ++s)
      if (alignable(s))
        for (const int32_t word : source_[s]) ++occurrence_offsets_[static_cast<size_t>(word) + 1];
    std::partial_sum(occurrence_offsets_.begin(), occurrence_offsets_.end(), occurrence_offsets_.begin());
    occurrences_.resize(static_cast<size_t>(occurrence_offsets_.back()));
    std::vector<int64_t> next(occurrence_offsets_.begin(), occurrence_offsets_.end() - 1);
    for (int64_t s = 0; s < source_.size(); ++s) {
      if (!alignable(s)) continue;
      const auto words = source_[s];
      for (size_t i = 0; i < words.size(); ++i)
        occurrences_[static_cast<size_t>(next[static_cast<size_t>(words[i])]++)] = {static_cast<int32_t>(s),
                                                                                    static_cast<int32_t>(i)};
    }
    by_frequency_.resize(static_cast<size_t>(n_source_words_));
    std::iota(by_frequency_.begin(), by_frequency_.end(), 0);
    std::stable_sort(by_frequency_.begin(), by_frequency_.end(),
                     [&](int32_t a, int32_t b) { return occurrences_of(a).size() > occurrences_of(b).size(); });
  }

  // Stores for every cell the index of its target word in the source word's row of the translation table, so that no
  // iteration needs lookups.
  void index_pairs() {
    cells_.resize(static_cast<size_t>(cell_offsets_.back()));
    row_targets_.resize(static_cast<size_t>(n_source_words_));
    struct Seen {
      int32_t word = -1, slot = 0;
    };
    std::vector<std::vector<Seen>> seen_by_worker(static_cast<size_t>(std::max(1, options_.n_threads)));
    parallel_words([&](int64_t word, int worker) {
      auto& seen = seen_by_worker[static_cast<size_t>(worker)];
      seen.resize(static_cast<size_t>(n_target_words_));
      auto& row = row_targets_[static_cast<size_t>(word)];
      for (const auto [sentence, position] : occurrences_of(word)) {
        const auto f = target_[sentence];
        int32_t* cells = cells_.data() + cell_offsets_[static_cast<size_t>(sentence)] +
                         static_cast<int64_t>(position) * static_cast<int64_t>(f.size());
        for (size_t j = 0; j < f.size(); ++j) {
          auto& entry = seen[static_cast<size_t>(f[j])];
          if (entry.word != static_cast<int32_t>(word)) {
            entry = {static_cast<int32_t>(word), static_cast<int32_t>(row.size())};
            row.push_back(f[j]);
          }
          cells[j] = entry.slot;
        }
      }
      row.shrink_to_fit();
    });
    row_offsets_.assign(1, 0);
    for (const auto& row : row_targets_) row_offsets_.push_back(row_offsets_.back() + static_cast<int64_t>(row.size()));
    const float uniform = 1.0f / static_cast<float>(std::max(1, n_target_words_));
    probs_.assign(static_cast<size_t>(row_offsets_.back()), uniform);
    null_probs_.assign(static_cast<size_t>(n_target_words_), uniform);
  }

  std::span<const Occurrence> occurrences_of(int64_t word) const {
    const auto begin = static_cast<size_t>(occurrence_offsets_[static_cast<size_t>(word)]);
    const auto end = static_cast<size_t>(occurrence_offsets_[static_cast<size_t>(word) + 1]);
    return std::span(occurrences_).subspan(begin, end - begin);
  }

  // Calls body(word, worker), frequent words first for load balance. Not counted as progress.
  template <typename Body>
  void parallel_words(Body&& body) {
    Control uncounted;
    parallel_chunks(n_source_words_, 1, options_.n_threads, uncounted, [&](int64_t begin, int64_t, int worker) {
      control_.check();
      body(by_frequency_[static_cast<size_t>(begin)], worker);
    });
  }

  // E-step, first half: the probability of every target word. weights_ then turns t * diagonal weight into a posterior.
  double sweep_sentences(const Diagonal& diagonal) {
    const int64_t n_chunks = (source_.size() + kSentencesPerChunk - 1) / kSentencesPerChunk;
    std::vector<double> log_likelihoods(static_cast<size_t>(n_chunks), 0.0);
    const auto sweep = [&](int64_t begin, int64_t end, int) {
      double& log_likelihood = log_likelihoods[static_cast<size_t>(begin / kSentencesPerChunk)];
      std::vector<double> d, z, sum;
      for (int64_t s = begin; s < end; ++s)
        if (alignable(s)) log_likelihood += sweep_sentence(s, diagonal, d, z, sum);
    };
    parallel_chunks(source_.size(), kSentencesPerChunk, options_.n_threads, control_, sweep);
    return std::accumulate(log_likelihoods.begin(), log_likelihoods.end(), 0.0);
  }

  double sweep_sentence(int64_t s, const Diagonal& diagonal, std::vector<double>& d, std::vector<double>& z,
                        std::vector<double>& sum) {
    const auto e = source_[s], f = target_[s];
    const size_t m = f.size();
    d.resize(m);
    z.assign(m, 0);
    sum.assign(m, 0);
    const int32_t* cells = cells_.data() + cell_offsets_[static_cast<size_t>(s)];
    for (size_t i = 0; i < e.size(); ++i, cells += m) {
      const float* t = probs_.data() + row_offsets_[static_cast<size_t>(e[i])];
      diagonal.row(static_cast<int32_t>(i), static_cast<int32_t>(e.size()), d);
      for (size_t j = 0; j < m; ++j) {
        sum[j] += t[cells[j]] * d[j];
        z[j] += d[j];
      }
    }
    const double p0 = options_.null_prob;
    double log_likelihood = 0;
    for (size_t j = 0; j < m; ++j) {
      const double null = p0 * null_probs_[static_cast<size_t>(f[j])];
      const double total = null + (1 - p0) * sum[j] / z[j];
      weights_[target_begin(s) + j] = (1 - p0) / (z[j] * total);
      null_posteriors_[target_begin(s) + j] = null / total;
      log_likelihood += std::log(total);
    }
    return log_likelihood;
  }

  // E-step, second half, and M-step of the translation table: a word's row is counted and normalised while it is in
  // cache. Returns the expected sum of the features -|i / n - j / m|.
  double sweep_words(const Diagonal& diagonal) {
    std::vector<double> features(static_cast<size_t>(n_source_words_), 0.0);
    struct Scratch {
      std::vector<double> counts, d;
    };
    std::vector<Scratch> scratch_by_worker(static_cast<size_t>(std::max(1, options_.n_threads)));
    parallel_words([&](int64_t word, int worker) {
      auto& [counts, d] = scratch_by_worker[static_cast<size_t>(worker)];
      const auto begin = static_cast<size_t>(row_offsets_[static_cast<size_t>(word)]);
      const size_t size = static_cast<size_t>(row_offsets_[static_cast<size_t>(word) + 1]) - begin;
      const std::span<float> t(probs_.data() + begin, size);
      counts.assign(size, 0);
      double feature = 0;
      for (const auto [sentence, i] : occurrences_of(word)) {
        const size_t n = source_[sentence].size(), m = target_[sentence].size();
        const int32_t* cells = cells_.data() + cell_offsets_[static_cast<size_t>(sentence)] +
                               static_cast<int64_t>(i) * static_cast<int64_t>(m);
        const double* weights = weights_.data() + target_begin(sentence);
        const double place = static_cast<double>(i + 1) / static_cast<double>(n), step = 1.0 / static_cast<double>(m);
        d.resize(m);
        diagonal.row(i, static_cast<int32_t>(n), d);
        for (size_t j = 0; j < m; ++j) {
          const auto slot = static_cast<size_t>(cells[j]);
          const double p = t[slot] * d[j] * weights[j];
          counts[slot] += p;
          feature -= p * std::abs(place - static_cast<double>(j + 1) * step);
        }
      }
      features[static_cast<size_t>(word)] = feature;
      normalize(counts, options_.alpha, t);
    });
    count_null_word();
    return std::accumulate(features.begin(), features.end(), 0.0);
  }

  // Posterior mass not taken by the null word, for each position of each shape. Returns the mass of the null word.
  double sum_masses() {
    double null_mass = 0;
    for (auto& shape : shapes_) std::fill(shape.mass.begin(), shape.mass.end(), 0.0);
    for (int64_t s = 0; s < source_.size(); ++s) {
      if (!alignable(s)) continue;
      auto& mass = shapes_[static_cast<size_t>(shape_of_[static_cast<size_t>(s)])].mass;
      const double* null_posterior = null_posteriors_.data() + target_begin(s);
      for (size_t j = 0; j < mass.size(); ++j) {
        mass[j] += 1 - null_posterior[j];
        null_mass += null_posterior[j];
      }
    }
    return null_mass;
  }

  void count_null_word() {
    std::vector<double> counts(static_cast<size_t>(n_target_words_), -1.0);  // negative: not in any pair used
    for (int64_t s = 0; s < source_.size(); ++s) {
      if (!alignable(s)) continue;
      const auto f = target_[s];
      for (size_t j = 0; j < f.size(); ++j) {
        double& count = counts[static_cast<size_t>(f[j])];
        count = std::max(0.0, count) + null_posteriors_[target_begin(s) + j];
      }
    }
    normalize(counts, options_.alpha, null_probs_);
  }

  const Sentences& source_;
  const Sentences& target_;
  const Ibm2Options& options_;
  Control& control_;
  double tension_;
  int32_t n_source_words_ = 0, n_target_words_ = 0, longest_ = 1;

  std::vector<int64_t> cell_offsets_;
  std::vector<int32_t> cells_;
  std::vector<int64_t> occurrence_offsets_;
  std::vector<Occurrence> occurrences_;
  std::vector<int32_t> by_frequency_;
  std::vector<int32_t> shape_of_;  // -1: not used
  std::vector<ShapeMass> shapes_;

  std::vector<std::vector<int32_t>> row_targets_;
  std::vector<int64_t> row_offsets_;
  std::vector<float> probs_, null_probs_;
  std::vector<double> weights_, null_posteriors_;  // by target position in the text
};

}  // namespace

Ibm2Result train_ibm2(const Sentences& source, const Sentences& target, const Ibm2Options& options, bool keep_model,
                      Control& control) {
  Trainer trainer(source, target, options, control);
  Ibm2Result result;
  for (int32_t iteration = 0; iteration < options.n_iterations; ++iteration) result.steps.push_back(trainer.iterate());
  result.assignment = trainer.assign();
  if (keep_model) result.model = trainer.release_model();
  return result;
}

std::vector<int32_t> Ibm2Model::align(const Sentences& source, const Sentences& target, int n_threads,
                                      Control& control) const {
  check_sides(source, target);
  n_words(source);
  n_words(target);
  const auto prob = [&](int64_t s, size_t i, size_t j) -> double {
    const auto e = static_cast<size_t>(source[s][i]);
    if (e + 1 >= row_offsets.size()) return kUnseenProb;
    const auto begin = targets.begin() + row_offsets[e], end = targets.begin() + row_offsets[e + 1];
    const auto found = std::lower_bound(begin, end, target[s][j]);
    return found != end && *found == target[s][j] ? probs[static_cast<size_t>(found - targets.begin())] : kUnseenProb;
  };
  const auto null = [&](int32_t f) -> double {
    return static_cast<size_t>(f) < null_probs.size() ? null_probs[static_cast<size_t>(f)] : kUnseenProb;
  };
  Ibm2Options options;
  options.null_prob = null_prob;
  options.max_length = max_length;
  options.n_threads = n_threads;
  return best_assignment(source, target, Diagonal(tension, max_length), options, prob, null, control);
}

}  // namespace dragoman::align
