#include "core/search/phrase_prepare.hh"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <unordered_map>

namespace dragoman::search {

std::span<const int32_t> target_of(const PhraseBatch& batch, int64_t sentence, const Option& option) {
  if (option.source >= 0) return batch.targets[option.source];
  return batch.pass_through[sentence].subspan(at(-1 - option.source), 1);
}

std::span<const int32_t> parts_of(const PhraseBatch& batch, int64_t sentence, const Option& option) {
  if (option.kind == OptionKind::kDeleted) return {};
  if (option.source >= 0) return batch.oriented->of_option[option.source];
  return batch.oriented->of_word[batch.pass_through.offsets[at(sentence)] - 1 - option.source];
}

void append_local_features(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                           const Option& option, std::vector<forest::Feature>& out) {
  const auto add = [&](int32_t id, float value) {
    if (id >= 0 && value != 0) out.push_back({id, value});
  };
  add(features.words, static_cast<float>(target_of(batch, sentence, option).size()));
  if (option.source < 0) {
    add(features.unknown, 1);
    return;
  }
  add(features.phrases, 1);
  const size_t n_scores = features.scores.size();
  for (size_t i = 0; i < n_scores; ++i) add(features.scores[i], batch.scores[at(option.source) * n_scores + i]);
  const auto begin = at(batch.feature_ids.offsets[at(option.source)]);
  const auto end = at(batch.feature_ids.offsets[at(option.source) + 1]);
  for (size_t i = begin; i < end; ++i) add(batch.feature_ids.values[i], batch.feature_values[i]);
}

void Prepared::collect(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                       std::span<const double> weights, const std::function<bool(const Option&)>& wanted) {
  n_words = static_cast<int32_t>(batch.pass_through[sentence].size());
  max_length = 1;
  options.clear();
  const auto& o = batch;
  std::vector<char> has_option(at(n_words));
  std::vector<forest::Feature> local;
  const auto add = [&](SourceSpan span, int64_t source) {
    Option option{span, 0, 0, 0, {}, source, 0, 0};
    if (wanted && !wanted(option)) return;
    local.clear();
    append_local_features(batch, sentence, features, option, local);
    for (const forest::Feature& f : local) option.local += weight_of(weights, f.id) * static_cast<double>(f.value);
    options.push_back(option);
  };
  for (int64_t i = o.first[at(sentence)]; i < o.first[at(sentence) + 1]; ++i) {
    const SourceSpan span{o.begin[at(i)], o.end[at(i)]};
    max_length = std::max(max_length, span.end - span.begin);
    if (span.end - span.begin == 1) has_option[at(span.begin)] = 1;
    add(span, i);
  }
  for (int32_t p = 0; p < n_words; ++p)
    if (!has_option[at(p)]) add({p, p + 1}, -1 - p);
  group();
}

void Prepared::add(std::span<const Option> more) {
  options.insert(options.end(), more.begin(), more.end());
  group();
}

// By span, in the order they came.
void Prepared::group() {
  span_first.assign(at(n_words) * at(max_length) + 1, 0);
  for (const Option& option : options) ++span_first[place_of(option.span) + 1];
  for (size_t i = 1; i < span_first.size(); ++i) span_first[i] += span_first[i - 1];
  std::vector<uint32_t> next(span_first.begin(), span_first.end() - 1);
  std::vector<Option> grouped(options.size());
  for (const Option& option : options) grouped[next[place_of(option.span)]++] = option;
  options.swap(grouped);
}

void Prepared::finish(const PhraseBatch& batch, const PhraseFeatures& features, std::span<const double> weights,
                      const PhraseSettings& settings) {
  // By span, then by estimate; places after the limit go.
  std::sort(options.begin(), options.end(), [&](const Option& a, const Option& b) {
    return std::tuple(place_of(a.span), -a.estimate, a.source) < std::tuple(place_of(b.span), -b.estimate, b.source);
  });
  if (settings.option_limit > 0) {
    int32_t n_here = 0;
    SourceSpan span{-1, -1};
    std::erase_if(options, [&](const Option& option) {
      n_here = option.span == span ? n_here + 1 : 1;
      span = option.span;
      return n_here > settings.option_limit;
    });
  }
  group();
  std::vector<double> best(span_first.size() - 1, -std::numeric_limits<double>::infinity());
  for (const Option& option : options) {
    best[place_of(option.span)] = std::max(best[place_of(option.span)], option.estimate);
  }
  costs.compute(n_words, max_length, best, settings.distortion_limit < 0 ? n_words : settings.distortion_limit);

  n_backward = n_forward = 0;
  for (const ReorderingFeatures& model : features.reordering) {
    n_backward += model.backward.size();
    n_forward += model.forward.size();
  }
  backward.assign(options.size() * n_backward, 0);
  // Class 0 stands before the first phrase.
  carry_scores.assign(n_forward, 0);
  std::unordered_map<std::string, uint32_t> classes;
  std::string key;
  uint32_t n_classes = 1;
  std::vector<float> scores(n_forward);
  for (size_t i = 0; i < options.size(); ++i) {
    Option& option = options[i];
    std::fill(scores.begin(), scores.end(), 0.0f);
    if (option.source >= 0) {
      const float* row = batch.orientations.data() + at(option.source) * (n_backward + n_forward);
      size_t b = i * n_backward, f = 0;
      for (const ReorderingFeatures& model : features.reordering) {
        for (const int32_t id : model.backward) backward[b++] = weight_of(weights, id) * static_cast<double>(*row++);
        for (size_t c = 0; c < model.forward.size(); ++c) scores[f++] = *row++;
      }
    }
    key.assign(reinterpret_cast<const char*>(scores.data()), scores.size() * sizeof(float));
    const auto [found, is_new] = classes.try_emplace(key, n_classes);
    option.carry = found->second;
    if (!is_new) continue;
    ++n_classes;
    carry_scores.insert(carry_scores.end(), scores.begin(), scores.end());
  }
  forward.assign(carry_scores.begin(), carry_scores.end());
  for (size_t c = 0, i = 0; c < n_classes; ++c)
    for (const ReorderingFeatures& model : features.reordering)
      for (const int32_t id : model.forward) forward[i++] *= weight_of(weights, id);

  oriented.clear();
  gaps_left.clear();
  gaps_right.clear();
}

void Prepared::orient(const PhraseBatch& batch, int64_t sentence, std::span<const double> part_sums) {
  const OrientationFeatures& features = *batch.oriented;
  const bool has_blocks = !features.block_start.empty();
  const auto sum_of = [&](int32_t part, grammar::Orientation o) {
    return part_sums[at(part) * templates::kOrientations + static_cast<size_t>(o)];
  };
  const auto first_word = at(batch.pass_through.offsets[at(sentence)]);
  oriented.assign(options.size() * templates::kOrientations, 0);
  for (size_t i = 0; i < options.size(); ++i) {
    Option& option = options[i];
    double* sums = oriented.data() + i * templates::kOrientations;
    for (const int32_t part : parts_of(batch, sentence, option)) {
      const double* row = part_sums.data() + at(part) * templates::kOrientations;
      for (size_t o = 0; o < templates::kOrientations; ++o) sums[o] += row[o];
    }
    if (!has_blocks || option.kind == OptionKind::kDeleted) continue;
    const int32_t* edges = option.source >= 0
                               ? features.block_targets.data() + 2 * at(option.source)
                               : features.block_passed.data() + 2 * (first_word + at(-1 - option.source));
    option.target = {edges[0], edges[1]};
  }
  if (features.gap_words.empty()) return;
  gaps_left.assign(1, 0);
  gaps_right.assign(1, 0);
  for (size_t p = 0; p < at(n_words); ++p) {
    const int32_t part = features.gap_words[first_word + p];
    gaps_left.push_back(gaps_left.back() + sum_of(part, grammar::Orientation::kLeft));
    gaps_right.push_back(gaps_right.back() + sum_of(part, grammar::Orientation::kRight));
  }
}

std::vector<double> weighted_parts(const PhraseBatch& batch, std::span<const double> weights) {
  std::vector<double> sums;
  if (!batch.oriented) return sums;
  const OrientationFeatures& oriented = *batch.oriented;
  sums.reserve(at(oriented.feature_ids.size()));
  for (size_t row = 0; row < at(oriented.feature_ids.size()); ++row) {
    double sum = 0;
    for (auto f = at(oriented.feature_ids.offsets[row]); f < at(oriented.feature_ids.offsets[row + 1]); ++f)
      sum += weight_of(weights, oriented.feature_ids.values[f]) * static_cast<double>(oriented.feature_values[f]);
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace dragoman::search
