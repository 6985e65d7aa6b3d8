#include "core/templates/feature_columns.hh"

#include <algorithm>

namespace dragoman::templates {

FeatureColumns number_rows(const std::vector<FeatureRows>& chunks, FeatureIds& ids) {
  FeatureColumns out;
  BlockSums sums(ids.blocks());
  for (const FeatureRows& rows : chunks)
    for (size_t row = 0; row < rows.n_rows(); ++row) {
      const auto end = static_cast<size_t>(rows.offsets()[row + 1]);
      for (auto f = static_cast<size_t>(rows.offsets()[row]); f < end; ++f) {
        if (const auto terms = ids.terms(rows.name(f))) {
          sums.add(*terms, static_cast<double>(rows.value(f)));
          continue;
        }
        const int32_t id = ids.of(rows.name(f));
        if (id == names::FeatureIndex::kAbsent) continue;
        const auto first = out.ids.begin() + static_cast<std::ptrdiff_t>(out.offsets.back());
        const auto known = std::find(first, out.ids.end(), id);
        if (known != out.ids.end()) {
          out.values[static_cast<size_t>(known - out.ids.begin())] += rows.value(f);
          continue;
        }
        out.ids.push_back(id);
        out.values.push_back(rows.value(f));
      }
      sums.append(out.ids, out.values);
      out.offsets.push_back(out.ids.size());
    }
  return out;
}

}  // namespace dragoman::templates
