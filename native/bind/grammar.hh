// A grammar whose tables are mapped by Python: the arrays live as long as this does.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "core/grammar_tables.hh"

namespace dragoman::bind {

struct MappedGrammar {
  GrammarTables tables;
  std::vector<nanobind::object> arrays;
};

}  // namespace dragoman::bind
