// The search of one sentence after another, with space that is kept between them. `Lm` gives begin(), empty(), kUnk,
// kEos, score(state, word, next) and prefetch(state, word) on plain 32-bit states.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/search/phrase_coverage.hh"
#include "core/search/phrase_forest.hh"
#include "core/search/phrase_hypotheses.hh"
#include "core/search/phrase_prepare.hh"
#include "core/search/phrase_search.hh"
#include "core/search/phrase_transition.hh"

namespace dragoman::search {

template <typename Lm>
class PhraseSearcher {
 public:
  PhraseSearcher(const PhraseSettings& settings, const PhraseFeatures& features, Lm lm,
                 std::span<const uint32_t> lm_words)
      : settings_(settings),
        features_(features),
        lm_(lm),
        lm_words_(lm_words),
        transitions_(features, prepared_, coverages_) {}
  PhraseSearcher(const PhraseSearcher&) = delete;
  PhraseSearcher& operator=(const PhraseSearcher&) = delete;

  // `part_sums` are those of weighted_parts.
  forest::Forest run(const PhraseBatch& batch, int64_t sentence, std::span<const double> weights,
                     std::span<const double> part_sums) {
    lm_weight_ = weight_of(weights, features_.lm);
    distortion_weight_ = weight_of(weights, features_.distortion);
    prepare(batch, sentence, weights, part_sums);
    transitions_.start(batch, sentence, part_sums);
    start();
    const int32_t n = prepared_.n_words;
    const auto stack_size = static_cast<size_t>(settings_.stack_size);
    for (int32_t covered = 0; covered <= n; ++covered) {
      if (settings_.pop_limit > 0 && covered > 0) fill(covered);
      hypotheses_.prune(covered, stack_size, settings_.beam);
      if (covered == n) break;
      if (settings_.pop_limit > 0)
        make_cubes(hypotheses_.stack(covered));
      else
        expand_all(hypotheses_.stack(covered));
    }
    std::vector<float> end_lm;
    for (const int32_t id : hypotheses_.stack(n))
      end_lm.push_back(static_cast<float>(end_score(hypotheses_[id].lm_state)));
    return phrase_forest({batch, sentence, features_, prepared_, coverages_, hypotheses_, end_lm}, transitions_);
  }

 private:
  // Hypotheses of one coverage and one last position, best first, with the options of one span.
  struct Cube {
    uint32_t first_hypothesis, n_hypotheses;  // in grouped_
    uint32_t first_option, n_options;
    uint32_t coverage;
    double step;    // distortion
    double future;  // of the coverage
  };
  struct Candidate {
    double partial;  // score without the language model, then with it
    uint32_t cube, row, column;
    uint32_t lm_state;
    float lm;
    bool is_exact;
  };
  // Small, because it moves a lot; of equal keys the older candidate comes first.
  struct Place {
    double key;
    uint32_t candidate;
    friend bool operator<(const Place& a, const Place& b) {
      return a.key != b.key ? a.key < b.key : a.candidate > b.candidate;
    }
  };
  struct KnownLm {
    uint32_t state, option;
    uint32_t next;
    float lm;
  };

  void prepare(const PhraseBatch& batch, int64_t sentence, std::span<const double> weights,
               std::span<const double> part_sums) {
    Prepared& p = prepared_;
    p.collect(batch, sentence, features_, weights);
    p.estimate(lm_weight_ >= 0 ? settings_.option_limit : 0, [&](std::span<Option> options) {
      uint32_t longest = 0;
      for (Option& o : options) {
        o.first_word = static_cast<uint32_t>(p.lm_words.size());
        for (const int32_t word : target_of(batch, sentence, o)) {
          const auto id = static_cast<size_t>(word);
          p.lm_words.push_back(id < lm_words_.size() ? lm_words_[id] : Lm::kUnk);
        }
        o.n_words = static_cast<uint32_t>(p.lm_words.size()) - o.first_word;
        longest = std::max(longest, o.n_words);
      }
      p.lm_sums.resize(p.lm_words.size());
      p.lm_states.resize(p.lm_words.size());
      // Word by word through all of them, so that the model's memory is on its way before it is needed.
      for (uint32_t i = 0; i < longest; ++i) {
        const auto state_before = [&](const Option& o) {
          return i == 0 ? lm_.empty() : p.lm_states[o.first_word + i - 1];
        };
        for (const Option& o : options)
          if (i < o.n_words) lm_.prefetch(state_before(o), p.lm_words[o.first_word + i]);
        for (const Option& o : options) {
          if (i >= o.n_words) continue;
          const size_t word = o.first_word + i;
          const float score = lm_.score(state_before(o), p.lm_words[word], p.lm_states[word]);
          p.lm_sums[word] = (i == 0 ? 0 : p.lm_sums[word - 1]) + static_cast<double>(score);
        }
      }
      for (Option& o : options)
        o.estimate = o.local + (o.n_words == 0 ? 0 : lm_weight_ * p.lm_sums[o.first_word + o.n_words - 1]);
    });
    p.finish(batch, features_, weights, settings_);
    if (batch.oriented) p.orient(batch, sentence, part_sums);
  }

  void start() {
    const int32_t n = prepared_.n_words;
    coverages_.start(n, settings_.distortion_limit, prepared_.costs);
    known_lm_.assign(size_t{1} << kKnownBits, {0, kNoOption, 0, 0});
    grouped_.clear();
    cubes_.resize(std::max(cubes_.size(), static_cast<size_t>(n) + 1));
    for (auto& c : cubes_) c.clear();
    floors_.assign(static_cast<size_t>(n) + 1, -std::numeric_limits<double>::infinity());
    Hypothesis first{};
    first.lm_state = lm_.begin();
    first.total = coverages_.future(0);
    hypotheses_.start(first, n);
  }

  template <typename Body>
  void for_each_span(uint32_t coverage, int32_t last_end, Body&& body) {
    each_next_span(prepared_, coverages_, settings_.distortion_limit, coverage, last_end, body);
  }

  double step_score(int32_t last_end, SourceSpan span) const {
    return -distortion_weight_ * std::abs(span.begin - last_end);
  }

  // The language model's increment for a phrase. Search meets the same states and phrases by many ways, and a look-up
  // here is closer than the model's tables.
  float lm_score(uint32_t state, size_t option, uint32_t& next) {
    const auto id = static_cast<uint32_t>(option);
    KnownLm& known = known_lm_[(state * 0x9e3779b9u ^ id * 0x85ebca6bu) >> (32 - kKnownBits)];
    if (known.state != state || known.option != id) {
      known.lm = static_cast<float>(new_lm_score(state, prepared_.options[option], known.next));
      known.state = state;
      known.option = id;
    }
    next = known.next;
    return known.lm;
  }

  // As soon as the state is that of the phrase by itself, the rest is known.
  double new_lm_score(uint32_t state, const Option& o, uint32_t& next) const {
    const uint32_t* words = prepared_.lm_words.data() + o.first_word;
    const uint32_t* alone = prepared_.lm_states.data() + o.first_word;
    const double* sums = prepared_.lm_sums.data() + o.first_word;
    double sum = 0;
    for (uint32_t i = 0; i < o.n_words; ++i) {
      sum += static_cast<double>(lm_.score(state, words[i], state));
      if (state != alone[i]) continue;
      next = alone[o.n_words - 1];
      return sum + (sums[o.n_words - 1] - sums[i]);
    }
    next = state;
    return sum;
  }

  double end_score(uint32_t lm_state) const {
    uint32_t unused = 0;
    return static_cast<double>(lm_.score(lm_state, Lm::kEos, unused));
  }

  // ---- cube pruning

  void make_cubes(const std::vector<int32_t>& stack) {
    for (size_t begin = 0, end = 0; begin < stack.size(); begin = end) {
      const Hypothesis& first = hypotheses_[stack[begin]];
      while (end < stack.size() && hypotheses_[stack[end]].coverage == first.coverage &&
             hypotheses_[stack[end]].last_end == first.last_end)
        ++end;
      const auto first_hypothesis = static_cast<uint32_t>(grouped_.size());
      grouped_.insert(grouped_.end(), stack.begin() + static_cast<std::ptrdiff_t>(begin),
                      stack.begin() + static_cast<std::ptrdiff_t>(end));
      for_each_span(first.coverage, first.last_end, [&](SourceSpan span) {
        const auto options = prepared_.of_span(span.begin, span.end - span.begin);
        const uint32_t coverage = coverages_.extend(first.coverage, span);
        cubes_[static_cast<size_t>(coverages_.n_covered(coverage))].push_back(
            {first_hypothesis, static_cast<uint32_t>(end - begin),
             static_cast<uint32_t>(options.data() - prepared_.options.data()), static_cast<uint32_t>(options.size()),
             coverage, step_score(first.last_end, span), coverages_.future(coverage)});
      });
    }
  }

  // Takes the most promising candidates of all cubes. A candidate enters the heap with the language model's opinion of
  // its phrase by itself, and gets its exact score when it comes to the top.
  void fill(int32_t covered) {
    const auto& cubes = cubes_[static_cast<size_t>(covered)];
    heap_.clear();
    candidates_.clear();
    const auto add_candidate = [&](uint32_t c, uint32_t row, uint32_t column) {
      const Cube& cube = cubes[c];
      if (row >= cube.n_hypotheses || column >= cube.n_options) return false;
      const Hypothesis& h = hypotheses_[grouped_[cube.first_hypothesis + row]];
      const size_t option = cube.first_option + column;
      const Option& o = prepared_.options[option];
      const double rest = h.score + cube.step + transitions_.score(h, option);
      heap_.push_back({rest + o.estimate + cube.future, static_cast<uint32_t>(candidates_.size())});
      candidates_.push_back({rest + o.local, c, row, column, 0, 0, false});
      return true;
    };
    const auto push = [&](uint32_t c, uint32_t row, uint32_t column) {
      if (!add_candidate(c, row, column)) return;
      std::push_heap(heap_.begin(), heap_.end());
      // Its turn may come soon.
      const Option& o = prepared_.options[cubes[c].first_option + column];
      const Hypothesis& h = hypotheses_[grouped_[cubes[c].first_hypothesis + row]];
      if (o.n_words > 0) lm_.prefetch(h.lm_state, prepared_.lm_words[o.first_word]);
    };
    for (uint32_t c = 0; c < cubes.size(); ++c) add_candidate(c, 0, 0);
    std::make_heap(heap_.begin(), heap_.end());
    const bool is_last = covered == prepared_.n_words;
    double best = -std::numeric_limits<double>::infinity();
    for (int32_t n_popped = 0; n_popped < settings_.pop_limit && !heap_.empty();) {
      std::pop_heap(heap_.begin(), heap_.end());
      Place place = heap_.back();
      heap_.pop_back();
      Candidate candidate = candidates_[place.candidate];
      const Cube& cube = cubes[candidate.cube];
      const int32_t from = grouped_[cube.first_hypothesis + candidate.row];
      const size_t option = cube.first_option + candidate.column;
      if (!candidate.is_exact) {
        candidate.lm = lm_score(hypotheses_[from].lm_state, option, candidate.lm_state);
        candidate.partial += lm_weight_ * static_cast<double>(candidate.lm);
        candidate.is_exact = true;
        place.key = candidate.partial + cube.future;
        if (is_last) place.key += lm_weight_ * end_score(candidate.lm_state);
        // Neighbours are reached from here whatever becomes of this one.
        push(candidate.cube, candidate.row, candidate.column + 1);
        if (candidate.column == 0) push(candidate.cube, candidate.row + 1, 0);
        if (!heap_.empty() && place < heap_.front()) {
          candidates_[place.candidate] = candidate;
          heap_.push_back(place);
          std::push_heap(heap_.begin(), heap_.end());
          continue;
        }
      }
      ++n_popped;
      best = std::max(best, place.key);
      if (place.key < best - settings_.beam) break;
      add(from, static_cast<int32_t>(option), cube.coverage, candidate.lm_state, candidate.lm, candidate.partial,
          place.key);
    }
  }

  // ---- plain stack search

  void expand_all(const std::vector<int32_t>& stack) {
    // Hypotheses are added while this runs, so none is held by reference.
    for (const int32_t from : stack) {
      const uint32_t covered_before = hypotheses_[from].coverage;
      const int32_t last_end = hypotheses_[from].last_end;
      for_each_span(covered_before, last_end, [&](SourceSpan span) {
        const uint32_t coverage = coverages_.extend(covered_before, span);
        const double future = coverages_.future(coverage), step = step_score(last_end, span);
        const bool is_last = coverages_.n_covered(coverage) == prepared_.n_words;
        const double& floor = floors_[static_cast<size_t>(coverages_.n_covered(coverage))];
        const auto options = prepared_.of_span(span.begin, span.end - span.begin);
        const auto first = static_cast<size_t>(options.data() - prepared_.options.data());
        for (size_t i = first; i < first + options.size(); ++i) {
          const Hypothesis& h = hypotheses_[from];
          uint32_t lm_state = 0;
          const float lm = lm_score(h.lm_state, i, lm_state);
          const double score = h.score + step + transitions_.score(h, i) + prepared_.options[i].local +
                               lm_weight_ * static_cast<double>(lm);
          const double total = score + future + (is_last ? lm_weight_ * end_score(lm_state) : 0);
          if (total < floor) continue;
          add(from, static_cast<int32_t>(i), coverage, lm_state, lm, score, total);
        }
      });
    }
  }

  void add(int32_t from, int32_t option, uint32_t coverage, uint32_t lm_state, float lm, double score, double total) {
    Hypothesis h{};
    h.coverage = coverage;
    h.lm_state = lm_state;
    h.score = score;
    h.total = total;
    transitions_.complete(hypotheses_[from], prepared_.options[static_cast<size_t>(option)], h);
    const int32_t covered = coverages_.n_covered(coverage);
    const size_t size = hypotheses_.add(h, from, option, lm, covered);
    // Plain search makes far more hypotheses than it keeps.
    if (settings_.pop_limit > 0 || size < 4 * static_cast<size_t>(settings_.stack_size)) return;
    hypotheses_.prune(covered, static_cast<size_t>(settings_.stack_size), settings_.beam);
    double worst = std::numeric_limits<double>::infinity();
    for (const int32_t id : hypotheses_.stack(covered)) worst = std::min(worst, hypotheses_[id].total);
    floors_[static_cast<size_t>(covered)] = worst;
  }

  const PhraseSettings& settings_;
  const PhraseFeatures& features_;
  Lm lm_;
  std::span<const uint32_t> lm_words_;

  double lm_weight_ = 0, distortion_weight_ = 0;
  Prepared prepared_;
  Coverages coverages_;
  Transitions transitions_;
  Hypotheses hypotheses_;
  std::vector<double> floors_;  // by stack: worse candidates would be pruned
  std::vector<std::vector<Cube>> cubes_;
  std::vector<int32_t> grouped_;
  std::vector<Candidate> candidates_;
  std::vector<Place> heap_;
  static constexpr int kKnownBits = 12;
  static constexpr uint32_t kNoOption = ~uint32_t{0};
  std::vector<KnownLm> known_lm_;
};

}  // namespace dragoman::search
