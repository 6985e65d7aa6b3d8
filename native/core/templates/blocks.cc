#include "core/templates/blocks.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "core/base/errors.hh"
#include "core/names/feature_index.hh"

namespace dragoman::templates {

Blocks::Blocks(std::vector<Vector> vectors) {
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
    if (keys_.empty() || keys_.back() != key) {
      keys_.push_back(key);
      names_.push_back(name);
      first_.push_back(static_cast<uint32_t>(terms_.size()));
    } else if (names_.back() != name) {
      names::throw_same_key(names_.back(), name);
    }
    const double coefficient = vectors[at(block)].coefficients[place];
    if (coefficient != 0) terms_.push_back({block, coefficient});
  }
  first_.push_back(static_cast<uint32_t>(terms_.size()));
  slots_.assign(std::bit_ceil(2 * keys_.size() + 1), kNone);
  for (uint32_t i = 0; i < keys_.size(); ++i) {
    size_t slot = static_cast<size_t>(keys_[i]) & (slots_.size() - 1);
    while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = i;
  }
}

std::optional<std::span<const Blocks::Term>> Blocks::terms(std::string_view name) const {
  const uint64_t key = names::feature_key(name);
  size_t slot = static_cast<size_t>(key) & (slots_.size() - 1);
  while (slots_[slot] != kNone && keys_[slots_[slot]] != key) slot = (slot + 1) & (slots_.size() - 1);
  const uint32_t i = slots_[slot];
  if (i == kNone || names_[i] != name) return std::nullopt;
  return std::span(terms_).subspan(first_[i], first_[i + 1] - first_[i]);
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
