#include "core/metric/ter_distance.hh"

#include <algorithm>

namespace dragoman::metric {

void BandedDistance::set_reference(std::span<const int32_t> reference, int n_hypothesis) {
  reference_ = reference;
  const int n_reference = static_cast<int>(reference.size());
  const double ratio = n_hypothesis ? static_cast<double>(n_reference) / n_hypothesis : 1;
  // Where the lengths differ wildly, a wider beam keeps the windows of neighbouring rows connected.
  const int beam = kTerBeam < ratio / 2 ? static_cast<int>(std::ceil(ratio / 2 + kTerBeam)) : kTerBeam;
  windows_.clear();
  windows_.push_back({0, n_reference + 1, 0});
  size_t at = static_cast<size_t>(n_reference) + 1, widest = at;
  for (int i = 1; i <= n_hypothesis; ++i) {
    const int diagonal = static_cast<int>(std::floor(i * ratio));
    const int begin = std::max(0, diagonal - beam);
    const int end = i == n_hypothesis ? n_reference + 1 : std::min(n_reference + 1, diagonal + beam);
    windows_.push_back({begin, end, at});
    at += static_cast<size_t>(end - begin);
    widest = std::max(widest, static_cast<size_t>(end - begin));
  }
  cost_.resize(at);
  op_.resize(at);
  padded_.resize(widest + 1);
  for (auto& row : rolling_) row.resize(widest);
}

template <bool kKeepOps>
void BandedDistance::fill(const Window& above, const int32_t* above_cost, const Window& window, int32_t word,
                          int32_t* cost, EditOp* ops) {
  const int width = window.end - window.begin;
  // padded_[k] is the cell above and to the left of column window.begin + k.
  const int first = window.begin - 1;
  for (int k = 0; k <= width; ++k) {
    const int j = first + k;
    padded_[static_cast<size_t>(k)] = j >= above.begin && j < above.end ? above_cost[j - above.begin] : kUnreached;
  }
  int32_t left = kUnreached;
  for (int k = 0; k < width; ++k) {
    const int j = window.begin + k;
    const bool equal = j > 0 && reference_[static_cast<size_t>(j) - 1] == word;
    const int32_t diagonal = padded_[static_cast<size_t>(k)] + !equal;
    const int32_t up = padded_[static_cast<size_t>(k) + 1] + 1;
    left += 1;
    const int32_t best = std::min(std::min(diagonal, up), left);
    if constexpr (kKeepOps)
      ops[k] = diagonal == best ? (equal ? EditOp::kMatch : EditOp::kSubstitute)
                                : (up == best ? EditOp::kDelete : EditOp::kInsert);
    cost[k] = left = best;
  }
}

int BandedDistance::set_base(std::span<const int32_t> words) {
  for (int j = 0; j < windows_[0].end; ++j) {
    cost_[static_cast<size_t>(j)] = j;
    op_[static_cast<size_t>(j)] = EditOp::kInsert;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    const Window &above = windows_[i], &window = windows_[i + 1];
    fill<true>(above, cost_.data() + above.at, window, words[i], cost_.data() + window.at, op_.data() + window.at);
  }
  return cost_.back();
}

int BandedDistance::variant(int same, std::span<const int32_t> rest) {
  const int32_t* above_cost = cost_.data() + windows_[static_cast<size_t>(same)].at;
  auto row = static_cast<size_t>(same);
  for (const int32_t word : rest) {
    int32_t* cost = rolling_[row % 2].data();
    fill<false>(windows_[row], above_cost, windows_[row + 1], word, cost, nullptr);
    above_cost = cost;
    ++row;
  }
  const Window& last = windows_[row];
  return above_cost[last.end - last.begin - 1];
}

EditOp BandedDistance::op(int i, int j) const {
  const Window& window = windows_[static_cast<size_t>(i)];
  return op_[window.at + static_cast<size_t>(j - window.begin)];
}

}  // namespace dragoman::metric
