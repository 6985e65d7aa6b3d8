#include "core/templates/blocks.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "core/base/errors.hh"
#include "core/names/feature_index.hh"

namespace dragoman::templates {

Blocks::Blocks(std::vector<Vector> vectors, bool keep_rest) : keep_rest_(keep_rest) {
  struct Place {
    uint64_t key;
    int32_t block;
    uint32_t place;
  };
  std::vector<Place> places;
  for (const Vector& vector : vectors) {
    const auto finite = [](double value) { return std::isfinite(value); };
    if (vector.coefficients.size() != at(vector.covered.size()) ||
        !std::all_of(vector.coefficients.begin(), vector.coefficients.end(), finite))
      throw std::invalid_argument("a block needs a finite coefficient for each feature that it covers");
    const auto block = static_cast<int32_t>(features_.size());
    for (uint32_t i = 0; i < vector.coefficients.size(); ++i) places.push_back({vector.covered.keys()[i], block, i});
    tables_.push_back(vector.covered);
    features_.push_back(vector.feature);
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.key < b.key; });
  for (const auto& [key, block, place] : places) {
    const std::string_view name = tables_[at(block)].name(place);
    if (covered_.empty() || covered_.back().key != key)
      covered_.push_back({key, name, static_cast<uint32_t>(terms_.size()), 0});
    else if (covered_.back().name != name)
      names::throw_same_key(covered_.back().name, name);
    const double coefficient = vectors[at(block)].coefficients[place];
    if (coefficient == 0) continue;
    terms_.push_back({block, coefficient});
    ++covered_.back().n_terms;
  }
  slots_.assign(std::bit_ceil(2 * covered_.size() + 1), kNone);
  for (uint32_t i = 0; i < covered_.size(); ++i) {
    size_t slot = static_cast<size_t>(covered_[i].key) & (slots_.size() - 1);
    while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = i;
  }
}

const Blocks::Covered* Blocks::find(std::string_view name) const {
  const uint64_t key = names::feature_key(name);
  size_t slot = static_cast<size_t>(key) & (slots_.size() - 1);
  while (slots_[slot] != kNone && covered_[slots_[slot]].key != key) slot = (slot + 1) & (slots_.size() - 1);
  if (slots_[slot] == kNone) return nullptr;
  const Covered& found = covered_[slots_[slot]];
  return found.name == name ? &found : nullptr;
}

std::optional<std::span<const Blocks::Term>> Blocks::terms(std::string_view name) const {
  if (const Covered* found = find(name)) return std::span(terms_).subspan(found->first_term, found->n_terms);
  if (keep_rest_) return std::nullopt;
  return std::span<const Term>();
}

std::pair<float, float> parts_of(double sum) {
  const auto first = static_cast<float>(sum);
  if (!std::isfinite(first)) throw InputError("the value of a block is too large for a 32-bit number");
  return {first, static_cast<float>(sum - static_cast<double>(first))};
}

void BlockSums::append(std::vector<int32_t>& ids, std::vector<float>& values) {
  for (int32_t b = 0; b < static_cast<int32_t>(sums_.size()); ++b) {
    const auto [first, rest] = parts_of(sums_[at(b)]);
    sums_[at(b)] = 0;
    for (const float part : {first, rest}) {
      if (part == 0) continue;
      ids.push_back(blocks_->feature(b));
      values.push_back(part);
    }
  }
}

}  // namespace dragoman::templates
