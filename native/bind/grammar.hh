// What the bindings of grammars share.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "core/grammar/extract_text.hh"
#include "core/grammar/tables.hh"

namespace dragoman::bind {

namespace nb = nanobind;

// A grammar whose tables are mapped by Python: the arrays live as long as this does.
struct MappedGrammar {
  grammar::GrammarTables tables;
  std::vector<nb::object> arrays;
};

nb::dict to_dict(const grammar::BuildStats& stats);
nb::dict to_dict(const grammar::ExtractStats& stats);
void bind_moses(nb::module_& m);
void bind_rules(nb::module_& m);

}  // namespace dragoman::bind
