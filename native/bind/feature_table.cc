#include "core/names/feature_table.hh"

#include <nanobind/stl/pair.h>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/names/feature_index.hh"

namespace dragoman::bind {

namespace {

using names::FeatureTable;

// Arrays that a table looks into. Whoever lets go of the last table may not have the interpreter's lock.
struct Held {
  In<uint64_t> keys;
  In<int64_t> offsets;
  In<uint8_t> blob;
};

FeatureTable table_of(In<uint64_t> keys, In<int64_t> offsets, In<uint8_t> blob) {
  const std::shared_ptr<const void> owner(new Held{keys, offsets, blob}, [](const Held* held) {
    const nb::gil_scoped_acquire locked;
    delete held;
  });
  const std::span<const char> bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
  return released([&] { return FeatureTable(span_of(keys), span_of(offsets), bytes, owner); });
}

// A view that keeps the table's arrays alive.
template <typename T, typename S>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view_of(const FeatureTable& table, std::span<const S> values) {
  auto* owner = new std::shared_ptr<const void>(table.owner());
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
  return {reinterpret_cast<const T*>(values.data()), {values.size()}, capsule};
}

int64_t checked(const FeatureTable& table, int64_t place) {
  if (place < 0 || place >= table.size()) throw nb::index_error("the table has no feature there");
  return place;
}

nb::list names_of(const FeatureTable& table, In<int64_t> places) {
  nb::list names;
  for (const int64_t place : span_of(places)) {
    const std::string_view name = table.name(checked(table, place));
    names.append(nb::str(name.data(), name.size()));
  }
  return names;
}

FeatureTable take(const FeatureTable& table, In<int64_t> places) {
  FeatureTable::Arrays arrays;
  int64_t last = -1;
  for (const int64_t place : span_of(places)) {
    if (checked(table, place) <= last) throw nb::value_error("places must ascend");
    arrays.add(table.keys()[at(place)], table.name(place));
    last = place;
  }
  return FeatureTable(std::move(arrays));
}

}  // namespace

void bind_feature_table(nb::module_& m) {
  nb::class_<FeatureTable>(m, "FeatureNames", "Feature names in the order of their 64-bit keys, as arrays.")
      .def(
          "__init__",
          [](FeatureTable* self, In<uint64_t> keys, In<int64_t> offsets, In<uint8_t> blob) {
            new (self) FeatureTable(table_of(keys, offsets, blob));
          },
          nb::arg("keys").noconvert(), nb::arg("offsets").noconvert(), nb::arg("blob").noconvert())
      .def("__len__", &FeatureTable::size)
      .def_prop_ro(
          "keys", [](const FeatureTable& t) { return view_of<uint64_t>(t, t.keys()); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "offsets", [](const FeatureTable& t) { return view_of<int64_t>(t, t.offsets()); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "blob", [](const FeatureTable& t) { return view_of<uint8_t>(t, t.blob()); }, nb::rv_policy::automatic)
      .def("names", names_of, nb::arg("places").noconvert())
      .def("take", take, nb::arg("places").noconvert(), "The features at these places, which ascend.")
      .def(
          "merge",
          [](const FeatureTable& left, const FeatureTable& right) {
            names::Merged result = released([&] { return names::merge_features(left, right); });
            return nb::make_tuple(std::move(result.table), to_numpy(std::move(result.left)),
                                  to_numpy(std::move(result.right)));
          },
          nb::arg("other"), "The features of both, and where those of each are now.");
  m.def(
      "sort_features",
      [](const names::FeatureIndex& index, In<int32_t> ids) {
        names::Sorted result = names::sort_features(index, span_of(ids));
        return nb::make_tuple(std::move(result.table), to_numpy(std::move(result.order)));
      },
      nb::arg("index"), nb::arg("ids").noconvert(), "The features in the order of their keys, and that order.");
}

}  // namespace dragoman::bind
