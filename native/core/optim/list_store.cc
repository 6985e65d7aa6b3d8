#include "core/optim/list_store.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/base/parallel.hh"
#include "core/optim/list_spread.hh"

namespace dragoman::optim {

namespace {

constexpr int64_t kListsPerChunk = 16;
constexpr int64_t kListsPerRound = 1024;  // prepared before they are put away
constexpr size_t kShortRows = 256;        // candidates of a list whose rows are bytes

template <typename T>
void append_bytes(std::vector<std::byte>& bytes, std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  bytes.insert(bytes.end(), begin, begin + values.size_bytes());
}

// Appends values as bytes of another type, which they fit into.
template <typename Short, typename T>
void append_short(std::vector<std::byte>& bytes, std::span<const T> values) {
  for (const T value : values) bytes.push_back(static_cast<std::byte>(static_cast<Short>(value)));
}

bool fits_byte(float value) { return value >= -128 && value <= 127 && value == std::nearbyint(value); }

template <typename T>
std::span<const T> take(const std::byte*& at, int32_t n) {
  const std::span<const T> result(reinterpret_cast<const T*>(at), static_cast<size_t>(n));
  at += result.size_bytes();
  return result;
}

}  // namespace

ListStore::ListStore(int64_t n_features, int64_t memory_bytes, std::string folder)
    : memory_bytes_(memory_bytes), folder_(std::move(folder)), counts_(static_cast<size_t>(n_features), {}) {}

void ListStore::add(const pool::Candidates& candidates, std::span<const double> gains, const FixedFeatures& fixed,
                    int n_threads, Control& control) {
  candidates.check();
  if (sealed_) throw std::invalid_argument("the lists are sealed");
  const auto n_features = static_cast<size_t>(this->n_features());
  if (static_cast<int64_t>(gains.size()) != candidates.size() ||
      (!fixed.mask.empty() && (fixed.mask.size() != n_features || fixed.weights.size() != n_features)))
    throw std::invalid_argument("one gain per candidate and one weight per feature expected");
  std::vector<ListColumns> columns(static_cast<size_t>(std::max(1, n_threads)));
  for (int64_t start = 0; start < candidates.n_sentences(); start += kListsPerRound) {
    const int64_t n = std::min(kListsPerRound, candidates.n_sentences() - start);
    std::vector<Piece> pieces(static_cast<size_t>((n + kListsPerChunk - 1) / kListsPerChunk));
    parallel_chunks(n, kListsPerChunk, n_threads, control, [&](int64_t begin, int64_t end, int worker) {
      ListColumns& built = columns[static_cast<size_t>(worker)];
      Piece& piece = pieces[static_cast<size_t>(begin / kListsPerChunk)];
      for (int64_t s = start + begin; s < start + end; ++s) {
        const auto first = static_cast<size_t>(candidates.sentences[static_cast<size_t>(s)]);
        const auto last = static_cast<size_t>(candidates.sentences[static_cast<size_t>(s) + 1]);
        if (first == last) continue;
        const auto of_list = gains.subspan(first, last - first);
        for (const double gain : of_list)
          if (!std::isfinite(gain)) throw InputError("a candidate's score by the metric is not finite");
        built.build(candidates, s, this->n_features(), fixed);
        piece.constants.insert(piece.constants.end(), built.constants.begin(), built.constants.end());
        if (built.ids.empty()) continue;
        piece.columns.insert(piece.columns.end(), built.ids.begin(), built.ids.end());
        append_list(built, of_list, !fixed.mask.empty(), piece);
        piece.sentences.push_back(n_sentences_ + s);
      }
    });
    for (Piece& piece : pieces) keep(std::move(piece));
  }
  n_sentences_ += candidates.n_sentences();
}

void ListStore::append_list(const ListColumns& columns, std::span<const double> gains, bool has_offsets,
                            Piece& piece) const {
  Entry entry;
  entry.file_offset = static_cast<int64_t>(piece.bytes.size());
  entry.n_candidates = static_cast<int32_t>(gains.size());
  entry.n_columns = static_cast<int32_t>(columns.ids.size());
  entry.n_values = static_cast<int32_t>(columns.values.size());
  entry.has_offsets = has_offsets;
  entry.has_short_rows = gains.size() <= kShortRows;
  entry.has_short_values = std::all_of(columns.values.begin(), columns.values.end(), fits_byte);
  piece.entries.push_back(entry);
  const size_t n_bytes =
      (has_offsets ? 2 : 1) * gains.size_bytes() + 8 * (columns.ids.size() + 1) +
      ((entry.has_short_rows ? 1u : 4u) + (entry.has_short_values ? 1u : 4u)) * columns.values.size();
  if (piece.bytes.empty()) piece.bytes.reserve(kListsPerChunk * n_bytes);
  append_bytes(piece.bytes, gains);
  if (has_offsets) append_bytes(piece.bytes, std::span(columns.offsets));
  append_bytes(piece.bytes, std::span(columns.ids));
  append_bytes(piece.bytes, std::span(columns.ends));
  if (!entry.has_short_rows) append_bytes(piece.bytes, std::span(columns.rows));
  if (!entry.has_short_values) append_bytes(piece.bytes, std::span(columns.values));
  if (entry.has_short_rows) append_short<uint8_t>(piece.bytes, std::span(columns.rows));
  if (entry.has_short_values) append_short<int8_t>(piece.bytes, std::span(columns.values));
  piece.bytes.resize((piece.bytes.size() + sizeof(double) - 1) / sizeof(double) * sizeof(double));
}

void ListStore::keep(Piece&& piece) {
  for (const int32_t id : piece.constants) ++counts_[static_cast<size_t>(id)].n_lists;
  for (const int32_t id : piece.columns) {
    ++counts_[static_cast<size_t>(id)].n_lists;
    ++counts_[static_cast<size_t>(id)].n_differing;
  }
  if (piece.entries.empty()) return;
  const auto n_bytes = static_cast<int64_t>(piece.bytes.size());
  n_bytes_ += n_bytes;
  const std::byte* data = nullptr;
  int64_t file_offset = 0;
  if (n_bytes_in_memory_ + n_bytes <= memory_bytes_) {
    n_bytes_in_memory_ += n_bytes;
    if (piece.bytes.capacity() > piece.bytes.size() + piece.bytes.size() / 4) piece.bytes.shrink_to_fit();
    data = pieces_.emplace_back(std::move(piece.bytes)).data();
  } else {
    if (!file_) file_ = std::make_unique<TempFile>(folder_);
    file_offset = file_->append(piece.bytes.data(), piece.bytes.size());
  }
  for (Entry entry : piece.entries) {
    if (data) entry.data = data + entry.file_offset;
    entry.file_offset += file_offset;
    entries_.push_back(entry);
  }
  sentences_.insert(sentences_.end(), piece.sentences.begin(), piece.sentences.end());
}

void ListStore::seal() {
  sealed_ = true;
  if (!file_) return;
  const std::byte* mapped = file_->map();
  for (Entry& entry : entries_)
    if (!entry.data) entry.data = mapped + entry.file_offset;
}

void ListStore::scale_fixed(double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) throw std::invalid_argument("the scale must be positive and finite");
  fixed_scale_ = scale;
}

ListView ListStore::operator[](int64_t list) const {
  const Entry& entry = entries_[static_cast<size_t>(list)];
  const std::byte* at = entry.data;
  ListView view;
  view.gains = take<double>(at, entry.n_candidates);
  if (entry.has_offsets) view.offsets = take<double>(at, entry.n_candidates);
  view.ids = take<int32_t>(at, entry.n_columns);
  view.ends = take<int32_t>(at, entry.n_columns);
  if (!entry.has_short_rows) view.rows = take<int32_t>(at, entry.n_values);
  if (!entry.has_short_values) view.values = take<float>(at, entry.n_values);
  if (entry.has_short_rows) view.short_rows = take<uint8_t>(at, entry.n_values);
  if (entry.has_short_values) view.short_values = take<int8_t>(at, entry.n_values);
  view.offset_scale = fixed_scale_;
  return view;
}

std::vector<double> ListStore::variances(Control& control) const {
  check_order({});
  std::vector<double> sums(counts_.size());
  for (int64_t list = 0; list < size(); ++list) {
    if (list % 1024 == 0) control.check();
    const ListView view = (*this)[list];
    const auto n = static_cast<double>(view.gains.size());
    view.with_entries([&](const auto*, const auto* values) {
      int32_t begin = 0;
      for (size_t k = 0; k < view.ids.size(); ++k) {
        const std::span column(values + begin, static_cast<size_t>(view.ends[k] - begin));
        begin = view.ends[k];
        sums[static_cast<size_t>(view.ids[k])] += square_distance(column, n) / n;
      }
    });
  }
  for (size_t f = 0; f < sums.size(); ++f)
    if (counts_[f].n_differing) sums[f] /= counts_[f].n_differing;
  return sums;
}

double ListStore::score_variance(std::span<const int64_t> order, std::span<const double> weights,
                                 Control& control) const {
  check_order(order);
  if (weights.size() != counts_.size()) throw std::invalid_argument("one weight per feature expected");
  ListScratch scratch;
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 1024 == 0) control.check();
    const ListView view = (*this)[order[i]];
    scratch.start(view);
    add_scores(view, [&](int32_t id) { return weights[static_cast<size_t>(id)]; }, scratch.scores);
    const auto n = static_cast<double>(scratch.scores.size());
    double mean = 0, squares = 0;
    for (const double score : scratch.scores) mean += score / n;
    for (const double score : scratch.scores) squares += (score - mean) * (score - mean);
    sum += squares / n;
  }
  return order.empty() ? 0 : sum / static_cast<double>(order.size());
}

ScoredLists ListStore::scored(std::span<const int64_t> order, std::span<const double> weights, Control& control) const {
  check_order(order);
  if (weights.size() != counts_.size()) throw std::invalid_argument("one weight per feature expected");
  ListScratch scratch;
  ScoredLists result;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 256 == 0) control.check();
    const ListView view = (*this)[order[i]];
    scratch.start(view);
    add_scores(view, [&](int32_t id) { return weights[static_cast<size_t>(id)]; }, scratch.scores);
    result.add(view, scratch.scores);
  }
  return result;
}

void ListStore::check_order(std::span<const int64_t> order) const {
  if (!sealed_) throw std::invalid_argument("seal the lists before they are used");
  for (const int64_t list : order)
    if (list < 0 || list >= size()) throw std::invalid_argument("order: no such list");
}

double ListStore::loss(const ListLoss& loss, std::span<const int64_t> order, std::span<const double> weights,
                       int n_threads, Control& control) const {
  check_order(order);
  if (weights.size() != counts_.size()) throw std::invalid_argument("one weight per feature expected");
  std::vector<double> values(order.size());
  std::vector<ListScratch> scratch(static_cast<size_t>(std::max(1, n_threads)));
  parallel_chunks(static_cast<int64_t>(order.size()), 64, n_threads, control,
                  [&](int64_t begin, int64_t end, int worker) {
                    ListScratch& own = scratch[static_cast<size_t>(worker)];
                    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
                      const ListView view = (*this)[order[i]];
                      own.start(view);
                      add_scores(view, [&](int32_t id) { return weights[static_cast<size_t>(id)]; }, own.scores);
                      values[i] = differentiate(loss, own.scores, view.gains, own.slopes);
                    }
                  });
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace dragoman::optim
