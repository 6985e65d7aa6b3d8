#include "core/optim/learner.hh"

#include <algorithm>
#include <stdexcept>

#include "core/base/crew.hh"

namespace dragoman::optim {

Learner::Learner(std::span<const double> start, const UpdateRule& rule, const FeatureRates& rates, int64_t n_lists)
    : rule_(rule), n_lists_(std::max<int64_t>(1, n_lists)), weights_(start.size(), 0.0) {
  std::copy(start.begin(), start.end(), weights_.data());
  for (const auto& each : {rates.gradient, rates.penalty})
    if (!each.empty() && each.size() != start.size()) throw std::invalid_argument("one rate per feature expected");
  if (rule.l2 == 0 && !rule.adaptive && !rule.averaged && rates.gradient.empty()) return;
  memory_ = Pages<Memory>(start.size(), {});
  if (rule.averaged || rule.adaptive) sums_ = Pages<Sums>(start.size(), {});
  for (size_t f = 0; f < rates.gradient.size(); ++f) memory_[f].rate = rates.gradient[f];
  for (size_t f = 0; f < rates.penalty.size(); ++f) memory_[f].penalty_rate = rates.penalty[f];
}

void Learner::begin_step(int64_t n_lists) {
  const double epochs = static_cast<double>(n_seen_) / static_cast<double>(n_lists_);
  step_ = rule_.step / (1 + rule_.decay * epochs);
  penalty_ += rule_.l2 * step_ * static_cast<double>(n_lists) / static_cast<double>(n_lists_);
  n_seen_ += n_lists;
  ++n_steps_;
}

namespace {

// exp(-x) for x >= 0; most often the penalty since the last meeting is tiny.
inline double shrinkage(double x) { return x < 1e-5 ? 1 - x * (1 - x / 2) : std::exp(-x); }

}  // namespace

inline double Learner::current(int32_t id) const {
  const auto f = static_cast<size_t>(id);
  if (memory_.size() == 0 || rule_.l2 == 0) return weights_[f];
  const double x = shrink(memory_[f]);
  return weights_[f] * shrinkage(x);
}

inline double Learner::bring_up(int32_t id) {
  const auto f = static_cast<size_t>(id);
  if (memory_.size() == 0) return weights_[f];
  double& weight = weights_[f];
  Memory& memory = memory_[f];
  const double x = shrink(memory);
  if (rule_.averaged) {
    // The weight after each of the n steps since then, each the same share smaller than the one before.
    const auto n = static_cast<double>(n_steps_ - memory.n_steps);
    sums_[f].weights += weight * (x > 0 && n > 1 ? std::expm1(-x) / std::expm1(-x / n) : n);
    memory.n_steps = n_steps_;
  }
  weight *= shrinkage(x);
  memory.penalty = penalty_;
  return weight;
}

inline void Learner::move(int32_t id, double gradient) {
  const auto f = static_cast<size_t>(id);
  if (memory_.size() == 0) {
    weights_[f] -= step_ * gradient;
    return;
  }
  Memory& memory = memory_[f];
  double rate = memory.rate;
  if (rule_.adaptive) {
    if (gradient == 0) return;
    sums_[f].squares += gradient * gradient;
    rate = std::sqrt(rate / sums_[f].squares);
  }
  weights_[f] -= step_ * rate * gradient;
}

void Learner::touch(std::span<const int32_t> ids) {
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= weights_.size()) throw std::invalid_argument("no such feature");
    bring_up(id);
  }
}

void Learner::apply(std::span<const int32_t> ids, std::span<const double> gradient) {
  if (ids.size() != gradient.size()) throw std::invalid_argument("as many ids as values expected");
  touch(ids);
  for (size_t i = 0; i < ids.size(); ++i) move(ids[i], gradient[i]);
}

double Learner::epoch(const ListStore& lists, std::span<const int64_t> order, const ListLoss& loss, int64_t batch,
                      int n_threads, Control& control) {
  lists.check_order(order);
  if (lists.n_features() != static_cast<int64_t>(weights_.size()))
    throw std::invalid_argument("lists and weights have different features");
  if (batch < 1) throw std::invalid_argument("a batch needs at least one list");
  return batch == 1 ? online(lists, order, loss, control) : batched(lists, order, loss, batch, n_threads, control);
}

ScoredLists Learner::begin_step(const ListStore& lists, std::span<const int64_t> order, size_t begin, size_t end) {
  if (begin > end || end > order.size()) throw std::invalid_argument("no such part of the order");
  order = order.subspan(begin, std::min(end + 2, order.size()) - begin);
  lists.check_order(order);
  const size_t n = end - begin;
  if (lists.n_features() != static_cast<int64_t>(weights_.size()))
    throw std::invalid_argument("lists and weights have different features");
  begin_step(static_cast<int64_t>(n));
  ListScratch scratch;
  ScoredLists result;
  for (size_t i = 0; i < n; ++i) {
    if (i + 2 < order.size()) lists.prefetch(order[i + 2]);
    if (i + 1 < order.size()) prefetch(lists[order[i + 1]].ids);
    const ListView list = lists[order[i]];
    scratch.start(list);
    add_scores(list, [&](int32_t id) { return current(id); }, scratch.scores);
    result.add(list, scratch.scores);
  }
  return result;
}

void Learner::finish_step(const ListStore& lists, std::span<const int64_t> order, std::span<const double> slopes) {
  lists.check_order(order);
  size_t begin = 0;
  for (const int64_t number : order) begin += lists[number].gains.size();
  if (begin != slopes.size()) throw std::invalid_argument("one slope per candidate expected");
  begin = 0;
  for (const int64_t number : order) {
    const ListView list = lists[number];
    for_each_slope(list, slopes.subspan(begin, list.gains.size()), [&](int32_t id, double slope) {
      bring_up(id);
      move(id, slope);
    });
    begin += list.gains.size();
  }
}

// The weights of what comes next, while this is worked on.
void Learner::prefetch(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) __builtin_prefetch(&weights_[static_cast<size_t>(id)], 1);
  if (memory_.size())
    for (const int32_t id : ids) __builtin_prefetch(&memory_[static_cast<size_t>(id)], 1);
  if (sums_.size())
    for (const int32_t id : ids) __builtin_prefetch(&sums_[static_cast<size_t>(id)], 1);
}

double Learner::online(const ListStore& lists, std::span<const int64_t> order, const ListLoss& loss, Control& control) {
  ListScratch scratch;
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 256 == 0) control.check();
    if (i + 2 < order.size()) lists.prefetch(order[i + 2]);
    if (i + 1 < order.size()) prefetch(lists[order[i + 1]].ids);
    const ListView list = lists[order[i]];
    begin_step(1);
    scratch.start(list);
    add_scores(list, [&](int32_t id) { return bring_up(id); }, scratch.scores);
    sum += differentiate(loss, scratch.scores, list.gains, scratch.slopes);
    for_each_slope(list, scratch.slopes, [&](int32_t id, double slope) { move(id, slope); });
    control.advance();
  }
  return sum;
}

namespace {

// The update of one list of a batch, partitioned by the worker that will apply it.
struct Slot {
  struct Part {
    std::vector<int32_t> ids;
    std::vector<double> gradient;
    size_t size = 0;
  };
  std::vector<Part> parts;
  double value = 0;

  void start(size_t n_columns) {
    for (Part& part : parts) {
      part.size = 0;
      if (part.ids.size() < n_columns) {
        part.ids.resize(n_columns);
        part.gradient.resize(n_columns);
      }
    }
  }
  // Written without a branch: which worker it is cannot be predicted.
  void add(uint64_t worker, int32_t id, double slope) {
    Part& part = parts[worker];
    part.ids[part.size] = id;
    part.gradient[part.size++] = slope;
  }
};

// Which of the workers moves a feature: neighbours together, so that no two workers write to one line of the cache.
uint64_t owner(int32_t id, uint64_t n_workers) {
  return (uint64_t{(static_cast<uint32_t>(id) >> 4) * 0x9e3779b1u} * n_workers) >> 32;
}

}  // namespace

double Learner::batched(const ListStore& lists, std::span<const int64_t> order, const ListLoss& loss, int64_t batch,
                        int n_threads, Control& control) {
  const auto n_slots = std::min(static_cast<size_t>(batch), std::max<size_t>(1, order.size()));
  Crew crew(static_cast<int>(std::clamp<int64_t>(n_threads, 1, static_cast<int64_t>(n_slots))));
  const auto n_workers = static_cast<uint64_t>(crew.size());
  std::vector<Slot> slots(n_slots);
  for (Slot& slot : slots) slot.parts.resize(n_workers);
  std::vector<ListScratch> scratches(n_workers);
  double sum = 0;
  for (size_t begin = 0; begin < order.size(); begin += n_slots) {
    const size_t n = std::min(n_slots, order.size() - begin);
    control.check();
    begin_step(static_cast<int64_t>(n));
    // The weights do not change meanwhile.
    crew.run([&](int number) {
      const auto worker = static_cast<uint64_t>(number);
      ListScratch& scratch = scratches[worker];
      for (size_t i = worker; i < n; i += n_workers) {
        if (i + 2 * n_workers < n) lists.prefetch(order[begin + i + 2 * n_workers]);
        if (i + n_workers < n) prefetch(lists[order[begin + i + n_workers]].ids);
        Slot& slot = slots[i];
        const ListView list = lists[order[begin + i]];
        scratch.start(list);
        add_scores(list, [&](int32_t id) { return current(id); }, scratch.scores);
        slot.value = differentiate(loss, scratch.scores, list.gains, scratch.slopes);
        slot.start(list.ids.size());
        for_each_slope(list, scratch.slopes,
                       [&](int32_t id, double slope) { slot.add(owner(id, n_workers), id, slope); });
      }
    });
    // Each weight is moved by one worker, in the order of the lists.
    crew.run([&](int number) {
      const auto worker = static_cast<uint64_t>(number);
      for (size_t i = 0; i < n; ++i) {
        if (i + 1 < n) {
          const auto& next = slots[i + 1].parts[worker];
          prefetch(std::span(next.ids).first(next.size));
        }
        const auto& part = slots[i].parts[worker];
        for (size_t k = 0; k < part.size; ++k) {
          bring_up(part.ids[k]);
          move(part.ids[k], part.gradient[k]);
        }
      }
    });
    for (size_t i = 0; i < n; ++i) sum += slots[i].value;
    control.advance(static_cast<int64_t>(n));
  }
  return sum;
}

std::span<const double> Learner::weights() {
  for (size_t f = 0; f < memory_.size(); ++f) bring_up(static_cast<int32_t>(f));
  return {weights_.data(), weights_.size()};
}

std::vector<double> Learner::average() {
  weights();
  std::vector<double> result(weights_.data(), weights_.data() + weights_.size());
  if (!rule_.averaged || n_steps_ == 0) return result;
  // `sum` holds the weights after all steps but the last.
  for (size_t f = 0; f < result.size(); ++f)
    result[f] = (sums_[f].weights + weights_[f]) / static_cast<double>(n_steps_);
  return result;
}

}  // namespace dragoman::optim
