// The search of one sentence after another, with space that is kept between them. `Lm` gives begin(), empty(), kEos and
// score(state, word, next) on plain 32-bit states.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "core/phrase_coverage.hh"
#include "core/phrase_forest.hh"
#include "core/phrase_hypotheses.hh"
#include "core/phrase_prepare.hh"
#include "core/phrase_search.hh"
#include "core/phrase_transition.hh"

namespace dragoman {

template <typename Lm>
class PhraseSearcher {
 public:
  PhraseSearcher(const PhraseSettings& settings, const PhraseFeatures& features, Lm lm,
                 std::span<const uint32_t> lm_words,
                 std::span<const std::shared_ptr<const TransitionTemplate>> templates)
      : settings_(settings),
        features_(features),
        lm_(lm),
        lm_words_(lm_words),
        templates_(templates),
        transitions_(features, templates, prepared_, coverages_) {}
  PhraseSearcher(const PhraseSearcher&) = delete;
  PhraseSearcher& operator=(const PhraseSearcher&) = delete;

  Forest run(const PhraseBatch& batch, int64_t sentence, std::span<const double> weights) {
    lm_weight_ = weight_of(weights, features_.lm);
    distortion_weight_ = weight_of(weights, features_.distortion);
    prepare(batch, sentence, weights);
    transitions_.start(batch, sentence, weights);
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
  struct Entry {
    double key;
    double partial;  // score without the language model
    uint32_t cube, row, column;
    uint32_t lm_state;
    float lm;
    bool is_exact;
  };
  struct Worse {
    bool operator()(const Entry& a, const Entry& b) const {
      return std::tie(a.key, b.cube, b.row, b.column) < std::tie(b.key, a.cube, a.row, a.column);
    }
  };

  void prepare(const PhraseBatch& batch, int64_t sentence, std::span<const double> weights) {
    Prepared& p = prepared_;
    p.collect(batch, sentence, features_, weights);
    p.estimate(lm_weight_ >= 0 ? settings_.option_limit : 0, [&](Option& o) {
      const auto words = target_of(batch, sentence, o);
      o.first_word = static_cast<uint32_t>(p.lm_words.size());
      o.n_words = static_cast<uint32_t>(words.size());
      uint32_t state = lm_.empty();
      double sum = 0;
      for (const int32_t word : words) {
        const auto id = static_cast<size_t>(word) < lm_words_.size() ? lm_words_[static_cast<size_t>(word)] : Lm::kUnk;
        sum += static_cast<double>(lm_.score(state, id, state));
        p.lm_words.push_back(id);
        p.lm_sums.push_back(sum);
        p.lm_states.push_back(state);
      }
      o.estimate = o.local + lm_weight_ * sum;
    });
    p.finish(batch, sentence, features_, weights, templates_, settings_);
  }

  void start() {
    const int32_t n = prepared_.n_words;
    coverages_.start(n, settings_.distortion_limit, prepared_.costs);
    grouped_.clear();
    cubes_.resize(std::max(cubes_.size(), static_cast<size_t>(n) + 1));
    for (auto& c : cubes_) c.clear();
    floors_.assign(static_cast<size_t>(n) + 1, -std::numeric_limits<double>::infinity());
    Hypothesis first{};
    first.lm_state = lm_.begin();
    first.total = coverages_.future(0);
    hypotheses_.start(first, n);
  }

  // Calls body(span, coverage after it) for every span that may come next (the distortion limit as in Moses): a
  // jump is within the limit, and after a phrase that leaves the first gap open the jump back to it is too.
  template <typename Body>
  void for_each_span(uint32_t coverage, int32_t last_end, Body&& body) {
    const int32_t n = prepared_.n_words, limit = settings_.distortion_limit, gap = coverages_.first_gap(coverage);
    const int32_t from = limit < 0 ? gap : std::max(gap, last_end - limit);
    const int32_t to = limit < 0 ? n - 1 : std::min(n - 1, last_end + limit);
    for (int32_t begin = from; begin <= to; ++begin) {
      if (coverages_.is_covered(coverage, begin)) continue;
      int32_t longest = std::min(prepared_.max_length, n - begin);
      if (limit >= 0 && begin != gap) longest = std::min(longest, gap + limit - begin);
      for (int32_t length = 1; length <= longest; ++length) {
        if (coverages_.is_covered(coverage, begin + length - 1)) break;
        if (!prepared_.of_span(begin, length).empty()) body(SourceSpan{begin, begin + length});
      }
    }
  }

  double step_score(int32_t last_end, SourceSpan span) const {
    return -distortion_weight_ * std::abs(span.begin - last_end);
  }

  // The language model's increment for a phrase. As soon as the state is that of the phrase by itself, the rest is
  // known.
  double lm_score(uint32_t state, const Option& o, uint32_t& next) const {
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
    const auto push = [&](uint32_t c, uint32_t row, uint32_t column) {
      const Cube& cube = cubes[c];
      if (row >= cube.n_hypotheses || column >= cube.n_options) return;
      const Hypothesis& h = hypotheses_[grouped_[cube.first_hypothesis + row]];
      const size_t option_id = cube.first_option + column;
      const Option& o = prepared_.options[option_id];
      const double rest = h.score + cube.step + transitions_.score(h, option_id);
      heap_.push_back({rest + o.estimate + cube.future, rest + o.local, c, row, column, 0, 0, false});
    };
    for (uint32_t c = 0; c < cubes.size(); ++c) push(c, 0, 0);
    std::make_heap(heap_.begin(), heap_.end(), Worse());
    const bool is_last = covered == prepared_.n_words;
    double best = -std::numeric_limits<double>::infinity();
    for (int32_t n_popped = 0; n_popped < settings_.pop_limit && !heap_.empty();) {
      std::pop_heap(heap_.begin(), heap_.end(), Worse());
      Entry entry = heap_.back();
      heap_.pop_back();
      const Cube& cube = cubes[entry.cube];
      const int32_t from = grouped_[cube.first_hypothesis + entry.row];
      const size_t option_id = cube.first_option + entry.column;
      if (!entry.is_exact) {
        const double lm = lm_score(hypotheses_[from].lm_state, prepared_.options[option_id], entry.lm_state);
        entry.lm = static_cast<float>(lm);
        entry.is_exact = true;
        entry.partial += lm_weight_ * lm;
        entry.key = entry.partial + cube.future;
        if (is_last) entry.key += lm_weight_ * end_score(entry.lm_state);
        // Neighbours are reached from here whatever becomes of this one.
        const size_t n = heap_.size();
        push(entry.cube, entry.row, entry.column + 1);
        if (heap_.size() > n) std::push_heap(heap_.begin(), heap_.end(), Worse());
        if (entry.column == 0) {
          const size_t m = heap_.size();
          push(entry.cube, entry.row + 1, 0);
          if (heap_.size() > m) std::push_heap(heap_.begin(), heap_.end(), Worse());
        }
        if (!heap_.empty() && Worse()(entry, heap_.front())) {
          heap_.push_back(entry);
          std::push_heap(heap_.begin(), heap_.end(), Worse());
          continue;
        }
      }
      ++n_popped;
      best = std::max(best, entry.key);
      if (entry.key < best - settings_.beam) break;
      add(from, static_cast<int32_t>(option_id), cube.coverage, entry.lm_state, entry.lm, entry.partial, entry.key);
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
          const double lm = lm_score(h.lm_state, prepared_.options[i], lm_state);
          const double score = h.score + step + transitions_.score(h, i) + prepared_.options[i].local + lm_weight_ * lm;
          const double total = score + future + (is_last ? lm_weight_ * end_score(lm_state) : 0);
          if (total < floor) continue;
          add(from, static_cast<int32_t>(i), coverage, lm_state, static_cast<float>(lm), score, total);
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
  std::span<const std::shared_ptr<const TransitionTemplate>> templates_;

  double lm_weight_ = 0, distortion_weight_ = 0;
  Prepared prepared_;
  Coverages coverages_;
  Transitions transitions_;
  Hypotheses hypotheses_;
  std::vector<double> floors_;  // by stack: worse candidates would be pruned
  std::vector<std::vector<Cube>> cubes_;
  std::vector<int32_t> grouped_;
  std::vector<Entry> heap_;
};

}  // namespace dragoman
