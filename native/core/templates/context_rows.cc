#include "core/templates/context_rows.hh"

#include <algorithm>

namespace dragoman::templates {

namespace {

constexpr grammar::Symbol kUnknown = 0;

uint64_t hash_of(uint32_t source, const ContextTemplate::Arguments& arguments) {
  uint64_t state = grammar::kHashStart + source;
  for (const int32_t a : arguments) state = grammar::hash_extend(state, a);
  return grammar::mix64(state);
}

}  // namespace

uint32_t ContextRows::column_of(const Key& key) {
  const auto slot_of = [&](const Key& k) {
    const size_t mask = slots_.size() - 1;
    size_t slot = static_cast<size_t>(hash_of(k.source, k.arguments)) & mask;
    while (slots_[slot] != kNone && keys_[slots_[slot]] != k) slot = (slot + 1) & mask;
    return slot;
  };
  if (2 * keys_.size() >= slots_.size()) {
    slots_.assign(4 * slots_.size(), kNone);
    for (uint32_t column = 0; column < keys_.size(); ++column) slots_[slot_of(keys_[column])] = column;
  }
  const size_t slot = slot_of(key);
  if (slots_[slot] == kNone) {
    slots_[slot] = static_cast<uint32_t>(keys_.size());
    keys_.push_back(key);
  }
  return slots_[slot];
}

void ContextRows::add(uint32_t source, const RuleSight& rule, size_t place, Neighbour which, grammar::Symbol word) {
  found_.clear();
  set_->templates()[source].context->beside(rule, place, which, word, found_);
  for (const auto& arguments : found_) {
    const uint32_t column = column_of({source, arguments});
    const auto row = columns_.begin() + static_cast<std::ptrdiff_t>(offsets_.back());
    const auto known = std::find(row, columns_.end(), column);
    if (known != columns_.end()) {
      values_[static_cast<size_t>(known - columns_.begin())] += 1;
      continue;
    }
    columns_.push_back(column);
    values_.push_back(1);
  }
}

void ContextRows::add(const RuleSight& rule, size_t first, size_t end, grammar::Symbol before, grammar::Symbol after) {
  const grammar::Symbol n_words = set_->sides().source.words->size();
  const auto known = [&](grammar::Symbol word) { return is_word(word) && word < n_words ? word : kUnknown; };
  for (uint32_t t = 0; t < set_->templates().size(); ++t) {
    if (set_->templates()[t].context == nullptr) continue;
    add(t, rule, first, Neighbour::kBefore, known(before));
    add(t, rule, end - 1, Neighbour::kAfter, known(after));
  }
}

void ContextRows::finish() {
  for (const Key& key : keys_) {
    const TemplateSet::Named& t = set_->templates()[key.source];
    names_.use(t.name);
    t.context->name(key.arguments, names_);
  }
  keys_ = {};
  slots_ = {};
}

void ContextRows::number(FeatureIds& ids, FeatureColumns& out) const {
  std::vector<int32_t> of_column;
  of_column.reserve(names_.n_features());
  std::vector<std::span<const Blocks::Term>> terms_of(names_.n_features());
  BlockSums sums(ids.blocks());
  for (size_t column = 0; column < names_.n_features(); ++column) {
    const auto terms = ids.terms(names_.name(column));
    if (terms) terms_of[column] = *terms;
    of_column.push_back(terms ? names::FeatureIndex::kAbsent : ids.of(names_.name(column)));
  }
  for (size_t row = 0; row + 1 < offsets_.size(); ++row) {
    for (size_t i = offsets_[row]; i < offsets_[row + 1]; ++i) {
      sums.add(terms_of[columns_[i]], static_cast<double>(values_[i]));
      if (of_column[columns_[i]] == names::FeatureIndex::kAbsent) continue;
      out.ids.push_back(of_column[columns_[i]]);
      out.values.push_back(values_[i]);
    }
    sums.append(out.ids, out.values);
    out.offsets.push_back(out.ids.size());
  }
}

}  // namespace dragoman::templates
