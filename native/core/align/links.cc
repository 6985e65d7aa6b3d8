#include "core/align/links.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"

namespace dragoman::align {

namespace {

constexpr int64_t kSentencesPerChunk = 1024;
constexpr int32_t kNowhere = -1;

void sort_distinct(std::vector<Link>& links, size_t begin = 0) {
  const auto first = links.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, links.end());
  links.erase(std::unique(first, links.end()), links.end());
}

void copy_sorted(std::span<const Link> row, std::vector<Link>& out) {
  out.assign(row.begin(), row.end());
  sort_distinct(out);
  for (const Link& link : out)
    if (link.source < 0 || link.target < 0) throw std::invalid_argument("link positions must not be negative");
}

// One sentence pair. The result is a subset of the union, so a sorted union with flags is all the space needed: memory
// does not depend on the positions, which may come from a file.
class Symmetrizer {
 public:
  void run(std::span<const Link> first, std::span<const Link> second, Heuristic heuristic, std::vector<Link>& out) {
    copy_sorted(first, first_);
    copy_sorted(second, second_);
    union_.clear();
    std::set_union(first_.begin(), first_.end(), second_.begin(), second_.end(), std::back_inserter(union_));
    chosen_.assign(union_.size(), 0);
    if (heuristic == Heuristic::kUnion) {
      chosen_.assign(union_.size(), 1);
    } else {
      rank_words();
      for (size_t k = 0; k < union_.size(); ++k)
        if (in(first_, k) && in(second_, k)) choose(k);
      grow(heuristic);
      if (heuristic == Heuristic::kGrowDiagFinal || heuristic == Heuristic::kGrowDiagFinalAnd) {
        finish(first_, heuristic);
        finish(second_, heuristic);
      }
    }
    for (size_t k = 0; k < union_.size(); ++k)
      if (chosen_[k]) out.push_back(union_[k]);
  }

 private:
  bool in(const std::vector<Link>& links, size_t k) const {
    return std::binary_search(links.begin(), links.end(), union_[k]);
  }

  // Dense numbers for the aligned words, and the neighbours of each link in the union.
  void rank_words() {
    targets_.clear();
    for (const Link& link : union_) targets_.push_back(link.target);
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
    source_rank_.resize(union_.size());
    target_rank_.resize(union_.size());
    around_.resize(union_.size());
    size_t n_sources = 0;
    for (size_t k = 0; k < union_.size(); ++k) {
      n_sources += k == 0 || union_[k].source != union_[k - 1].source;
      source_rank_[k] = n_sources - 1;
      target_rank_[k] =
          static_cast<size_t>(std::lower_bound(targets_.begin(), targets_.end(), union_[k].target) - targets_.begin());
      for (size_t a = 0; a < kAround.size(); ++a) around_[k][a] = find(union_[k], kAround[a]);
    }
    source_linked_.assign(n_sources, 0);
    target_linked_.assign(targets_.size(), 0);
  }

  int32_t find(Link link, std::pair<int, int> step) const {
    const int64_t source = int64_t{link.source} + step.first, target = int64_t{link.target} + step.second;
    if (source < 0 || target < 0 || source > INT32_MAX || target > INT32_MAX) return kNowhere;
    const Link wanted{static_cast<int32_t>(source), static_cast<int32_t>(target)};
    const auto found = std::lower_bound(union_.begin(), union_.end(), wanted);
    return found != union_.end() && *found == wanted ? static_cast<int32_t>(found - union_.begin()) : kNowhere;
  }

  void choose(size_t k) {
    chosen_[k] = 1;
    source_linked_[source_rank_[k]] = 1;
    target_linked_[target_rank_[k]] = 1;
  }
  bool both_free(size_t k) const { return !source_linked_[source_rank_[k]] && !target_linked_[target_rank_[k]]; }
  bool one_free(size_t k) const { return !source_linked_[source_rank_[k]] || !target_linked_[target_rank_[k]]; }
  bool chosen_at(size_t k, size_t a) const {
    const int32_t other = around_[k][a];
    return other != kNowhere && chosen_[static_cast<size_t>(other)];
  }
  bool any_around(size_t k, size_t begin, size_t end) const {
    for (size_t a = begin; a < end; ++a)
      if (chosen_at(k, a)) return true;
    return false;
  }
  bool vertical(size_t k) const { return any_around(k, 0, 2); }
  bool horizontal(size_t k) const { return any_around(k, 2, 4); }

  bool refinable(size_t k) {
    if (both_free(k)) return true;
    if (!vertical(k) && !horizontal(k)) return false;
    chosen_[k] = 1;
    bool fits = !(vertical(k) && horizontal(k));
    for (size_t a = 0; a < 4 && fits; ++a)
      if (chosen_at(k, a)) {
        const auto other = static_cast<size_t>(around_[k][a]);
        fits = !(vertical(other) && horizontal(other));
      }
    chosen_[k] = 0;
    return fits;
  }

  bool growable(size_t k, Heuristic heuristic) {
    if (heuristic == Heuristic::kRefined) return refinable(k);
    return (heuristic == Heuristic::kGrowDiagAnd ? both_free(k) : one_free(k)) && any_around(k, 0, kAround.size());
  }

  void grow(Heuristic heuristic) {
    if (heuristic == Heuristic::kIntersection) return;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < union_.size(); ++k)
        if (!chosen_[k] && growable(k, heuristic)) {
          choose(k);
          changed = true;
        }
    }
  }

  void finish(const std::vector<Link>& links, Heuristic heuristic) {
    for (size_t k = 0; k < union_.size(); ++k)
      if (!chosen_[k] && in(links, k) && (heuristic == Heuristic::kGrowDiagFinalAnd ? both_free(k) : one_free(k)))
        choose(k);
  }

  static constexpr std::array<std::pair<int, int>, 8> kAround{
      {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};

  std::vector<Link> first_, second_, union_;
  std::vector<char> chosen_, source_linked_, target_linked_;
  std::vector<int32_t> targets_;
  std::vector<size_t> source_rank_, target_rank_;
  std::vector<std::array<int32_t, 8>> around_;
};

void check_pairs(const Links& first, const Links& second) {
  if (first.size() != second.size())
    throw std::invalid_argument("both alignments must have the same number of sentence pairs");
}

int32_t parse_position(std::string_view digits, std::string_view token, int64_t line) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size() && digits.front() != '-') return value;
  std::string shown(token.substr(0, 40));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  throw InputError("'" + shown + "' is not a link; expected SOURCE-TARGET, two positions counted from 0, such as 0-1",
                   line);
}

}  // namespace

LinkTable links_of(std::span<const int64_t> offsets, std::span<const int32_t> assignment, bool by_source) {
  LinkTable table;
  const Ragged<int32_t> rows{offsets, assignment};
  for (int64_t s = 0; s < rows.size(); ++s) {
    const auto row = rows[s];
    const size_t begin = table.links.size();
    for (size_t k = 0; k < row.size(); ++k) {
      if (row[k] < 0) continue;
      const auto here = static_cast<int32_t>(k);
      table.links.push_back(by_source ? Link{here, row[k]} : Link{row[k], here});
    }
    std::sort(table.links.begin() + static_cast<std::ptrdiff_t>(begin), table.links.end());
    table.offsets.push_back(static_cast<int64_t>(table.links.size()));
  }
  return table;
}

Heuristic heuristic_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Heuristic>, 7> kNames{{
      {"intersection", Heuristic::kIntersection},
      {"union", Heuristic::kUnion},
      {"grow-diag", Heuristic::kGrowDiag},
      {"grow-diag-and", Heuristic::kGrowDiagAnd},
      {"grow-diag-final", Heuristic::kGrowDiagFinal},
      {"grow-diag-final-and", Heuristic::kGrowDiagFinalAnd},
      {"refined", Heuristic::kRefined},
  }};
  for (const auto& [known, heuristic] : kNames)
    if (known == name) return heuristic;
  throw std::invalid_argument("unknown symmetrisation '" + std::string(name) + "'");
}

LinkTable symmetrize(const Links& first, const Links& second, Heuristic heuristic, int n_threads, Control& control) {
  check_pairs(first, second);
  const auto n_chunks = static_cast<size_t>((first.size() + kSentencesPerChunk - 1) / kSentencesPerChunk);
  std::vector<LinkTable> pieces(n_chunks);
  parallel_chunks(first.size(), kSentencesPerChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    Symmetrizer symmetrizer;
    auto& piece = pieces[static_cast<size_t>(begin / kSentencesPerChunk)];
    for (int64_t s = begin; s < end; ++s) {
      symmetrizer.run(first[s], second[s], heuristic, piece.links);
      piece.offsets.push_back(static_cast<int64_t>(piece.links.size()));
    }
  });
  LinkTable table;
  for (const auto& piece : pieces) {
    const auto base = static_cast<int64_t>(table.links.size());
    for (size_t s = 1; s < piece.offsets.size(); ++s) table.offsets.push_back(base + piece.offsets[s]);
    table.links.insert(table.links.end(), piece.links.begin(), piece.links.end());
  }
  return table;
}

Overlap overlap(const Links& first, const Links& second, int n_threads, Control& control) {
  check_pairs(first, second);
  const auto n_chunks = static_cast<size_t>((first.size() + kSentencesPerChunk - 1) / kSentencesPerChunk);
  std::vector<Overlap> pieces(n_chunks);
  parallel_chunks(first.size(), kSentencesPerChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    std::vector<Link> a, b, shared;
    auto& piece = pieces[static_cast<size_t>(begin / kSentencesPerChunk)];
    for (int64_t s = begin; s < end; ++s) {
      copy_sorted(first[s], a);
      copy_sorted(second[s], b);
      shared.clear();
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
      piece.n_first += static_cast<int64_t>(a.size());
      piece.n_second += static_cast<int64_t>(b.size());
      piece.n_shared += static_cast<int64_t>(shared.size());
    }
  });
  Overlap total;
  for (const auto& piece : pieces) {
    total.n_first += piece.n_first;
    total.n_second += piece.n_second;
    total.n_shared += piece.n_shared;
  }
  return total;
}

void parse_pharaoh(std::string_view block, int64_t first_line, LinkTable& out) {
  size_t pos = 0;
  for (int64_t line = first_line; pos < block.size(); ++line) {
    const size_t newline = block.find('\n', pos);
    std::string_view text = block.substr(pos, newline == std::string_view::npos ? newline : newline - pos);
    pos = newline == std::string_view::npos ? block.size() : newline + 1;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    const size_t begin = out.links.size();
    for (size_t i = 0; i < text.size();) {
      if (text[i] == ' ' || text[i] == '\t') {
        ++i;
        continue;
      }
      const std::string_view token = text.substr(i, text.find_first_of(" \t", i) - i);
      i += token.size();
      const size_t dash = token.find('-');
      const bool two_parts = dash != std::string_view::npos && dash > 0 && dash + 1 < token.size();
      const int32_t source = parse_position(two_parts ? token.substr(0, dash) : "?", token, line);
      out.links.push_back({source, parse_position(token.substr(dash + 1), token, line)});
    }
    sort_distinct(out.links, begin);
    out.offsets.push_back(static_cast<int64_t>(out.links.size()));
  }
}

void format_pharaoh(const Links& links, int64_t begin, int64_t end, std::string& out) {
  std::array<char, 32> buffer;
  for (int64_t s = begin; s < end; ++s) {
    bool is_first = true;
    for (const Link link : links[s]) {
      if (!is_first) out += ' ';
      is_first = false;
      char* at = std::to_chars(buffer.data(), buffer.data() + buffer.size(), link.source).ptr;
      *at++ = '-';
      at = std::to_chars(at, buffer.data() + buffer.size(), link.target).ptr;
      out.append(buffer.data(), at);
    }
    out += '\n';
  }
}

}  // namespace dragoman::align
