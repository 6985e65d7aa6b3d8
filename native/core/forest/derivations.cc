#include "core/forest/derivations.hh"

#include <algorithm>

#include "core/base/at.hh"

namespace dragoman::forest {

namespace {

bool is_listed(const Forest& forest, int32_t instance) {
  if (forest.instance(instance).rule >= 0) return true;
  const auto symbols = forest.symbols(instance);
  return std::any_of(symbols.begin(), symbols.end(), [](int32_t symbol) { return symbol >= 0 && !is_mark(symbol); });
}

}  // namespace

void Derivations::append(const Derivations& other) {
  const auto extend = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  const auto extend_offsets = [](std::vector<int64_t>& to, const std::vector<int64_t>& from) {
    const int64_t base = to.back();
    for (size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
  };
  extend_offsets(first, other.first);
  extend(rules, other.rules);
  extend(begins, other.begins);
  extend(ends, other.ends);
  extend_offsets(offsets, other.offsets);
  extend(applications, other.applications);
}

void append_derivations(const Forest& forest, std::span<const int64_t> edge_offsets, std::span<const int32_t> edges,
                        DerivationOrder order, Derivations& out) {
  constexpr int32_t kNew = -1, kUnlisted = -2;
  std::vector<int32_t> number_of(at(forest.n_instances()), kNew);
  int32_t n_listed = 0;
  for (size_t c = 0; c + 1 < edge_offsets.size(); ++c) {
    const size_t begin = out.applications.size();
    for (int64_t e = edge_offsets[c]; e < edge_offsets[c + 1]; ++e) {
      const int32_t id = forest.edge_instance(edges[at(e)]);
      int32_t& number = number_of[at(id)];
      if (number == kNew) {
        number = is_listed(forest, id) ? n_listed++ : kUnlisted;
        if (number >= 0) {
          const Forest::Instance& instance = forest.instance(id);
          out.rules.push_back(instance.rule);
          out.begins.push_back(instance.span.begin);
          out.ends.push_back(instance.span.end);
        }
      }
      if (number >= 0) out.applications.push_back(number);
    }
    if (order == DerivationOrder::kTargetOrder)
      std::reverse(out.applications.begin() + static_cast<std::ptrdiff_t>(begin), out.applications.end());
    out.offsets.push_back(static_cast<int64_t>(out.applications.size()));
  }
  out.first.push_back(static_cast<int64_t>(out.rules.size()));
}

}  // namespace dragoman::forest
