#include "core/search/derivation_sites.hh"

#include <algorithm>
#include <unordered_map>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"
#include "core/grammar/key.hh"
#include "core/templates/sight.hh"

namespace dragoman::search {

namespace {

constexpr int64_t kChunk = 256;  // rules that are looked up together
constexpr uint32_t kNone = UINT32_MAX;

[[noreturn]] void fail() {
  throw InputError("a derivation does not fit its sentence; the lists were made with another system or text");
}

class SiteFinder {
 public:
  SiteFinder(const DerivationBatch& batch, const DerivationRules& rules, int64_t sentence)
      : batch_(batch),
        words_(batch.words[sentence]),
        first_(at(batch.first_application[at(sentence)])),
        rows_(std::span(rules.row_of_application).subspan(first_)),
        sights_(rules.sights) {
    const size_t n = at(batch.first_application[at(sentence) + 1]) - first_;
    first_site_.assign(n, kNone);
    arity_.resize(n);
    for (size_t a = 0; a < n; ++a) {
      if (rows_[a] == DerivationRules::kPassed) continue;
      const auto source = sights_[rows_[a]].source;
      arity_[a] = static_cast<uint32_t>(source.size()) -
                  static_cast<uint32_t>(std::count_if(source.begin(), source.end(), templates::is_word));
    }
  }

  // The site of an application whose nonterminals cover `gaps`, found or made.
  uint32_t site(uint32_t application, std::span<const SourceGap> gaps) {
    uint32_t last = kNone;
    for (uint32_t s = first_site_[application]; s != kNone; s = next_[s]) {
      if (std::ranges::equal(found_.gaps_of(s), gaps)) return s;
      last = s;
    }
    check_match(application, gaps);
    const auto made = static_cast<uint32_t>(found_.size());
    (last == kNone ? first_site_[application] : next_[last]) = made;
    next_.push_back(kNone);
    found_.application.push_back(application);
    found_.gaps.insert(found_.gaps.end(), gaps.begin(), gaps.end());
    found_.first_gap.push_back(static_cast<uint32_t>(found_.gaps.size()));
    return made;
  }

  // A candidate's phrases in target order.
  void add_phrases(std::span<const int32_t> applications) {
    for (const int32_t a : applications) {
      if (arity_[at(a)] != 0) fail();
      found_.steps.push_back(site(static_cast<uint32_t>(a), {}));
    }
  }

  // A candidate's rules in pre-order. Read backwards, every rule finds the trees of its nonterminals on the stack, the
  // first of them on top.
  void add_trees(std::span<const int32_t> applications) {
    open_.clear();
    const size_t begin = found_.steps.size();
    found_.steps.resize(begin + applications.size());
    for (size_t i = applications.size(); i-- > 0;) {
      const auto a = static_cast<uint32_t>(applications[i]);
      if (open_.size() < arity_[a]) fail();
      gaps_.assign(open_.rbegin(), open_.rbegin() + arity_[a]);
      open_.resize(open_.size() - arity_[a]);
      found_.steps[begin + i] = site(a, gaps_);
      open_.push_back(span_of(a));
    }
    int32_t place = 0;
    for (auto tree = open_.rbegin(); tree != open_.rend(); ++tree) {
      if (tree->begin != place) fail();
      place = tree->end;
    }
    if (at(place) != words_.size()) fail();
  }

  DerivationSites take() { return std::move(found_); }

 private:
  SourceGap span_of(uint32_t application) const {
    return {batch_.begins[first_ + application], batch_.ends[first_ + application]};
  }

  void check_match(uint32_t application, std::span<const SourceGap> gaps) const {
    const uint32_t row = rows_[application];
    if (row == DerivationRules::kPassed) return;
    const auto [begin, end] = span_of(application);
    int32_t place = begin;
    size_t gap = 0;
    for (const grammar::Symbol symbol : sights_[row].source) {
      if (place >= end) fail();
      if (templates::is_word(symbol) ? words_[at(place)] != symbol : gaps[gap].begin != place) fail();
      place = templates::is_word(symbol) ? place + 1 : gaps[gap++].end;
    }
    if (place != end) fail();
  }

  const DerivationBatch& batch_;
  std::span<const int32_t> words_;
  size_t first_;
  std::span<const uint32_t> rows_;  // of the sentence's applications
  std::span<const templates::RuleSight> sights_;
  std::vector<uint32_t> arity_, first_site_;  // by application
  std::vector<uint32_t> next_;                // by site: the next one of its application
  std::vector<SourceGap> open_, gaps_;
  DerivationSites found_;
};

}  // namespace

DerivationRules::DerivationRules(const grammar::GrammarTables& tables, const DerivationBatch& batch, int n_threads,
                                 Control& control)
    : row_of_application(batch.rules.size(), kPassed) {
  struct Key {
    int64_t rule;
    int16_t fold;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return grammar::mix64(static_cast<uint64_t>(key.rule) * 65537 + static_cast<uint64_t>(key.fold));
    }
  };
  std::unordered_map<Key, uint32_t, Hash> row_of;
  std::vector<Key> keys;
  for (int64_t s = 0; s < batch.size(); ++s)
    for (auto a = at(batch.first_application[at(s)]); a < at(batch.first_application[at(s) + 1]); ++a) {
      if (batch.rules[a] < 0) continue;
      if (batch.rules[a] >= tables.n_pairs()) fail();
      const Key key{batch.rules[a], batch.folds[at(s)]};
      const auto [found, is_new] = row_of.try_emplace(key, static_cast<uint32_t>(keys.size()));
      if (is_new) keys.push_back(key);
      row_of_application[a] = found->second;
    }
  sights.resize(keys.size());
  parallel_chunks(static_cast<int64_t>(keys.size()), kChunk, n_threads, control, [&](int64_t begin, int64_t end, int) {
    for (auto row = at(begin); row < at(end); ++row)
      sights[row] = templates::sight_of(tables, grammar::FoldFilter(keys[row].fold), keys[row].rule);
  });
}

DerivationSites find_sites(const DerivationBatch& batch, const DerivationRules& rules, int64_t sentence,
                           bool is_rules) {
  SiteFinder finder(batch, rules, sentence);
  for (int64_t c = batch.first_candidate[at(sentence)]; c < batch.first_candidate[at(sentence) + 1]; ++c)
    is_rules ? finder.add_trees(batch.derivations[c]) : finder.add_phrases(batch.derivations[c]);
  return finder.take();
}

}  // namespace dragoman::search
