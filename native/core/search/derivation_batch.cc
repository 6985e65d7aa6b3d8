#include "core/search/derivation_batch.hh"

#include <stdexcept>
#include <string>

#include "core/base/errors.hh"

namespace dragoman::search {

void DerivationBatch::check() const {
  const auto demand = [](bool condition, const char* what) {
    if (!condition) throw InputError(std::string("the derivations do not fit together: ") + what);
  };
  const auto n = at(size());
  try {
    derivations.check("derivations");
    Ragged<int64_t>{first_application, rules}.check("applications");
  } catch (const std::invalid_argument& error) {
    throw InputError(error.what());
  }
  demand(folds.size() == n && first_application.size() == n + 1 && first_candidate.size() == n + 1 &&
             begins.size() == rules.size() && ends.size() == rules.size(),
         "arrays have different lengths");
  demand(first_candidate.front() == 0 && first_candidate.back() == derivations.size(),
         "not every candidate belongs to a sentence");
  for (size_t s = 0; s < n; ++s) {
    demand(first_candidate[s] <= first_candidate[s + 1], "candidates are not in the order of sentences");
    const auto length = static_cast<int64_t>(words[static_cast<int64_t>(s)].size());
    const int64_t n_listed = first_application[s + 1] - first_application[s];
    for (auto i = at(first_application[s]); i < at(first_application[s + 1]); ++i) {
      demand(begins[i] >= 0 && begins[i] < ends[i] && ends[i] <= length, "a span is not inside its sentence");
      demand(rules[i] >= 0 || (rules[i] == -1 && ends[i] - begins[i] == 1), "a rule is missing");
    }
    const auto from = at(derivations.offsets[at(first_candidate[s])]);
    const auto to = at(derivations.offsets[at(first_candidate[s + 1])]);
    for (const int32_t number : derivations.values.subspan(from, to - from))
      demand(number >= 0 && number < n_listed, "a candidate applies what its sentence does not list");
  }
}

}  // namespace dragoman::search
