#include "core/search/derivation_features.hh"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/parallel.hh"
#include "core/forest/forest.hh"
#include "core/search/batch.hh"

namespace dragoman::search {

namespace {

// The features of one sentence's candidates: ids get small numbers in their order, so that sums are in an array and
// rows come out sorted.
class SentenceSums {
 public:
  // Features of the sites, one after the other.
  void start(const DenseFeatures& dense) {
    found_.clear();
    first_.assign(1, 0);
    columns_.assign(dense.ids.begin(), dense.ids.end());
  }
  void add(const templates::FeatureColumns& columns, size_t row) {
    for (size_t f = columns.offsets[row]; f < columns.offsets[row + 1]; ++f) {
      const auto known = std::find_if(found_.begin() + static_cast<std::ptrdiff_t>(first_.back()), found_.end(),
                                      [&](const forest::Feature& g) { return g.id == columns.ids[f]; });
      if (known != found_.end() && add_exactly(known->value, columns.values[f])) continue;
      found_.push_back({columns.ids[f], columns.values[f]});
      columns_.push_back(columns.ids[f]);
    }
  }
  // As they are on an edge, one after the other.
  void append(const templates::FeatureColumns& columns, size_t row) {
    for (size_t f = columns.offsets[row]; f < columns.offsets[row + 1]; ++f) {
      found_.push_back({columns.ids[f], columns.values[f]});
      columns_.push_back(columns.ids[f]);
    }
  }
  void end_site() { first_.push_back(found_.size()); }
  std::span<const forest::Feature> site(uint32_t i) const {
    return std::span(found_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

  // From ids to columns, after the last site.
  void finish(const DenseFeatures& dense) {
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    const auto column_of = [&](int32_t id) {
      return static_cast<int32_t>(std::lower_bound(columns_.begin(), columns_.end(), id) - columns_.begin());
    };
    for (forest::Feature& f : found_) f.id = column_of(f.id);
    dense_.clear();
    for (const int32_t id : dense.ids) dense_.push_back(column_of(id));
    sums_.assign(columns_.size(), 0);
    is_used_.assign((columns_.size() + 63) / 64, 0);
  }

  void apply(uint32_t site) {
    for (size_t f = first_[site]; f < first_[site + 1]; ++f) add_value(at(found_[f].id), found_[f].value);
  }
  void end_candidate(std::span<const float> dense, CandidateFeatures& out) {
    for (size_t i = 0; i < dense.size(); ++i) add_value(at(dense_[i]), dense[i]);
    for (size_t word = 0; word < is_used_.size(); ++word) {
      for (uint64_t rest = std::exchange(is_used_[word], 0); rest != 0; rest &= rest - 1) {
        const size_t column = 64 * word + static_cast<size_t>(std::countr_zero(rest));
        const auto value = static_cast<float>(std::exchange(sums_[column], 0));
        if (value == 0) continue;
        out.ids.push_back(columns_[column]);
        out.values.push_back(value);
      }
    }
    out.offsets.push_back(static_cast<int64_t>(out.ids.size()));
  }

 private:
  void add_value(size_t column, float value) {
    sums_[column] += static_cast<double>(value);
    is_used_[column / 64] |= uint64_t{1} << (column % 64);
  }

  std::vector<forest::Feature> found_;  // by site; first by id, then by column
  std::vector<size_t> first_;
  std::vector<int32_t> columns_, dense_;
  std::vector<double> sums_;
  std::vector<uint64_t> is_used_;  // bits
};

// Adds the features of all sites of a sentence. `context` is the next row of contexts in the sentence's chunk.
void add_sites(const DerivationBatch& batch, const DerivationFeatures::Interned& interned, int64_t sentence,
               size_t chunk, size_t& context, SentenceSums& sums) {
  const DerivationFeatures::Draft& draft = interned.draft;
  const DerivationSites& sites = draft.sites[at(sentence)];
  for (size_t i = 0; i < sites.size(); ++i) {
    const uint32_t row = draft.row_of_application[at(batch.first_application[at(sentence)]) + sites.application[i]];
    if (row != DerivationRules::kPassed) sums.add(interned.rules, row);
    if (!interned.contexts.empty())
      for (int n = draft.n_contexts[at(sentence)][i]; n > 0; --n) sums.add(interned.contexts[chunk], context++);
    if (!draft.rows_of_gaps.empty())
      for (size_t g = sites.first_gap[i]; g < sites.first_gap[i + 1]; ++g)
        sums.add(interned.gaps, at(draft.rows_of_gaps[at(sentence)][g]));
    sums.end_site();
  }
}

}  // namespace

DerivationFeatures::Draft DerivationFeatures::draft(const DerivationBatch& batch, int n_threads,
                                                    Control& control) const {
  batch.check();
  DerivationRules rules(tables_, batch, n_threads, control);
  Draft draft;
  const auto n_rules = static_cast<int64_t>(rules.sights.size());
  draft.rows.resize(at((n_rules + kChunk - 1) / kChunk));
  parallel_chunks(n_rules, kChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) templates_.features(rules.sights[at(r)], draft.rows[at(begin / kChunk)]);
  });
  const auto n_sentences = at(batch.size());
  draft.sites.resize(n_sentences);
  if (templates_.has_contexts()) {
    draft.n_contexts.resize(n_sentences);
    draft.contexts.assign((n_sentences + at(kSentences) - 1) / at(kSentences), templates::ContextRows(templates_));
  }
  if (templates_.has_gaps()) {
    draft.gap_rows = gaps_.rows();
    draft.rows_of_gaps.resize(n_sentences);
  }
  std::vector<int32_t> block_start;
  if (templates_.has_orientations()) {
    block_start = add_parts(batch, rules, draft);
    draft.oriented.resize(n_sentences);
  }
  parallel_chunks(batch.size(), kSentences, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (int64_t s = begin; s < end; ++s) {
      draft.sites[at(s)] = find_sites(batch, rules, s, tables_.is_rules);
      if (draft.parts)
        draft.oriented[at(s)] = find_oriented(batch, s, *draft.parts, draft.parts_of_application, block_start);
      if (!draft.contexts.empty())
        draft.n_contexts[at(s)] =
            add_contexts(batch, rules, s, draft.sites[at(s)], draft.contexts[at(begin / kSentences)]);
      if (!draft.rows_of_gaps.empty())
        draft.rows_of_gaps[at(s)] = gap_rows(rules, at(batch.first_application[at(s)]), draft.sites[at(s)]);
    }
    if (!draft.contexts.empty()) draft.contexts[at(begin / kSentences)].finish();
  });
  if (draft.parts) draft.met = met_parts(draft.oriented, draft.parts->size());
  draft.row_of_application = std::move(rules.row_of_application);
  return draft;
}

std::vector<int32_t> DerivationFeatures::add_parts(const DerivationBatch& batch, const DerivationRules& rules,
                                                   Draft& draft) const {
  draft.parts.emplace(templates_);
  for (const templates::RuleSight& rule : rules.sights) draft.parts->add_phrase(rule.source, rule.target);
  draft.parts_of_application = rules.row_of_application;
  for (int64_t s = 0; s < batch.size(); ++s)
    for (auto a = at(batch.first_application[at(s)]); a < at(batch.first_application[at(s) + 1]); ++a) {
      if (rules.row_of_application[a] != DerivationRules::kPassed) continue;
      draft.parts_of_application[a] = static_cast<uint32_t>(draft.parts->rows().size());
      draft.parts->add_passed(batch.words[s][at(batch.begins[a])]);
    }
  for (const int32_t word : batch.words.values) draft.parts->add_source(word);
  if (!draft.parts->has_blocks()) return {};
  const auto start = draft.parts->block_start();
  return {start.begin(), start.end()};
}

std::vector<uint8_t> DerivationFeatures::add_contexts(const DerivationBatch& batch, const DerivationRules& rules,
                                                      int64_t sentence, const DerivationSites& sites,
                                                      templates::ContextRows& out) const {
  std::vector<uint8_t> n_rows(sites.size());
  const auto words = batch.words[sentence];
  const auto first_application = at(batch.first_application[at(sentence)]);
  for (size_t i = 0; i < sites.size(); ++i) {
    const size_t a = first_application + sites.application[i];
    if (const uint32_t row = rules.row_of_application[a]; row != DerivationRules::kPassed) {
      const templates::RuleSight& rule = rules.sights[row];
      const auto gaps = sites.gaps_of(i);
      auto place = at(batch.begins[a]);
      for (size_t symbol = 0, gap = 0; symbol < rule.source.size();) {
        if (!templates::is_word(rule.source[symbol])) {
          place = at(gaps[gap++].end);
          ++symbol;
          continue;
        }
        size_t end = symbol + 1;
        while (end < rule.source.size() && templates::is_word(rule.source[end])) ++end;
        const size_t after = place + (end - symbol);
        out.add(rule, symbol, end, place == 0 ? templates::kSentenceBegin : words[place - 1],
                after == words.size() ? templates::kSentenceEnd : words[after]);
        out.end_row();
        ++n_rows[i];
        place = after;
        symbol = end;
      }
    }
  }
  return n_rows;
}

std::vector<int32_t> DerivationFeatures::gap_rows(const DerivationRules& rules, size_t first_application,
                                                  const DerivationSites& sites) const {
  std::vector<int32_t> rows;
  rows.reserve(sites.gaps.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    const auto gaps = sites.gaps_of(i);
    if (gaps.empty()) continue;
    const templates::RuleSight& rule = rules.sights[rules.row_of_application[first_application + sites.application[i]]];
    int32_t slot = 0;
    for (size_t place = 0; place < rule.source.size(); ++place) {
      if (templates::is_word(rule.source[place])) continue;
      const int32_t length = gaps[at(slot)].end - gaps[at(slot)].begin;
      rows.push_back(gaps_.of(rule, place, slot) * gaps_.max_length() + std::min(length, gaps_.max_length()) - 1);
      ++slot;
    }
  }
  return rows;
}

DerivationFeatures::Interned DerivationFeatures::intern(Draft&& draft, names::FeatureIndex& index, bool grow,
                                                        const templates::Blocks* blocks) {
  Interned result;
  auto ids =
      grow ? templates::FeatureIds::growing(index, blocks) : templates::FeatureIds(index, /*keep_new=*/false, blocks);
  result.rules = templates::number_rows(draft.rows, ids);
  if (!draft.rows_of_gaps.empty()) result.gaps = templates::number_rows({draft.gap_rows}, ids);
  for (const templates::ContextRows& rows : draft.contexts) rows.number(ids, result.contexts.emplace_back());
  if (draft.parts) result.parts = draft.parts->number(ids, draft.met);
  draft.rows = {};
  draft.contexts = {};
  result.draft = std::move(draft);
  return result;
}

CandidateFeatures DerivationFeatures::sum(const DerivationBatch& batch, const Interned& interned,
                                          const DenseFeatures& dense, int n_threads, Control& control) const {
  const Draft& draft = interned.draft;
  const size_t n_dense = dense.ids.size();
  std::vector<CandidateFeatures> parts(at((batch.size() + kSentences - 1) / kSentences));
  parallel_chunks(batch.size(), kSentences, n_threads, control, [&](int64_t begin, int64_t end, int) {
    CandidateFeatures& out = parts[at(begin / kSentences)];
    SentenceSums sums;
    size_t context = 0;
    for (int64_t s = begin; s < end; ++s) {
      const DerivationSites& sites = draft.sites[at(s)];
      sums.start(dense);
      add_sites(batch, interned, s, at(begin / kSentences), context, sums);
      std::span<const uint32_t> steps(sites.steps), oriented;
      if (draft.parts) {
        const OrientedSites& found = draft.oriented[at(s)];
        for (int64_t site = 0; site < found.rows.size(); ++site) {
          for (const int32_t row : found.rows[site]) sums.append(interned.parts, at(row));
          sums.end_site();
        }
        oriented = found.steps;
      }
      sums.finish(dense);
      for (int64_t c = batch.first_candidate[at(s)]; c < batch.first_candidate[at(s) + 1]; ++c) {
        const size_t n = batch.derivations[c].size();
        // As a decoder's sums go: over edges in pre-order, which is from the last phrase to the first.
        if (tables_.is_rules)
          for (size_t i = 0; i < n; ++i) sums.apply(steps[i]);
        else
          for (size_t i = n; i-- > 0;) {
            sums.apply(steps[i]);
            // What a phrase adds by its orientation comes after what it is.
            if (draft.parts) sums.apply(static_cast<uint32_t>(sites.size()) + oriented[i]);
          }
        steps = steps.subspan(n);
        if (draft.parts) oriented = oriented.subspan(n);
        sums.end_candidate(dense.values.subspan(at(c) * n_dense, n_dense), out);
      }
    }
  });
  CandidateFeatures result;
  size_t n = 0;
  for (const CandidateFeatures& part : parts) n += part.ids.size();
  result.offsets.reserve(at(batch.derivations.size()) + 1);
  result.ids.reserve(n);
  result.values.reserve(n);
  for (CandidateFeatures& part : parts) {
    const int64_t base = result.offsets.back();
    for (size_t i = 1; i < part.offsets.size(); ++i) result.offsets.push_back(base + part.offsets[i]);
    result.ids.insert(result.ids.end(), part.ids.begin(), part.ids.end());
    result.values.insert(result.values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  return result;
}

CandidateFeatures DerivationFeatures::steps(const DerivationBatch& batch, const Interned& interned) const {
  CandidateFeatures out;
  SentenceSums sums;
  size_t context = 0;
  for (int64_t s = 0; s < batch.size(); ++s) {
    if (s % kSentences == 0) context = 0;
    sums.start({});
    add_sites(batch, interned, s, at(s / kSentences), context, sums);
    for (const uint32_t site : interned.draft.sites[at(s)].steps) {
      for (const forest::Feature& f : sums.site(site)) {
        out.ids.push_back(f.id);
        out.values.push_back(f.value);
      }
      out.offsets.push_back(static_cast<int64_t>(out.ids.size()));
    }
  }
  return out;
}

}  // namespace dragoman::search
