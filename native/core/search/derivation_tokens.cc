#include "core/search/derivation_tokens.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/errors.hh"
#include "core/base/parallel.hh"
#include "core/forest/forest.hh"
#include "core/search/derivation_sites.hh"

namespace dragoman::search {

namespace {

constexpr int64_t kSentences = 16;

// Writes the words of one tree of rules after the other.
class Yield {
 public:
  // `targets` are those of the applications, in pre-order.
  void append(std::span<const std::span<const int32_t>> targets, std::vector<int32_t>& out) {
    find_children(targets);
    for (size_t root = 0; root < targets.size(); root = end_[root]) {
      stack_.assign(1, {root, 0});
      while (!stack_.empty()) {
        auto& [place, next] = stack_.back();
        if (next == targets[place].size()) {
          stack_.pop_back();
          continue;
        }
        const int32_t symbol = targets[place][next++];
        if (symbol >= 0)
          out.push_back(symbol);
        else
          stack_.emplace_back(children_[first_child_[place] + at(forest::tail_slot(symbol))], 0);
      }
    }
  }

 private:
  // Read backwards, every rule finds the trees of its nonterminals on the stack, the first of them on top.
  void find_children(std::span<const std::span<const int32_t>> targets) {
    children_.clear();
    open_.clear();
    first_child_.resize(targets.size());
    end_.resize(targets.size());
    for (size_t i = targets.size(); i-- > 0;) {
      first_child_[i] = children_.size();
      size_t end = i + 1;
      for (const int32_t symbol : targets[i]) {
        if (symbol >= 0) continue;
        if (open_.empty()) throw InputError("a derivation lacks rules; the lists were made with another system");
        children_.push_back(open_.back());
        end = end_[open_.back()];
        open_.pop_back();
      }
      end_[i] = end;
      for (size_t slot = 0; slot < children_.size() - first_child_[i]; ++slot)
        if (std::ranges::find(targets[i], forest::tail_symbol(static_cast<int32_t>(slot))) == targets[i].end())
          grammar::throw_damaged_grammar();
      open_.push_back(i);
    }
  }

  std::vector<size_t> first_child_, end_, children_, open_;
  std::vector<std::pair<size_t, size_t>> stack_;  // application, next symbol
};

}  // namespace

RaggedVector<int32_t> derivation_tokens(const grammar::GrammarTables& tables, const DerivationBatch& batch,
                                        std::span<const int32_t> passed, int n_threads, Control& control) {
  batch.check();
  if (passed.size() != batch.words.values.size()) throw std::invalid_argument("a source word has no target id");
  const DerivationRules rules(tables, batch, n_threads, control);
  std::vector<RaggedVector<int32_t>> parts(at((batch.size() + kSentences - 1) / kSentences));
  parallel_chunks(batch.size(), kSentences, n_threads, control, [&](int64_t begin, int64_t end, int) {
    RaggedVector<int32_t>& out = parts[at(begin / kSentences)];
    Yield yield;
    std::vector<std::span<const int32_t>> targets;
    for (int64_t s = begin; s < end; ++s) {
      const auto first = at(batch.first_application[at(s)]);
      for (int64_t c = batch.first_candidate[at(s)]; c < batch.first_candidate[at(s) + 1]; ++c) {
        targets.clear();
        for (const int32_t number : batch.derivations[c]) {
          const size_t a = first + at(number);
          const uint32_t row = rules.row_of_application[a];
          const size_t place = at(batch.words.offsets[at(s)] + batch.begins[a]);
          if (row == DerivationRules::kPassed && passed[place] < 0)
            throw std::invalid_argument("a word that passes through has no target id");
          targets.push_back(row == DerivationRules::kPassed ? passed.subspan(place, 1) : rules.sights[row].target);
        }
        yield.append(targets, out.values);
        out.offsets.push_back(static_cast<int64_t>(out.values.size()));
      }
    }
  });
  RaggedVector<int32_t> result;
  for (RaggedVector<int32_t>& part : parts) {
    const int64_t base = result.offsets.back();
    for (size_t i = 1; i < part.offsets.size(); ++i) result.offsets.push_back(base + part.offsets[i]);
    result.values.insert(result.values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  return result;
}

}  // namespace dragoman::search
