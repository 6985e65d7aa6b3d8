// The search of one sentence after another, with space that is kept between them. `Lm` gives begin(), empty(), kEos and
// score(state, word, next) on plain 32-bit states.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "core/phrase_coverage.hh"
#include "core/phrase_prepare.hh"
#include "core/phrase_search.hh"

namespace dragoman {

template <typename Lm>
class PhraseSearcher {
 public:
  PhraseSearcher(const PhraseSettings& settings, const PhraseFeatures& features, Lm lm,
                 std::span<const uint32_t> lm_words,
                 std::span<const std::shared_ptr<const TransitionTemplate>> templates)
      : settings_(settings), features_(features), lm_(lm), lm_words_(lm_words), templates_(templates) {
    for (const ReorderingFeatures& model : features.reordering) {
      uses_blocks_ = uses_blocks_ || (model.hierarchical && !model.backward.empty());
      // A swap is told by where the phrase before begins: by phrases in both directions, by blocks only forwards.
      uses_begin_ = uses_begin_ || !model.hierarchical || !model.forward.empty();
    }
    for (const auto& t : templates) uses_words_ = uses_words_ || t->uses_blocks();
    uses_blocks_ = uses_blocks_ || uses_words_;
    orientations_.resize(2 * features.reordering.size());
  }

  Forest run(const PhraseBatch& batch, int64_t sentence, std::span<const double> weights) {
    batch_ = &batch;
    sentence_ = sentence;
    weights_ = weights;
    lm_weight_ = weight_of(weights, features_.lm);
    distortion_weight_ = weight_of(weights, features_.distortion);
    prepare();
    start();
    const int32_t n = prepared_.n_words;
    for (int32_t covered = 0; covered <= n; ++covered) {
      if (settings_.pop_limit > 0 && covered > 0) fill(covered);
      prune(stack(covered));
      if (covered == n) break;
      if (settings_.pop_limit > 0)
        make_cubes(stack(covered));
      else
        expand_all(stack(covered));
    }
    return build_forest();
  }

 private:
  // A recombination class: what later scores can depend on, and the best way there.
  struct Hypothesis {
    uint32_t coverage, lm_state, carry, blocks;
    int32_t last_begin, last_end;  // last_begin is -1 where no swap with the last phrase can come
    int32_t first_arc;
    bool is_alive;
    double score, total;  // total: with the estimate of what is to come
  };
  struct Arc {
    int32_t from, option, next;
    float lm;
  };
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

  std::vector<int32_t>& stack(int32_t covered) { return stacks_[static_cast<size_t>(covered)]; }
  Hypothesis& hypothesis(int32_t id) { return hypotheses_[static_cast<size_t>(id)]; }
  const Option& option(int32_t id) const { return prepared_.options[static_cast<size_t>(id)]; }

  void prepare() {
    Prepared& p = prepared_;
    p.collect(*batch_, sentence_, features_, weights_);
    p.lm_words.clear();
    p.lm_sums.clear();
    p.lm_states.clear();
    for (Option& o : p.options) {
      const auto words = target_of(*batch_, sentence_, o);
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
    }
    p.finish(*batch_, sentence_, features_, weights_, templates_, settings_);
  }

  void start() {
    const int32_t n = prepared_.n_words;
    coverages_.start(n, settings_.distortion_limit, prepared_.costs);
    blocks_.clear();
    hypotheses_.clear();
    arcs_.clear();
    grouped_.clear();
    slots_.assign(1 << 12, -1);
    stacks_.resize(std::max(stacks_.size(), static_cast<size_t>(n) + 1));
    cubes_.resize(stacks_.size());
    floors_.assign(static_cast<size_t>(n) + 1, -std::numeric_limits<double>::infinity());
    for (auto& s : stacks_) s.clear();
    for (auto& c : cubes_) c.clear();
    hypotheses_.push_back({0, lm_.begin(), 0, 0, 0, 0, -1, true, 0, coverages_.future(0)});
    stack(0).push_back(0);
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

  // Orientations of every model: backward ones, then those of the phrase before.
  void orient(const Hypothesis& h, SourceSpan span) {
    const size_t n_models = features_.reordering.size();
    for (size_t m = 0; m < n_models; ++m) {
      const ReorderingFeatures& model = features_.reordering[m];
      Orientation back, forth;
      if (model.hierarchical) {
        back = blocks_.backward(h.blocks, span);
        forth = forward_by_blocks(h, span);
      } else {
        back = forth = orientation_after({h.last_begin, h.last_end}, span);
      }
      orientations_[m] = static_cast<int8_t>(orientation_column(back, model.n_orientations));
      orientations_[n_models + m] = static_cast<int8_t>(orientation_column(forth, model.n_orientations));
    }
  }

  // The blocks that will follow are not known yet: a phrase to the right is taken as part of a block that begins at the
  // last phrase's end when that place is still free, and likewise to the left.
  Orientation forward_by_blocks(const Hypothesis& h, SourceSpan span) const {
    if (span.begin >= h.last_end) {
      if (span.begin != h.last_end && coverages_.is_covered(h.coverage, h.last_end)) return Orientation::kRight;
      return coverages_.is_prefix(h.coverage, h.last_end) ? Orientation::kMonoGlobal : Orientation::kMono;
    }
    return h.last_begin >= 0 ? Orientation::kSwap : Orientation::kLeft;
  }

  void transition_features(const Hypothesis& h, const Option& o) {
    const size_t n_models = features_.reordering.size();
    transition_features_.clear();
    const std::span<const int8_t> orientations(orientations_);
    for (size_t t = 0; t < templates_.size(); ++t)
      templates_[t]->features({sentence_, view_of(*batch_, sentence_, o), h.carry == 0,
                               prepared_.carry_states[h.carry * templates_.size() + t], blocks_.top(h.blocks),
                               orientations.subspan(0, n_models), orientations.subspan(n_models)},
                              transition_features_);
  }

  double transition_score(const Hypothesis& h, size_t option_id) {
    const size_t n_models = features_.reordering.size();
    if (n_models == 0 && templates_.empty()) return 0;
    const Option& o = prepared_.options[option_id];
    orient(h, o.span);
    const double* back = prepared_.backward.data() + option_id * prepared_.n_backward;
    const double* forth = prepared_.forward.data() + h.carry * prepared_.n_forward;
    double sum = 0;
    for (size_t m = 0; m < n_models; ++m) {
      const ReorderingFeatures& model = features_.reordering[m];
      if (!model.backward.empty()) sum += back[orientations_[m]];
      if (!model.forward.empty()) sum += forth[orientations_[n_models + m]];
      back += model.backward.size();
      forth += model.forward.size();
    }
    if (!templates_.empty()) {
      transition_features(h, o);
      for (const Feature& f : transition_features_) sum += weight_of(weights_, f.id) * static_cast<double>(f.value);
    }
    return sum;
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
      const Hypothesis& first = hypothesis(stack[begin]);
      while (end < stack.size() && hypothesis(stack[end]).coverage == first.coverage &&
             hypothesis(stack[end]).last_end == first.last_end)
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
      const Hypothesis& h = hypothesis(grouped_[cube.first_hypothesis + row]);
      const size_t option_id = cube.first_option + column;
      const Option& o = prepared_.options[option_id];
      const double rest = h.score + cube.step + transition_score(h, option_id);
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
        const double lm = lm_score(hypothesis(from).lm_state, prepared_.options[option_id], entry.lm_state);
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
      const uint32_t covered_before = hypothesis(from).coverage;
      const int32_t last_end = hypothesis(from).last_end;
      for_each_span(covered_before, last_end, [&](SourceSpan span) {
        const uint32_t coverage = coverages_.extend(covered_before, span);
        const double future = coverages_.future(coverage), step = step_score(last_end, span);
        const bool is_last = coverages_.n_covered(coverage) == prepared_.n_words;
        const double floor = floors_[static_cast<size_t>(coverages_.n_covered(coverage))];
        const auto options = prepared_.of_span(span.begin, span.end - span.begin);
        const auto first = static_cast<size_t>(options.data() - prepared_.options.data());
        for (size_t i = first; i < first + options.size(); ++i) {
          const Hypothesis& h = hypothesis(from);
          uint32_t lm_state = 0;
          const double lm = lm_score(h.lm_state, prepared_.options[i], lm_state);
          const double score = h.score + step + transition_score(h, i) + prepared_.options[i].local + lm_weight_ * lm;
          const double total = score + future + (is_last ? lm_weight_ * end_score(lm_state) : 0);
          if (total < floor) continue;
          add(from, static_cast<int32_t>(i), coverage, lm_state, static_cast<float>(lm), score, total);
        }
      });
    }
  }

  // ---- hypotheses

  void add(int32_t from, int32_t option_id, uint32_t coverage, uint32_t lm_state, float lm, double score,
           double total) {
    const Option& o = option(option_id);
    const Hypothesis& before = hypothesis(from);
    Hypothesis h{coverage, lm_state, 0, 0, -1, o.span.end, -1, true, score, total};
    h.carry = o.carry;
    if (uses_begin_ && o.span.begin > 0 && !coverages_.is_covered(coverage, o.span.begin - 1))
      h.last_begin = o.span.begin;
    if (uses_blocks_) h.blocks = blocks_.shift(before.blocks, o.span, uses_words_ ? o.first_target : -1);
    const int32_t id = recombine(h);
    Hypothesis& known = hypothesis(id);
    arcs_.push_back({from, option_id, known.first_arc, lm});
    known.first_arc = static_cast<int32_t>(arcs_.size() - 1);
    known.score = std::max(known.score, score);
    known.total = std::max(known.total, total);
    if (known.is_alive) return;
    known.is_alive = true;
    const int32_t covered = coverages_.n_covered(coverage);
    auto& into = stack(covered);
    into.push_back(id);
    // Plain search makes far more hypotheses than it keeps.
    if (settings_.pop_limit == 0 && static_cast<int64_t>(into.size()) >= 4 * int64_t{settings_.stack_size}) {
      prune(into);
      double& floor = floors_[static_cast<size_t>(covered)];
      for (size_t i = 0; i < into.size(); ++i)
        floor = i == 0 ? hypothesis(into[0]).total : std::min(floor, hypothesis(into[i]).total);
    }
  }

  static uint64_t hash_of(const Hypothesis& h) {
    uint64_t x = (uint64_t{h.coverage} << 32 | h.lm_state) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 32 ^ (uint64_t{h.carry} << 32 | h.blocks)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 29 ^ (uint64_t{static_cast<uint32_t>(h.last_begin)} << 32 | static_cast<uint32_t>(h.last_end))) *
        0x94d049bb133111ebull;
    return x ^ x >> 31;
  }
  static bool same_state(const Hypothesis& a, const Hypothesis& b) {
    return a.coverage == b.coverage && a.lm_state == b.lm_state && a.carry == b.carry && a.blocks == b.blocks &&
           a.last_begin == b.last_begin && a.last_end == b.last_end;
  }

  // The hypothesis with this state; a new one is not alive yet.
  int32_t recombine(const Hypothesis& h) {
    if (hypotheses_.size() * 2 >= slots_.size()) {
      slots_.assign(slots_.size() * 4, -1);
      const size_t mask = slots_.size() - 1;
      for (size_t id = 1; id < hypotheses_.size(); ++id) {
        size_t slot = hash_of(hypotheses_[id]) & mask;
        while (slots_[slot] >= 0) slot = (slot + 1) & mask;
        slots_[slot] = static_cast<int32_t>(id);
      }
    }
    const size_t mask = slots_.size() - 1;
    size_t slot = hash_of(h) & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask)
      if (same_state(hypothesis(slots_[slot]), h)) return slots_[slot];
    slots_[slot] = static_cast<int32_t>(hypotheses_.size());
    hypotheses_.push_back(h);
    hypotheses_.back().is_alive = false;
    return slots_[slot];
  }

  // Leaves the best, grouped by coverage and last position, best first in each group.
  void prune(std::vector<int32_t>& stack) {
    const auto better = [&](int32_t a, int32_t b) {
      return std::tuple(-hypothesis(a).total, a) < std::tuple(-hypothesis(b).total, b);
    };
    double best = -std::numeric_limits<double>::infinity();
    for (const int32_t id : stack) best = std::max(best, hypothesis(id).total);
    const double floor = best - settings_.beam;
    const auto low =
        std::partition(stack.begin(), stack.end(), [&](int32_t id) { return hypothesis(id).total >= floor; });
    for (auto it = low; it != stack.end(); ++it) hypothesis(*it).is_alive = false;
    stack.erase(low, stack.end());
    const auto size = static_cast<size_t>(settings_.stack_size);
    if (stack.size() > size) {
      std::nth_element(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(size), stack.end(), better);
      for (size_t i = size; i < stack.size(); ++i) hypothesis(stack[i]).is_alive = false;
      stack.resize(size);
    }
    std::sort(stack.begin(), stack.end(), [&](int32_t a, int32_t b) {
      const Hypothesis &x = hypothesis(a), &y = hypothesis(b);
      return std::tuple(x.coverage, x.last_end, -x.total, a) < std::tuple(y.coverage, y.last_end, -y.total, b);
    });
  }

  // ---- the result

  void arc_features(const Arc& arc, std::vector<Feature>& out) {
    const Hypothesis& h = hypothesis(arc.from);
    const Option& o = option(arc.option);
    const auto add = [&](int32_t id, float value) {
      if (id >= 0 && value != 0) out.push_back({id, value});
    };
    out.clear();
    add(features_.lm, arc.lm);
    add(features_.distortion, -static_cast<float>(std::abs(o.span.begin - h.last_end)));
    orient(h, o.span);
    const size_t n_models = features_.reordering.size(), n_columns = prepared_.n_backward + prepared_.n_forward;
    const float* row =
        o.source < 0 ? nullptr : batch_->options.orientations.data() + static_cast<size_t>(o.source) * n_columns;
    const float* forth = prepared_.carry_scores.data() + h.carry * prepared_.n_forward;
    for (size_t m = 0; m < n_models; ++m) {
      const ReorderingFeatures& model = features_.reordering[m];
      const auto back_type = static_cast<size_t>(orientations_[m]);
      const auto forth_type = static_cast<size_t>(orientations_[n_models + m]);
      if (!model.backward.empty() && row != nullptr) add(model.backward[back_type], row[back_type]);
      if (!model.forward.empty()) add(model.forward[forth_type], forth[forth_type]);
      if (row != nullptr) row += model.backward.size() + model.forward.size();
      forth += model.forward.size();
    }
    if (templates_.empty()) return;
    transition_features(h, o);
    for (const Feature& f : transition_features_) add(f.id, f.value);
  }

  Forest build_forest() {
    const int32_t n = prepared_.n_words;
    std::vector<char> is_needed(hypotheses_.size());
    for (const int32_t id : stack(n)) is_needed[static_cast<size_t>(id)] = 1;
    for (int32_t covered = n; covered > 0; --covered)
      for (const int32_t id : stack(covered)) {
        if (!is_needed[static_cast<size_t>(id)]) continue;
        for (int32_t a = hypothesis(id).first_arc; a >= 0; a = arcs_[static_cast<size_t>(a)].next)
          is_needed[static_cast<size_t>(arcs_[static_cast<size_t>(a)].from)] = 1;
      }
    Forest forest;
    std::vector<Feature> features;
    std::vector<int32_t> symbols{kBosWord}, chain;
    const int32_t start = forest.add_instance({-1, {0, 0}}, symbols, {});
    std::vector<int32_t> instance_of(prepared_.options.size(), -1), node_of(hypotheses_.size(), -1);
    for (int32_t covered = 0; covered <= n; ++covered)
      for (const int32_t id : stack(covered)) {
        if (!is_needed[static_cast<size_t>(id)]) continue;
        const Hypothesis& h = hypothesis(id);
        const int32_t first = coverages_.first_gap(h.coverage);
        int32_t begin = 0;
        if (first == 0)
          while (begin < n && !coverages_.is_covered(h.coverage, begin)) ++begin;
        const int32_t end = std::max(first, coverages_.end(h.coverage));
        node_of[static_cast<size_t>(id)] = forest.add_node({-1, {covered == 0 ? 0 : begin, end}, covered});
        if (id == 0) forest.add_edge(start, {}, {});
        chain.clear();
        for (int32_t a = h.first_arc; a >= 0; a = arcs_[static_cast<size_t>(a)].next) chain.push_back(a);
        std::reverse(chain.begin(), chain.end());  // in the order they were found
        for (const int32_t a : chain) {
          const Arc& arc = arcs_[static_cast<size_t>(a)];
          int32_t& instance = instance_of[static_cast<size_t>(arc.option)];
          if (instance < 0) {
            const PhraseView view = view_of(*batch_, sentence_, option(arc.option));
            symbols.assign(1, tail_symbol(0));
            symbols.insert(symbols.end(), view.words.begin(), view.words.end());
            features.clear();
            append_local_features(*batch_, sentence_, features_, option(arc.option), features);
            instance = forest.add_instance({view.rule, {view.span.begin, view.span.end}}, symbols, features);
          }
          arc_features(arc, features);
          forest.add_edge(instance, std::span(&node_of[static_cast<size_t>(arc.from)], 1), features);
        }
      }
    symbols.assign({tail_symbol(0), kEosWord});
    const int32_t last = forest.add_instance({-1, {n, n}}, symbols, {});
    forest.add_node({-1, {0, n}, n});
    for (const int32_t id : stack(n)) {
      features.clear();
      if (const auto lm = static_cast<float>(end_score(hypothesis(id).lm_state)); features_.lm >= 0 && lm != 0)
        features.push_back({features_.lm, lm});
      forest.add_edge(last, std::span(&node_of[static_cast<size_t>(id)], 1), features);
    }
    return forest;
  }

  const PhraseSettings& settings_;
  const PhraseFeatures& features_;
  Lm lm_;
  std::span<const uint32_t> lm_words_;
  std::span<const std::shared_ptr<const TransitionTemplate>> templates_;
  bool uses_blocks_ = false, uses_begin_ = false, uses_words_ = false;

  const PhraseBatch* batch_ = nullptr;
  int64_t sentence_ = 0;
  std::span<const double> weights_;
  double lm_weight_ = 0, distortion_weight_ = 0;
  Prepared prepared_;
  Coverages coverages_;
  BlockStacks blocks_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<Arc> arcs_;
  std::vector<int32_t> slots_;
  std::vector<std::vector<int32_t>> stacks_;
  std::vector<double> floors_;  // by stack: worse candidates would be pruned
  std::vector<std::vector<Cube>> cubes_;
  std::vector<int32_t> grouped_;
  std::vector<Entry> heap_;
  std::vector<int8_t> orientations_;
  std::vector<Feature> transition_features_;
};

}  // namespace dragoman
