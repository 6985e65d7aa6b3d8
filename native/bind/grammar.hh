// What the bindings of grammars share.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bind/watch.hh"
#include "core/grammar/build.hh"
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

// The method `write` of tables read from text.
template <typename Table>
void def_write(nb::class_<Table>& cls) {
  cls.def(
      "write",
      [](const Table& table, const std::string& folder, int n_source_words, int n_target_words,
         int64_t max_memory_bytes, int n_threads) {
        const grammar::BuildOptions options{folder, max_memory_bytes, n_threads};
        return to_dict(
            watch([&](Control& control) { return table.write(options, n_source_words, n_target_words, control); }));
      },
      nb::arg("folder"), nb::arg("n_source_words"), nb::arg("n_target_words"), nb::arg("max_memory_bytes"),
      nb::arg("n_threads"));
}

void bind_moses(nb::module_& m);
void bind_rules(nb::module_& m);

}  // namespace dragoman::bind
