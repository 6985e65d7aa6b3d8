#include "core/optim/list_spread.hh"

#include "core/optim/list_columns.hh"

namespace dragoman::optim {

ListSpread list_spread(const pool::Lists& lists, std::span<const int64_t> positions, int64_t n_features,
                       Control& control) {
  ListSpread spread{std::vector<double>(static_cast<size_t>(n_features)),
                    std::vector<int64_t>(static_cast<size_t>(n_features))};
  ListColumns columns;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (i % 1024 == 0) control.check();
    const pool::CandidateList list = lists[positions[i]];
    columns.build(list.shard->candidates, list.sentence, n_features, {});
    const auto n = static_cast<double>(list.size());
    size_t begin = 0;
    for (size_t k = 0; k < columns.ids.size(); ++k) {
      const auto end = static_cast<size_t>(columns.ends[k]), id = static_cast<size_t>(columns.ids[k]);
      const std::span<const float> column(columns.values.data() + begin, end - begin);
      const double distance = square_distance(column, n);  // 0 where zeros are told in some candidates
      spread.variances[id] += distance / n;
      spread.counts[id] += distance > 0;
      begin = end;
    }
  }
  for (size_t f = 0; f < spread.variances.size(); ++f)
    if (spread.counts[f] > 0) spread.variances[f] /= static_cast<double>(spread.counts[f]);
  return spread;
}

}  // namespace dragoman::optim
