// All consistent phrase pairs of a word-aligned bitext, with their orientations, into the tables of a grammar.
#pragma once

#include "core/base/control.hh"
#include "core/grammar/extract_text.hh"

namespace dragoman::grammar {

// Throws InputError with the sentence's line (from 1) for a link outside its sentence pair.
ExtractStats extract_phrases(const ParallelText& text, const align::Links& links, const ExtractOptions& options,
                             Control& control);

}  // namespace dragoman::grammar
