#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "core/search/new_features.hh"
#include "core/search/phrase_batch.hh"
#include "core/search/rule_batch.hh"

namespace dragoman::bind {

namespace {

template <typename Values>
using ElementOf = typename std::remove_cvref_t<Values>::value_type;

// A read-only view, which keeps the batch alive; None where the batch has no such array.
template <typename Batch>
nb::object array_of(nb::handle owner, std::string_view wanted) {
  nb::object found = nb::none();
  const Batch& batch = nb::cast<const Batch&>(owner);
  Batch::each_array(batch, [&](std::string_view name, const auto& values, auto... n_columns) {
    if (name != wanted) return;
    std::vector<size_t> shape{values.size()};
    if constexpr (sizeof...(n_columns) == 1) shape = {batch.rules.size(), at(n_columns)...};
    found = nb::cast(
        nb::ndarray<nb::numpy, const ElementOf<decltype(values)>>(values.data(), shape.size(), shape.data(), owner));
  });
  return found;
}

// `prototype` has all arrays that a batch can have.
template <typename Batch>
void def_arrays(nb::class_<Batch>& cls, const Batch& prototype) {
  Batch::each_array(prototype, [&](const char* name, const auto&...) {
    cls.def_prop_ro(name, [name](nb::handle_t<Batch> self) { return array_of<Batch>(self, name); });
  });
  cls.def("__len__", &Batch::size);
  cls.def(
      "interned", [](const Batch& b, names::FeatureIndex& index) { return search::interned(b, index); },
      nb::arg("index"), "The batch with all its features in the index.");
  cls.def_prop_ro("own_words", [](const Batch& b) { return nb::tuple(nb::cast(b.own_words)); });
}

template <typename Batch>
void read_arrays(const nb::kwargs& arrays, Batch& batch) {
  size_t n_read = 0;
  Batch::each_array(batch, [&](const char* name, auto& values, auto&... n_columns) {
    using Element = ElementOf<decltype(values)>;
    using Array = std::conditional_t<sizeof...(n_columns) == 1, In2<Element>, In<Element>>;
    Array array;
    if (!arrays.contains(name) || !nb::try_cast(arrays[name], array, /*convert=*/false))
      throw nb::type_error((std::string(name) + ": a contiguous array of its type is needed").c_str());
    values.assign(array.data(), array.data() + array.size());
    ((n_columns = static_cast<int64_t>(array.shape(1))), ...);
    ++n_read;
  });
  if (n_read != arrays.size()) throw nb::type_error("there is an array of a name that a batch does not have");
  batch.check();
}

}  // namespace

void bind_batches(nb::module_& m) {
  nb::class_<search::PhraseBatch> phrases(m, "PhraseBatch", "Translation options of some sentences.");
  search::PhraseBatch whole;
  whole.oriented.emplace();
  def_arrays(phrases, whole);
  phrases.def_static(
      "from_arrays",
      [](std::vector<std::string> own_words, const nb::kwargs& arrays) {
        search::PhraseBatch batch;
        batch.own_words = std::move(own_words);
        if (arrays.contains("part_offsets")) batch.oriented.emplace();
        read_arrays(arrays, batch);
        return batch;
      },
      nb::kw_only(), nb::arg("own_words") = std::vector<std::string>{}, nb::arg("arrays"),
      "Copies of arrays by the names of their views. Raises ValueError when they do not fit together.");

  nb::class_<search::RuleBatch> rules(m, "RuleBatch", "Rules that match in some sentences.");
  search::RuleBatch all;
  all.contexts.emplace();
  all.gaps.emplace();
  def_arrays(rules, all);
  rules.def_prop_ro("labels", [](const search::RuleBatch& b) { return nb::tuple(nb::cast(b.labels)); });
  rules.def_prop_ro("gap_max_length", [](const search::RuleBatch& b) { return b.gaps ? b.gaps->max_length : 0; });
  rules.def_static(
      "from_arrays",
      [](std::vector<std::string> labels, int32_t gap_max_length, std::vector<std::string> own_words,
         const nb::kwargs& arrays) {
        search::RuleBatch batch;
        batch.labels = std::move(labels);
        batch.own_words = std::move(own_words);
        if (arrays.contains("context_first_place")) batch.contexts.emplace();
        if (arrays.contains("gap_first_class")) batch.gaps.emplace().max_length = gap_max_length;
        read_arrays(arrays, batch);
        return batch;
      },
      nb::kw_only(), nb::arg("labels"), nb::arg("gap_max_length") = 0,
      nb::arg("own_words") = std::vector<std::string>{}, nb::arg("arrays"),
      "Copies of arrays by the names of their views. Raises ValueError when they do not fit together.");
}

}  // namespace dragoman::bind
