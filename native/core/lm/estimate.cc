#include "core/lm/estimate.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/base/errors.hh"
#include "core/lm/assemble.hh"
#include "core/lm/count.hh"

namespace dragoman::lm {

namespace {

constexpr uint32_t kGone = std::numeric_limits<uint32_t>::max();
constexpr size_t kAhead = 16;  // prefetch distance, to hide memory latency

void check_options(const EstimateOptions& options) {
  if (options.order < 1 || options.order > kMaxOrder)
    throw InputError("the order must be from 1 to " + std::to_string(kMaxOrder) + ", not " +
                     std::to_string(options.order));
  if (options.prune.size() != static_cast<size_t>(options.order))
    throw InputError("expected one pruning threshold per order");
  if (options.prune[0] != 0) throw InputError("unigrams cannot be pruned; the first threshold must be 0");
  if (!std::is_sorted(options.prune.begin(), options.prune.end()))
    throw InputError("pruning thresholds must not decrease with the order");
  for (size_t k = 0; options.has_fallback && k < 3; ++k)
    if (!(options.fallback[k] >= 0 && options.fallback[k] <= static_cast<double>(k + 1)))
      throw InputError("the fallback discount of count " + std::to_string(k + 1) + " must be from 0 to " +
                       std::to_string(k + 1));
}

// Chen and Goodman's closed form, equation 26. Returns nothing, and sets `why`, if the counts do not allow it.
std::optional<Discounts> discounts_of(const Counts& level, size_t n, std::string& why) {
  std::array<uint64_t, 5> n_with{};  // number of n-grams with adjusted count 1, 2, 3, 4
  for (const uint32_t count : level.adjusted)
    if (count < n_with.size()) ++n_with[count];
  Discounts result{};
  const auto share = static_cast<double>(n_with[1]) / static_cast<double>(n_with[1] + 2 * n_with[2]);
  for (size_t k = 1; k <= 3; ++k) {
    if (n_with[k] == 0) {
      why = "no " + std::to_string(n) + "-gram has adjusted count " + std::to_string(k);
      return std::nullopt;
    }
    result[k] =
        static_cast<double>(k) - static_cast<double>((k + 1) * n_with[k + 1]) * share / static_cast<double>(n_with[k]);
    if (result[k] < 0) {
      why = "the discount of " + std::to_string(n) + "-grams with adjusted count " + std::to_string(k) + " is negative";
      return std::nullopt;
    }
  }
  return result;
}

void set_discounts(const std::vector<Counts>& counts, const EstimateOptions& options, Estimated& result) {
  for (size_t n = 1; n <= counts.size(); ++n) {
    std::string why;
    auto discounts = discounts_of(counts[n - 1], n, why);
    if (!discounts && !options.has_fallback)
      throw InputError("Kneser-Ney discounts cannot be computed from this text (" + why +
                       "); it is too small or artificial: give fallback discounts, or a lower order");
    if (!discounts) {
      discounts = {0, options.fallback[0], options.fallback[1], options.fallback[2]};
      result.fallback_orders.push_back(static_cast<int>(n));
    }
    result.discounts.push_back(*discounts);
  }
}

// Sums over a context's extensions: counts, and the mass left to the lower order.
struct Sums {
  double freed = 0;
  uint64_t total = 0;
  double gamma() const { return freed / static_cast<double>(total); }
};

void add(Sums& sums, uint32_t count, bool pruned, const Discounts& discounts) {
  sums.total += count;
  sums.freed += pruned ? count : discounts[std::min<uint32_t>(count, 3)];
}

double own_share(uint32_t count, const Sums& sums, const Discounts& discounts) {
  return (count - discounts[std::min<uint32_t>(count, 3)]) / static_cast<double>(sums.total);
}

// Discounts of exactly 0 leave no mass to the lower order; no format can represent minus infinity.
float log_of(double p) { return p < 1e-100 ? kMissingUnk : static_cast<float>(std::log(p)); }

// Unigrams and <unk> share the remaining mass uniformly; <s> is never predicted.
std::vector<float> unigram_probs(const Counts& level, const Discounts& discounts) {
  Sums sums;
  for (const uint32_t count : level.adjusted) add(sums, count, false, discounts);
  const size_t n_words = level.adjusted.size();
  const double uniform = sums.gamma() / static_cast<double>(n_words - 1);
  std::vector<float> probs(n_words);
  for (size_t w = 0; w < n_words; ++w)
    probs[w] = static_cast<float>(own_share(level.adjusted[w], sums, discounts) + uniform);
  probs[kBos] = 1;
  return probs;
}

// Turns counts into probabilities, order by order. `places` maps n-grams of the next lower order to their indices after
// pruning; empty if none were pruned.
class Interpolator {
 public:
  explicit Interpolator(std::vector<Counts>&& counts, const std::vector<Discounts>& discounts)
      : counts_(std::move(counts)), discounts_(discounts), levels_(counts_.size()) {}

  std::vector<Level> run(Control& control, int64_t step) {
    probs_ = unigram_probs(counts_[0], discounts_[0]);
    levels_[0].logprob = logs(probs_);
    counts_[0] = Counts{};
    for (size_t n = 1; n < counts_.size(); ++n) {
      control.check();
      control.advance(step);
      interpolate(n);
    }
    control.advance(step);
    return std::move(levels_);
  }

 private:
  static std::vector<float> logs(const std::vector<float>& probs) {
    std::vector<float> result(probs.size());
    for (size_t i = 0; i < probs.size(); ++i) result[i] = log_of(probs[i]);
    return result;
  }

  void interpolate(size_t n) {
    Counts& counts = counts_[n];
    const Discounts& discounts = discounts_[n];
    const size_t size = counts.adjusted.size();
    std::vector<Sums> sums(probs_.size());
    for (size_t g = 0; g < size; ++g) {
      if (g + kAhead < size) __builtin_prefetch(&sums[counts.context[g + kAhead]], 1);
      add(sums[counts.context[g]], counts.adjusted[g], is_pruned(counts, g), discounts);
    }
    set_backoffs(levels_[n - 1], sums);

    Level& level = levels_[n];
    std::vector<float> probs(size);
    std::vector<uint32_t> places;
    if (!counts.pruned.empty()) places.assign(size, kGone);
    for (size_t g = 0; g < size; ++g) {
      if (g + kAhead < size) __builtin_prefetch(&sums[counts.context[g + kAhead]]);
      if (is_pruned(counts, g)) continue;
      const Sums& of_context = sums[counts.context[g]];
      const double p = own_share(counts.adjusted[g], of_context, discounts) +
                       of_context.gamma() * static_cast<double>(probs_[counts.suffix[g]]);
      probs[g] = static_cast<float>(p);
      if (places.empty()) continue;
      places[g] = static_cast<uint32_t>(level.logprob.size());
      level.logprob.push_back(log_of(p));
      level.context.push_back(place(counts.context[g]));
      level.suffix.push_back(place(counts.suffix[g]));
    }
    if (places.empty()) {  // then no lower order was pruned either
      level.logprob = logs(probs);
      level.context = std::move(counts.context);
      level.suffix = std::move(counts.suffix);
    }
    counts = Counts{};
    probs_ = std::move(probs);
    places_ = std::move(places);
  }

  void set_backoffs(Level& below, const std::vector<Sums>& sums) {
    below.backoff.assign(below.logprob.size(), 0);
    for (size_t c = 0; c < sums.size(); ++c)
      if (sums[c].total > 0 && place(static_cast<uint32_t>(c)) != kGone)
        below.backoff[place(static_cast<uint32_t>(c))] = log_of(sums[c].gamma());
  }

  static bool is_pruned(const Counts& counts, size_t g) { return !counts.pruned.empty() && counts.pruned[g] != 0; }
  uint32_t place(uint32_t g) const { return places_.empty() ? g : places_[g]; }

  std::vector<Counts> counts_;
  const std::vector<Discounts>& discounts_;
  std::vector<Level> levels_;
  std::vector<float> probs_;  // of the next lower order, by index before pruning
  std::vector<uint32_t> places_;
};

}  // namespace

void TrainingText::add(const Sentences& sentences, int64_t n_words, std::span<const uint8_t> marks, int excluded) {
  for (int64_t i = 0; i < sentences.size(); ++i) {
    if (!marks.empty() && marks[static_cast<size_t>(i)] == excluded) continue;
    const auto row = sentences[i];
    if (tokens_.size() + row.size() + 2 >= std::numeric_limits<uint32_t>::max())
      throw InputError("the text has more than 2^32 words; use a part of it");
    tokens_.push_back(kBos);
    for (const int32_t id : row) {
      if (id < 0 || id >= n_words || id == static_cast<int32_t>(kBos) || id == static_cast<int32_t>(kEos))
        throw InputError("sentence " + std::to_string(i) + " has the id " + std::to_string(id) +
                         ", which is not a word of the vocabulary");
      tokens_.push_back(static_cast<uint32_t>(id));
    }
    tokens_.push_back(kEos);
    ++n_sentences_;
  }
}

Estimated estimate(const TrainingText& text, const names::WordTable& words, const EstimateOptions& options,
                   Control& control) {
  check_options(options);
  if (text.n_sentences() == 0) throw InputError("there is no text to estimate a model from");
  const auto step = static_cast<int64_t>(text.tokens().size());

  // The words that occur, renumbered in order, and the three reserved ones.
  std::vector<uint32_t> new_ids(static_cast<size_t>(words.size()), kGone);
  new_ids[kUnk] = new_ids[kBos] = new_ids[kEos] = 0;
  for (const uint32_t id : text.tokens()) new_ids[id] = 0;
  names::WordTable seen;
  for (size_t id = 0; id < new_ids.size(); ++id)
    if (new_ids[id] != kGone) new_ids[id] = static_cast<uint32_t>(seen.intern(words.word(static_cast<int32_t>(id))));
  std::vector<uint32_t> tokens(text.tokens().begin(), text.tokens().end());
  for (uint32_t& token : tokens) token = new_ids[token];

  auto counts = count_ngrams(tokens, static_cast<uint32_t>(seen.size()), options.prune, control);
  tokens = {};
  Estimated result;
  set_discounts(counts, options, result);
  auto levels = Interpolator(std::move(counts), result.discounts).run(control, step);
  result.model = assemble(seen, std::move(levels), control, step);
  return result;
}

}  // namespace dragoman::lm
