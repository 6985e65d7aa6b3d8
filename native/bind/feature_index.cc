#include "core/names/feature_index.hh"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <numeric>

#include "bind/arrays.hh"
#include "bind/modules.hh"

namespace dragoman::bind {

namespace {

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

int32_t checked(const names::FeatureIndex& index, int64_t id) {
  if (id < 0 || id >= index.size()) throw nb::index_error("no feature has that id");
  return static_cast<int32_t>(id);
}

std::span<const int32_t> checked_all(const names::FeatureIndex& index, const In<int32_t>& ids) {
  for (const int32_t id : span_of(ids)) checked(index, id);
  return span_of(ids);
}

std::vector<int32_t> intern_lines(names::FeatureIndex& index, std::string_view rest) {
  std::vector<int32_t> ids;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    ids.push_back(index.intern(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ids;
}

nb::bytes lines_of(const names::FeatureIndex& index, int64_t begin, int64_t end) {
  std::string text;
  for (int64_t id = begin; id < end; ++id) {
    text += index.name(checked(index, id));
    text += '\n';
  }
  return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_feature_index(nb::module_& m) {
  // Interning changes the table: the GIL is its lock.
  nb::class_<names::FeatureIndex>(m, "FeatureIndex", "Feature names with 64-bit keys and dense int32 ids.")
      .def(nb::init<int>(), nb::arg("key_bits") = 64)
      .def("__len__", &names::FeatureIndex::size)
      .def("intern", &names::FeatureIndex::intern, nb::arg("name"))
      .def("find", &names::FeatureIndex::find, nb::arg("name"), "The id, or -1.")
      .def(
          "name", [](const names::FeatureIndex& t, int64_t id) { return to_str(t.name(checked(t, id))); },
          nb::arg("id"))
      .def(
          "names",
          [](const names::FeatureIndex& t, In<int32_t> ids) {
            nb::list names;
            for (const int32_t id : span_of(ids)) names.append(to_str(t.name(checked(t, id))));
            return names;
          },
          nb::arg("ids").noconvert())
      .def("keys",
           [](const names::FeatureIndex& t) {
             return to_numpy(std::vector<uint64_t>(t.keys().begin(), t.keys().end()));
           })
      .def(
          "extend",
          [](names::FeatureIndex& t, const names::FeatureIndex& other, std::optional<In<int32_t>> ids) {
            if (ids) return to_numpy(t.extend(other, checked_all(other, *ids)));
            std::vector<int32_t> all(at(other.size()));
            std::iota(all.begin(), all.end(), 0);
            return to_numpy(t.extend(other, all));
          },
          nb::arg("other"), nb::arg("ids").noconvert() = nb::none(),
          "Interns features of another index, by default all; returns their ids here.")
      .def(
          "find_all",
          [](const names::FeatureIndex& t, const names::FeatureIndex& other, In<int32_t> ids) {
            return to_numpy(t.find_all(other, checked_all(other, ids)));
          },
          nb::arg("other"), nb::arg("ids").noconvert(), "The ids here of features of another index, or -1.")
      .def(
          "extend_table",
          [](names::FeatureIndex& t, const names::FeatureTable& table, std::optional<In<int64_t>> places) {
            return to_numpy(t.extend(table, places ? span_of(*places) : std::span<const int64_t>()));
          },
          nb::arg("table"), nb::arg("places").noconvert() = nb::none(),
          "Interns the features of a table, by key or by place; returns the id of each.")
      .def(
          "find_table",
          [](const names::FeatureIndex& t, const names::FeatureTable& table) { return to_numpy(t.find_all(table)); },
          nb::arg("table"), "The id of each feature of a table, or -1.")
      .def(
          "intern_lines",
          [](names::FeatureIndex& t, const nb::bytes& block) { return to_numpy(intern_lines(t, view_of(block))); },
          nb::arg("block"), "The ids of names given one a line.")
      .def(
          "lines", [](const names::FeatureIndex& t, int64_t begin, int64_t end) { return lines_of(t, begin, end); },
          nb::arg("begin"), nb::arg("end"), "The names of ids begin..end-1, one a line.")
      .def("__getstate__", [](const names::FeatureIndex& t) { return lines_of(t, 0, t.size()); })
      .def("__setstate__", [](names::FeatureIndex& t, const nb::bytes& lines) {
        new (&t) names::FeatureIndex();
        intern_lines(t, view_of(lines));
      });
  m.def("feature_key", [](std::string_view name) { return names::feature_key(name); }, nb::arg("name"));
}

}  // namespace dragoman::bind
