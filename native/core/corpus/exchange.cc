#include "core/corpus/exchange.hh"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/base/parallel.hh"

namespace dragoman::corpus {

namespace {

// Below this, a gain may be rounding: sums of n log n over large texts are good to about 1e-7.
constexpr double kLeastGain = 1e-6;
constexpr int64_t kTableSize = 1 << 16;

double product(int64_t n) { return n == 0 ? 0 : static_cast<double>(n) * std::log(static_cast<double>(n)); }

const double* small_products() {
  static const std::vector<double> table = [] {
    std::vector<double> values(at(kTableSize));
    for (int64_t n = 0; n < kTableSize; ++n) values[at(n)] = product(n);
    return values;
  }();
  return table.data();
}

// n log n.
inline double n_log_n(int64_t n) {
  static const double* const table = small_products();
  return n < kTableSize ? table[n] : static_cast<double>(n) * std::log(static_cast<double>(n));
}

}  // namespace

PairCounts::PairCounts(int32_t n_rows, int32_t n_columns)
    : n_columns(n_columns),
      count(at(n_rows) * at(n_columns)),
      f(count.size()),
      one(count.size(), n_log_n(1)),
      two(count.size(), n_log_n(2)) {}

void PairCounts::set(int32_t row, int32_t column, int64_t value) {
  const size_t i = place(row, column);
  count[i] = value;
  f[i] = n_log_n(value);
  one[i] = n_log_n(value + 1) - f[i];
  two[i] = n_log_n(value + 2) - f[i];
}

void PairCounts::add_gains(int32_t row, int64_t more, std::span<double> sums) const {
  const size_t begin = place(row, 0);
  const size_t n = sums.size();
  double* const out = sums.data();
  if (more <= 2) {
    const double* const gain = (more == 1 ? one : two).data() + begin;
    for (size_t c = 0; c < n; ++c) out[c] += gain[c];
    return;
  }
  const int64_t* const counts = count.data() + begin;
  const double* const values = f.data() + begin;
  for (size_t c = 0; c < n; ++c) out[c] += n_log_n(counts[c] + more) - values[c];
}

Exchange::Exchange(const WordBigrams& bigrams, int32_t n_classes, std::span<const int32_t> classes)
    : bigrams_(bigrams),
      n_classes_(n_classes),
      classes_(classes.begin(), classes.end()),
      forward_(n_classes + 1, n_classes + 1),
      backward_(n_classes + 1, n_classes + 1),
      totals_(1, n_classes + 1),
      before_{std::vector<int64_t>(at(n_classes) + 1), {}},
      after_{std::vector<int64_t>(at(n_classes) + 1), {}},
      sums_(at(n_classes)),
      kept_(at(n_classes) + 1) {
  if (n_classes < 1) throw std::invalid_argument("there must be at least one class");
  if (static_cast<int32_t>(classes.size()) != bigrams.n_words())
    throw std::invalid_argument("one class is needed for each word");
  for (const int32_t c : classes)
    if (c < 0 || c >= n_classes) throw std::invalid_argument("a class is out of range");
  classes_.push_back(n_classes);
  std::vector<int64_t> pairs(at(n_classes + 1) * at(n_classes + 1)), totals(at(n_classes) + 1);
  for (int32_t word = 0; word <= bigrams.n_words(); ++word) {
    const int32_t own = classes_[at(word)];
    totals[at(own)] += bigrams.count(word);
    for (const Neighbour& next : bigrams.after(word)) pairs[forward_.place(own, classes_[at(next.word)])] += next.count;
  }
  for (int32_t a = 0; a <= n_classes; ++a) {
    totals_.set(0, a, totals[at(a)]);
    for (int32_t b = 0; b <= n_classes; ++b) {
      forward_.set(a, b, pairs[forward_.place(a, b)]);
      backward_.set(b, a, pairs[forward_.place(a, b)]);
    }
  }
}

std::vector<int32_t> Exchange::by_id() const {
  std::vector<int32_t> result(at(bigrams_.n_ids()), -1);
  for (int32_t word = 0; word < bigrams_.n_words(); ++word) result[at(bigrams_.id(word))] = classes_[at(word)];
  return result;
}

double Exchange::likelihood() const {
  double sum = std::accumulate(forward_.f.begin(), forward_.f.end(), 0.0);
  for (int32_t c = 0; c <= n_classes_; ++c) sum -= 2 * totals_.value(0, c);
  for (int32_t word = 0; word <= bigrams_.n_words(); ++word) sum += n_log_n(bigrams_.count(word));
  return sum;
}

void Exchange::gather(int32_t word, std::span<const Neighbour> neighbours, Context& into) {
  for (const int32_t c : into.classes) into.count[at(c)] = 0;
  into.classes.clear();
  for (const Neighbour& neighbour : neighbours) {
    if (neighbour.word == word) {
      twice_ = neighbour.count;
      continue;
    }
    const int32_t c = classes_[at(neighbour.word)];
    if (into.count[at(c)] == 0) into.classes.push_back(c);
    into.count[at(c)] += neighbour.count;
  }
}

void Exchange::gather(int32_t word) {
  twice_ = 0;
  gather(word, bigrams_.before(word), before_);
  gather(word, bigrams_.after(word), after_);
}

// Pairs of which one class is a candidate and the other another one, which stands `context.count` times beside the
// word. The word is still in the class `from`: pairs of `from` and a candidate hold what the word stands on its `other`
// side beside the candidate, which a removal would take away.
void Exchange::weigh_side(const PairCounts& pairs, const Context& context, const Context& other, int32_t from) {
  for (const int32_t c : context.classes) {
    const int64_t more = context.count[at(c)];
    if (c == from) {
      for (const int32_t candidate : other.classes)
        if (candidate < n_classes_) kept_[at(candidate)] = sums_[at(candidate)];
      pairs.add_gains(c, more, sums_);
      for (const int32_t candidate : other.classes) {
        if (candidate == n_classes_) continue;
        const int64_t rest = pairs.n(c, candidate) - other.count[at(candidate)];
        sums_[at(candidate)] = kept_[at(candidate)] + n_log_n(rest + more) - n_log_n(rest);
      }
    } else if (c == n_classes_) {
      pairs.add_gains(c, more, sums_);
    } else {
      const double kept = sums_[at(c)];  // a class beside itself is weighed below
      pairs.add_gains(c, more, sums_);
      sums_[at(c)] = kept;
    }
  }
}

double Exchange::insertion_where_it_is(int32_t word) const {
  const int32_t own = classes_[at(word)];
  double sum = -2 * (totals_.value(0, own) - n_log_n(totals_.n(0, own) - bigrams_.count(word)));
  for (const int32_t c : before_.classes)
    if (c != own) sum += forward_.value(c, own) - n_log_n(forward_.n(c, own) - before_.count[at(c)]);
  for (const int32_t c : after_.classes)
    if (c != own) sum += forward_.value(own, c) - n_log_n(forward_.n(own, c) - after_.count[at(c)]);
  const int64_t inside = before_.count[at(own)] + after_.count[at(own)] + twice_;
  return sum + forward_.value(own, own) - n_log_n(forward_.n(own, own) - inside);
}

void Exchange::weigh(int32_t word) {
  gather(word);
  const int32_t own = classes_[at(word)];
  std::fill(sums_.begin(), sums_.end(), 0.0);
  totals_.add_gains(0, bigrams_.count(word), sums_);
  for (double& sum : sums_) sum *= -2;
  weigh_side(forward_, before_, after_, own);
  weigh_side(backward_, after_, before_, own);
  for (int32_t c = 0; c < n_classes_; ++c) {
    const int64_t inside = before_.count[at(c)] + after_.count[at(c)] + twice_;
    if (inside > 0) sums_[at(c)] += n_log_n(forward_.n(c, c) + inside) - forward_.value(c, c);
  }
  sums_[at(own)] = insertion_where_it_is(word);
}

void Exchange::gains(int32_t word, std::span<double> out) {
  weigh(word);
  const double here = sums_[at(classes_[at(word)])];
  for (int32_t c = 0; c < n_classes_; ++c) out[at(c)] = sums_[at(c)] - here;
}

void Exchange::change(int32_t before, int32_t after, int64_t more) {
  forward_.add(before, after, more);
  const size_t i = forward_.place(before, after), j = backward_.place(after, before);
  backward_.count[j] = forward_.count[i];
  backward_.f[j] = forward_.f[i];
  backward_.one[j] = forward_.one[i];
  backward_.two[j] = forward_.two[i];
}

void Exchange::move(int32_t word, int32_t to) {
  gather(word);
  const int32_t from = classes_[at(word)];
  if (from == to) return;
  for (const auto& [c, sign] : {std::pair{from, -1}, std::pair{to, 1}}) {
    for (const int32_t other : before_.classes) change(other, c, sign * before_.count[at(other)]);
    for (const int32_t other : after_.classes) change(c, other, sign * after_.count[at(other)]);
    if (twice_ > 0) change(c, c, sign * twice_);
    totals_.add(0, c, sign * bigrams_.count(word));
  }
  classes_[at(word)] = to;
}

int64_t Exchange::sweep(Control& control) {
  int64_t n_moved = 0;
  for (int32_t word = 0; word < bigrams_.n_words(); ++word) {
    control.check();
    weigh(word);
    const int32_t own = classes_[at(word)];
    const auto best = static_cast<int32_t>(std::max_element(sums_.begin(), sums_.end()) - sums_.begin());
    if (sums_[at(best)] > sums_[at(own)] + kLeastGain) {
      move(word, best);
      ++n_moved;
    }
    control.advance();
  }
  return n_moved;
}

std::vector<int32_t> starting_classes(int32_t n_words, int32_t n_classes, Start start) {
  std::vector<int32_t> classes(at(n_words));
  for (int32_t word = 0; word < n_words; ++word)
    classes[at(word)] = start == Start::ALONE ? std::min(word, n_classes - 1) : word % n_classes;
  return classes;
}

namespace {

Clustering cluster_from(const WordBigrams& bigrams, int32_t n_classes, Start start, int32_t max_sweeps,
                        Control& control) {
  Clustering result;
  Exchange exchange(bigrams, n_classes, starting_classes(bigrams.n_words(), n_classes, start));
  result.start = exchange.likelihood();
  while (!result.converged && result.n_sweeps < max_sweeps) {
    result.converged = exchange.sweep(control) == 0;
    ++result.n_sweeps;
  }
  result.likelihood = exchange.likelihood();
  result.classes = exchange.by_id();
  return result;
}

}  // namespace

std::vector<Clustering> cluster(const WordBigrams& bigrams, std::span<const int32_t> sizes, int32_t max_sweeps,
                                int n_threads, Control& control) {
  for (const int32_t n : sizes)
    if (n < 1 || n > bigrams.n_words()) throw std::invalid_argument("the number of classes is out of range");
  struct Task {
    size_t level;
    Start start;
  };
  std::vector<Task> tasks;
  for (size_t level = 0; level < sizes.size(); ++level)
    for (const Start start : {Start::ALONE, Start::DEALT}) tasks.push_back({level, start});
  // The largest take longest, so they begin.
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](const Task& a, const Task& b) { return sizes[a.level] > sizes[b.level]; });
  std::vector<Clustering> alone(sizes.size()), dealt(sizes.size());
  parallel_chunks(static_cast<int64_t>(tasks.size()), 1, n_threads, control, [&](int64_t i, int64_t, int) {
    const auto [level, start] = tasks[at(i)];
    (start == Start::ALONE ? alone : dealt)[level] = cluster_from(bigrams, sizes[level], start, max_sweeps, control);
  });
  for (size_t level = 0; level < sizes.size(); ++level)
    if (dealt[level].likelihood > alone[level].likelihood) alone[level] = std::move(dealt[level]);
  return alone;
}

}  // namespace dragoman::corpus
