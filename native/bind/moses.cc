#include "core/grammar/phrase_table_read.hh"

#include <nanobind/stl/string.h>

#include <string>

#include "bind/arrays.hh"
#include "bind/grammar.hh"
#include "bind/watch.hh"

namespace dragoman::bind {

void bind_moses(nb::module_& m) {
  nb::class_<grammar::MosesTable> moses(m, "MosesTable",
                                        "The entries of a phrase table and, with it, of a reordering table.");
  def_write(moses);
  moses.def(nb::init<>())
      .def("__len__", &grammar::MosesTable::size)
      .def("n_reordering", &grammar::MosesTable::n_reordering)
      .def(
          "add_phrases",
          [](grammar::MosesTable& table, const nb::bytes& block, int64_t first_line, names::WordTable& source,
             names::WordTable& target) {
            table.add_phrases({block.c_str(), block.size()}, first_line, source, target);
          },
          nb::arg("block"), nb::arg("first_line"), nb::arg("source"), nb::arg("target"))
      .def(
          "add_reordering",
          [](grammar::MosesTable& table, const nb::bytes& block, int64_t first_line, const names::WordTable& source,
             const names::WordTable& target) {
            table.add_reordering({block.c_str(), block.size()}, first_line, source, target);
          },
          nb::arg("block"), nb::arg("first_line"), nb::arg("source"), nb::arg("target"))
      .def(
          "place",
          [](const grammar::MosesTable& table, const MappedGrammar& grammar) {
            std::vector<float> scores, reordering;
            released([&] { table.place(grammar.tables, scores, reordering); });
            return nb::make_tuple(to_numpy(std::move(scores)), to_numpy(std::move(reordering)));
          },
          nb::arg("grammar"), "Scores and reordering scores of every pair.");
  m.def(
      "format_moses",
      [](const MappedGrammar& grammar, const grammar::PhraseView& view, const names::WordTable& source,
         const names::WordTable& target, int64_t begin, int64_t end) {
        std::string phrases, reordering;
        released([&] { grammar::format_moses(grammar.tables, view, source, target, begin, end, phrases, reordering); });
        return nb::make_tuple(nb::bytes(phrases.data(), phrases.size()),
                              nb::bytes(reordering.data(), reordering.size()));
      },
      nb::arg("grammar"), nb::arg("view"), nb::arg("source"), nb::arg("target"), nb::arg("begin"), nb::arg("end"));
}

}  // namespace dragoman::bind
