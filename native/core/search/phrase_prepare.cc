#include "core/search/phrase_prepare.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>

namespace dragoman::search {

namespace {

size_t n_columns(const PhraseFeatures& features) {
  size_t n = 0;
  for (const ReorderingFeatures& model : features.reordering) n += model.backward.size() + model.forward.size();
  return n;
}

size_t at(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

void PhraseBatch::check(const PhraseFeatures& features) const {
  const auto fail = [](const std::string& why) { throw std::invalid_argument("translation options: " + why); };
  const auto n = options.begin.size();
  if (options.first.size() != at(size()) + 1) fail("one offset more than there are sentences is needed");
  Ragged<int32_t>{options.first, options.begin}.check("translation options");
  if (options.end.size() != n || at(options.targets.size()) != n || options.rules.size() != n ||
      at(options.feature_ids.size()) != n)
    fail("the arrays have different lengths");
  if (options.scores.size() != n * features.scores.size()) fail("every option needs a value for each score");
  if (options.orientations.size() != n * n_columns(features))
    fail("every option needs a value for each orientation of each reordering model");
  if (options.feature_values.size() != options.feature_ids.values.size()) fail("a feature has no value");
  for (const int32_t id : options.feature_ids.values)
    if (id < 0) fail("feature ids must not be negative");
  for (const int32_t word : options.targets.values)
    if (word < 0) fail("target words must not be negative");
  for (const int32_t word : pass_through.values)
    if (word < 0) fail("target words must not be negative");
  for (const float value : options.scores)
    if (!std::isfinite(value)) fail("a score is not finite");
  for (const float value : options.orientations)
    if (!std::isfinite(value)) fail("an orientation's log probability is not finite");
  for (const float value : options.feature_values)
    if (!std::isfinite(value)) fail("a feature value is not finite");
  for (int64_t s = 0; s < size(); ++s) {
    const auto length = static_cast<int32_t>(pass_through[s].size());
    for (int64_t o = options.first[at(s)]; o < options.first[at(s) + 1]; ++o)
      if (options.begin[at(o)] < 0 || options.begin[at(o)] >= options.end[at(o)] || options.end[at(o)] > length)
        fail("an option's span is not inside its sentence");
  }
}

std::span<const int32_t> target_of(const PhraseBatch& batch, int64_t sentence, const Option& option) {
  if (option.source >= 0) return batch.options.targets[option.source];
  return batch.pass_through[sentence].subspan(at(-1 - option.source), 1);
}

PhraseSight view_of(const PhraseBatch& batch, int64_t sentence, const Option& option) {
  return {option.span, target_of(batch, sentence, option),
          option.source >= 0 ? batch.options.rules[at(option.source)] : -1};
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
  for (size_t i = 0; i < n_scores; ++i) add(features.scores[i], batch.options.scores[at(option.source) * n_scores + i]);
  const auto begin = at(batch.options.feature_ids.offsets[at(option.source)]);
  const auto end = at(batch.options.feature_ids.offsets[at(option.source) + 1]);
  for (size_t i = begin; i < end; ++i) add(batch.options.feature_ids.values[i], batch.options.feature_values[i]);
}

void Prepared::collect(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                       std::span<const double> weights) {
  n_words = static_cast<int32_t>(batch.pass_through[sentence].size());
  max_length = 1;
  options.clear();
  const auto& o = batch.options;
  std::vector<char> has_option(at(n_words));
  std::vector<forest::Feature> local;
  const auto add = [&](SourceSpan span, int64_t source) {
    Option option{span, 0, 0, 0, -1, source, 0, 0};
    const auto words = target_of(batch, sentence, option);
    if (!words.empty()) option.first_target = words[0];
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

void Prepared::finish(const PhraseBatch& batch, int64_t sentence, const PhraseFeatures& features,
                      std::span<const double> weights,
                      std::span<const std::shared_ptr<const TransitionTemplate>> templates,
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
  carry_states.assign(templates.size(), 0);
  std::unordered_map<std::string, uint32_t> classes;
  std::string key;
  uint32_t n_classes = 1;
  std::vector<float> scores(n_forward);
  std::vector<int64_t> states(templates.size());
  for (size_t i = 0; i < options.size(); ++i) {
    Option& option = options[i];
    std::fill(scores.begin(), scores.end(), 0.0f);
    if (option.source >= 0) {
      const float* row = batch.options.orientations.data() + at(option.source) * (n_backward + n_forward);
      size_t b = i * n_backward, f = 0;
      for (const ReorderingFeatures& model : features.reordering) {
        for (const int32_t id : model.backward) backward[b++] = weight_of(weights, id) * static_cast<double>(*row++);
        for (size_t c = 0; c < model.forward.size(); ++c) scores[f++] = *row++;
      }
    }
    for (size_t t = 0; t < templates.size(); ++t) states[t] = templates[t]->state(view_of(batch, sentence, option));
    key.assign(reinterpret_cast<const char*>(scores.data()), scores.size() * sizeof(float));
    key.append(reinterpret_cast<const char*>(states.data()), states.size() * sizeof(int64_t));
    const auto [found, is_new] = classes.try_emplace(key, n_classes);
    option.carry = found->second;
    if (!is_new) continue;
    ++n_classes;
    carry_scores.insert(carry_scores.end(), scores.begin(), scores.end());
    carry_states.insert(carry_states.end(), states.begin(), states.end());
  }
  forward.assign(carry_scores.begin(), carry_scores.end());
  for (size_t c = 0, i = 0; c < n_classes; ++c)
    for (const ReorderingFeatures& model : features.reordering)
      for (const int32_t id : model.forward) forward[i++] *= weight_of(weights, id);
}

}  // namespace dragoman::search
