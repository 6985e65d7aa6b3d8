#include "core/search/phrase_option_builder.hh"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <unordered_map>

#include "core/base/parallel.hh"
#include "core/templates/feature_columns.hh"

namespace dragoman::search {

namespace {

// An option by its place: what its pair looks like is the same wherever it stands.
struct Place {
  uint32_t sentence, option;
};

template <typename T>
void copy_to(std::span<const T> from, std::vector<T>& to, size_t place) {
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(place));
}

OrientationFeatures oriented(templates::OrientationParts& parts, const std::vector<uint32_t>& pair_of_option,
                             size_t n_words, templates::FeatureIds& ids) {
  OrientationFeatures out;
  const auto append = [&](RaggedVector<int32_t>& to, std::vector<int32_t>& edges, size_t row) {
    const auto found = parts.rows()[static_cast<int64_t>(row)];
    to.values.insert(to.values.end(), found.begin(), found.end());
    to.offsets.push_back(static_cast<int64_t>(to.values.size()));
    if (!parts.has_blocks()) return;
    edges.push_back(parts.block_targets()[2 * row]);
    edges.push_back(parts.block_targets()[2 * row + 1]);
  };
  for (const uint32_t pair : pair_of_option) append(out.of_option, out.block_targets, pair);
  const size_t first_word = at(parts.rows().size()) - n_words;
  for (size_t w = 0; w < n_words; ++w) append(out.of_word, out.block_passed, first_word + w);
  out.block_sources = parts.block_sources();
  out.gap_words = parts.gap_words();
  if (parts.has_blocks()) {
    const auto start = parts.block_start();
    out.block_start.assign(start.begin(), start.end());
  }
  templates::FeatureColumns features = parts.number(ids);
  out.feature_ids = {{features.offsets.begin(), features.offsets.end()}, std::move(features.ids)};
  out.feature_values = std::move(features.values);
  return out;
}

templates::RuleSight view_of(std::span<const int32_t> source, const grammar::TranslationOption& option) {
  return {source, option.target, option.alignment, option.count, option.pair};
}

}  // namespace

OptionBuilder::Draft OptionBuilder::draft(const Sentences& sentences, int n_threads, Control& control) const {
  const auto n_sentences = at(sentences.size());
  std::vector<grammar::OptionList> lists(n_sentences);
  parallel_chunks(sentences.size(), 1, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t s = begin; s < end; ++s) view_.options(sentences[s], lists[at(s)]);
  });

  Draft draft;
  PhraseBatch& out = draft.options;
  out.pass_through.offsets.assign(sentences.offsets.begin(), sentences.offsets.end());
  out.pass_through.values.assign(sentences.values.size(), kMustPass);
  out.first.assign(n_sentences + 1, 0);
  for (size_t s = 0; s < n_sentences; ++s)
    out.first[s + 1] = out.first[s] + static_cast<int64_t>(lists[s].options.size());
  const size_t n = at(out.first.back());
  if (n >= std::numeric_limits<uint32_t>::max()) throw std::invalid_argument("too many sentences for one batch");
  const auto n_columns = static_cast<size_t>(view_.n_reordering());
  out.n_scores = grammar::kNumPhraseScores;
  out.n_orientations = view_.n_reordering();
  out.targets.offsets.assign(n + 1, 0);
  for (size_t s = 0, i = 0; s < n_sentences; ++s)
    for (const grammar::TranslationOption& option : lists[s].options) {
      out.targets.offsets[i + 1] = out.targets.offsets[i] + static_cast<int64_t>(option.target.size());
      ++i;
    }
  out.begin.resize(n);
  out.end.resize(n);
  out.rules.resize(n);
  out.counts.resize(n);
  out.scores.resize(n * grammar::kNumPhraseScores);
  out.orientations.resize(n * n_columns);
  out.targets.values.resize(at(out.targets.offsets.back()));
  parallel_chunks(sentences.size(), 16, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t s = begin; s < end; ++s) {
      const grammar::OptionList& list = lists[at(s)];
      size_t i = at(out.first[at(s)]);
      copy_to(std::span<const float>(list.reordering), out.orientations, i * n_columns);
      for (const grammar::TranslationOption& option : list.options) {
        out.begin[i] = option.begin;
        out.end[i] = option.end;
        out.rules[i] = option.pair;
        out.counts[i] = option.count;
        copy_to(std::span<const float>(option.scores), out.scores, i * grammar::kNumPhraseScores);
        copy_to(option.target, out.targets.values, at(out.targets.offsets[i]));
        if (option.end - option.begin == 1) out.pass_through.values[at(sentences.offsets[at(s)] + option.begin)] = 0;
        ++i;
      }
    }
  });
  if (templates_.empty()) return draft;

  std::unordered_map<int64_t, uint32_t> row_of_pair;
  std::vector<Place> first_use;
  draft.pair_of_option.reserve(n);
  for (uint32_t s = 0; s < n_sentences; ++s)
    for (uint32_t o = 0; o < lists[s].options.size(); ++o) {
      const auto [found, is_new] =
          row_of_pair.try_emplace(lists[s].options[o].pair, static_cast<uint32_t>(first_use.size()));
      if (is_new) first_use.push_back({s, o});
      draft.pair_of_option.push_back(found->second);
    }
  draft.rows.resize((first_use.size() + kChunk - 1) / kChunk);
  parallel_chunks(static_cast<int64_t>(draft.rows.size()), 1, n_threads, control, [&](int64_t chunk, int64_t, int) {
    const size_t end = std::min(first_use.size(), (at(chunk) + 1) * kChunk);
    for (size_t row = at(chunk) * kChunk; row < end; ++row) {
      const auto [s, o] = first_use[row];
      const grammar::TranslationOption& option = lists[s].options[o];
      const auto source = sentences[s].subspan(at(option.begin), at(option.end - option.begin));
      templates_.features(view_of(source, option), draft.rows[at(chunk)]);
    }
  });
  if (templates_.has_orientations()) {
    draft.parts.emplace(templates_);
    for (const auto [s, o] : first_use) {
      const grammar::TranslationOption& option = lists[s].options[o];
      draft.parts->add_phrase(sentences[s].subspan(at(option.begin), at(option.end - option.begin)), option.target);
    }
    for (const int32_t word : sentences.values) {
      draft.parts->add_passed(word);
      draft.parts->add_source(word);
    }
  }
  if (!templates_.has_contexts()) return draft;
  draft.context_rows.assign((n_sentences + at(kContextSentences) - 1) / at(kContextSentences),
                            templates::ContextRows(templates_));
  parallel_chunks(sentences.size(), kContextSentences, n_threads, control, [&](int64_t begin, int64_t end, int) {
    templates::ContextRows& rows = draft.context_rows[at(begin / kContextSentences)];
    for (int64_t s = begin; s < end; ++s) {
      const auto words = sentences[s];
      for (const grammar::TranslationOption& option : lists[at(s)].options) {
        const auto first = at(option.begin), after = at(option.end);
        rows.add(view_of(words.subspan(first, after - first), option), 0, after - first,
                 first == 0 ? templates::kSentenceBegin : words[first - 1],
                 after == words.size() ? templates::kSentenceEnd : words[after]);
        rows.end_row();
      }
    }
    rows.finish();
  });
  return draft;
}

PhraseBatch OptionBuilder::finish(Draft&& draft, const PassedWords& passed, const names::FeatureIndex& index,
                                  bool keep_new, const templates::Blocks* blocks) {
  PhraseBatch& out = draft.options;
  const size_t n = out.rules.size();
  pass(passed, out.pass_through.values);
  out.own_words = passed.own_words;
  auto& ids = out.feature_ids.values;
  out.feature_ids.offsets.assign(n + 1, 0);
  if (draft.rows.empty() && !draft.parts) return checked(std::move(out));

  templates::FeatureIds numbers(index, keep_new, blocks);
  const templates::FeatureColumns of_pair = templates::number_rows(draft.rows, numbers);
  templates::FeatureColumns of_option;
  for (const templates::ContextRows& rows : draft.context_rows) rows.number(numbers, of_option);
  if (draft.parts) out.oriented = oriented(*draft.parts, draft.pair_of_option, out.pass_through.values.size(), numbers);
  out.new_features = numbers.new_features();
  out.index_size = index.size();
  for (size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(ids.size());
    const auto append = [&](const templates::FeatureColumns& columns, size_t row) {
      for (size_t f = columns.offsets[row]; f < columns.offsets[row + 1]; ++f) {
        const auto known = std::find(ids.begin() + begin, ids.end(), columns.ids[f]);
        if (known != ids.end() && add_exactly(out.feature_values[at(known - ids.begin())], columns.values[f])) continue;
        ids.push_back(columns.ids[f]);
        out.feature_values.push_back(columns.values[f]);
      }
    };
    append(of_pair, draft.pair_of_option[i]);
    if (!draft.context_rows.empty()) append(of_option, i);
    out.feature_ids.offsets[i + 1] = static_cast<int64_t>(ids.size());
  }
  return checked(std::move(out));
}

}  // namespace dragoman::search
