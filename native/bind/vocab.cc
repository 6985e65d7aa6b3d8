#include "core/names/vocab.hh"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"

namespace dragoman::bind {

namespace {

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

nb::tuple to_tuple(names::EncodedLines&& lines) {
  return nb::make_tuple(to_numpy(std::move(lines.offsets)), to_numpy(std::move(lines.ids)));
}

}  // namespace

void bind_vocab(nb::module_& m) {
  nb::class_<names::WordTable>(m, "WordTable", "Interned byte strings with dense int32 ids.")
      .def(nb::init<>())
      .def("__len__", &names::WordTable::size)
      .def(
          "intern", [](names::WordTable& t, const nb::bytes& word) { return t.intern(view_of(word)); }, nb::arg("word"))
      .def(
          "find", [](const names::WordTable& t, const nb::bytes& word) { return t.find(view_of(word)); },
          nb::arg("word"), "The id, or -1.")
      .def(
          "word",
          [](const names::WordTable& t, int32_t id) {
            if (id < 0 || id >= t.size()) throw nb::index_error("no word has that id");
            const auto word = t.word(id);
            return nb::bytes(word.data(), word.size());
          },
          nb::arg("id"))
      .def("blob", [](const names::WordTable& t) { return nb::bytes(t.blob().data(), t.blob().size()); })
      .def("offsets", [](const names::WordTable& t) { return to_numpy(std::vector<int64_t>(t.offsets())); })
      .def(
          "encode_growing",
          [](names::WordTable& t, const nb::bytes& block, int64_t first_line) {
            names::EncodedLines lines;
            names::encode_lines(view_of(block), t, first_line,
                                lines);  // changes the table: the GIL is its lock
            return to_tuple(std::move(lines));
          },
          nb::arg("block"), nb::arg("first_line") = 1)
      .def(
          "encode",
          [](const names::WordTable& t, const nb::bytes& block, int32_t unknown, int64_t first_line) {
            names::EncodedLines lines;
            released([&] { names::encode_lines_frozen(view_of(block), t, unknown, first_line, lines); });
            return to_tuple(std::move(lines));
          },
          nb::arg("block"), nb::arg("unknown"), nb::arg("first_line") = 1)
      .def("__getstate__",
           [](const names::WordTable& t) {
             return nb::make_tuple(nb::bytes(t.blob().data(), t.blob().size()),
                                   to_numpy(std::vector<int64_t>(t.offsets())));
           })
      .def("__setstate__", [](names::WordTable& t, const std::tuple<nb::bytes, In<int64_t>>& state) {
        const auto& [blob, offsets] = state;
        const auto s = span_of(offsets);
        new (&t) names::WordTable(view_of(blob), std::vector<int64_t>(s.begin(), s.end()));
      });
  m.def(
      "word_table",
      [](const nb::bytes& blob, In<int64_t> offsets) {
        const auto s = span_of(offsets);
        return names::WordTable(view_of(blob), std::vector<int64_t>(s.begin(), s.end()));
      },
      nb::arg("blob"), nb::arg("offsets").noconvert());
  m.def(
      "assign_folds",
      [](const names::WordTable& table, In<int64_t> offsets, In<int32_t> ids, int n_folds, uint64_t seed) {
        if (n_folds < 1 || n_folds > 255) throw std::invalid_argument("n_folds must be from 1 to 255");
        return to_numpy(names::assign_folds(table, ragged_of(offsets, ids, "sentences"), n_folds, seed));
      },
      nb::arg("table"), nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("n_folds"),
      nb::arg("seed"));
  m.def(
      "escape_word",
      [](const nb::bytes& word) {
        std::string out;
        names::escape_word(view_of(word), out);
        return nb::bytes(out.data(), out.size());
      },
      nb::arg("word"));
  m.def(
      "unescape_word",
      [](const nb::bytes& word) {
        const std::string out = names::unescape_word(view_of(word));
        return nb::bytes(out.data(), out.size());
      },
      nb::arg("word"));
}

}  // namespace dragoman::bind
