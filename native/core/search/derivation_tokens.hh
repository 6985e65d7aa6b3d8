// The words of candidates, from their derivations.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/control.hh"
#include "core/base/ragged.hh"
#include "core/grammar/tables.hh"
#include "core/search/derivation_batch.hh"

namespace dragoman::search {

// Rows are candidates. `passed` has, for every source word of the batch, the target id that it passes through as; only
// those of words that do are looked at. Throws InputError where derivations do not fit the sentences.
RaggedVector<int32_t> derivation_tokens(const grammar::GrammarTables& tables, const DerivationBatch& batch,
                                        std::span<const int32_t> passed, int n_threads, Control& control);

}  // namespace dragoman::search
