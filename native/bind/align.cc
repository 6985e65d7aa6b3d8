#include <nanobind/stl/string.h>

#include "bind/arrays.hh"
#include "bind/links.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/align/ibm2.hh"
#include "core/align/links.hh"
#include "core/align/minimal_tree.hh"

namespace dragoman::bind {

namespace {

nb::tuple to_tuple(align::LinkTable&& table) {
  auto* owner = new std::vector<align::Link>(std::move(table.links));
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<align::Link>*>(p); });
  Out<int32_t> links(reinterpret_cast<int32_t*>(owner->data()), {owner->size(), 2}, capsule);
  return nb::make_tuple(to_numpy(std::move(table.offsets)), std::move(links));
}

template <typename T>
Out<T> copied(const std::vector<T>& values) {
  return to_numpy(std::vector<T>(values));
}

void bind_ibm2(nb::module_& m) {
  nb::class_<align::Ibm2Model>(m, "Ibm2Model",
                               "Parameters of the log-linear IBM Model 2; rows are sorted by target word.")
      .def_ro("tension", &align::Ibm2Model::tension)
      .def("row_offsets", [](const align::Ibm2Model& model) { return copied(model.row_offsets); })
      .def("targets", [](const align::Ibm2Model& model) { return copied(model.targets); })
      .def("probs", [](const align::Ibm2Model& model) { return copied(model.probs); })
      .def("null_probs", [](const align::Ibm2Model& model) { return copied(model.null_probs); })
      .def(
          "align",
          [](const align::Ibm2Model& model, In<int64_t> source_offsets, In<int32_t> source_ids,
             In<int64_t> target_offsets, In<int32_t> target_ids, int n_threads) {
            const auto source = ragged_of(source_offsets, source_ids, "source");
            const auto target = ragged_of(target_offsets, target_ids, "target");
            return to_numpy(watch([&](Control& control) { return model.align(source, target, n_threads, control); }));
          },
          nb::arg("source_offsets").noconvert(), nb::arg("source_ids").noconvert(),
          nb::arg("target_offsets").noconvert(), nb::arg("target_ids").noconvert(), nb::arg("n_threads"),
          "Per target word its source position, or -1.");
  m.def(
      "train_ibm2",
      [](In<int64_t> source_offsets, In<int32_t> source_ids, In<int64_t> target_offsets, In<int32_t> target_ids,
         int n_iterations, double null_prob, double tension, bool fit_tension, double alpha, int max_length,
         int n_threads, bool keep_model, nb::object progress) {
        const auto source = ragged_of(source_offsets, source_ids, "source");
        const auto target = ragged_of(target_offsets, target_ids, "target");
        const align::Ibm2Options options{n_iterations, null_prob, tension, fit_tension, alpha, max_length, n_threads};
        auto result =
            watch([&](Control& control) { return align::train_ibm2(source, target, options, keep_model, control); },
                  progress);
        std::vector<double> steps;
        for (const auto& step : result.steps)
          steps.insert(steps.end(), {step.log_likelihood, step.tension, step.null_mass});
        const size_t n_steps = result.steps.size();
        return nb::make_tuple(to_numpy(std::move(result.assignment)), to_numpy(std::move(steps), {n_steps, 3}),
                              keep_model ? nb::cast(std::move(result.model)) : nb::none());
      },
      nb::arg("source_offsets").noconvert(), nb::arg("source_ids").noconvert(), nb::arg("target_offsets").noconvert(),
      nb::arg("target_ids").noconvert(), nb::arg("n_iterations"), nb::arg("null_prob"), nb::arg("tension"),
      nb::arg("fit_tension"), nb::arg("alpha"), nb::arg("max_length"), nb::arg("n_threads"), nb::arg("keep_model"),
      nb::arg("progress") = nb::none());
}

void bind_trees(nb::module_& m) {
  m.def(
      "minimal_trees",
      [](In<int32_t> source_lengths, In<int32_t> target_lengths, In<int64_t> offsets, In2<int32_t> links,
         int n_threads) {
        const auto rows = links_in(offsets, links, "links");
        align::TreeTable table = watch([&](Control& control) {
          return align::minimal_trees(span_of(source_lengths), span_of(target_lengths), rows, n_threads, control);
        });
        const size_t n = table.nodes.size();
        std::vector<int32_t> spans, parents;
        std::vector<uint8_t> kinds;
        spans.reserve(4 * n);
        for (const align::TreeNode& node : table.nodes) {
          spans.insert(spans.end(), {node.source_begin, node.source_end, node.target_begin, node.target_end});
          parents.push_back(node.parent);
          kinds.push_back(static_cast<uint8_t>(node.kind));
        }
        return nb::make_tuple(to_numpy(std::move(table.offsets)), to_numpy(std::move(spans), {n, 4}),
                              to_numpy(std::move(parents)), to_numpy(std::move(kinds)));
      },
      nb::arg("source_lengths").noconvert(), nb::arg("target_lengths").noconvert(), nb::arg("offsets").noconvert(),
      nb::arg("links").noconvert(), nb::arg("n_threads"),
      "Offsets, spans, parents and kinds of the nodes of minimal trees.");
}

}  // namespace

void bind_align(nb::module_& m) {
  bind_ibm2(m);
  bind_trees(m);
  m.def(
      "links_of",
      [](In<int64_t> offsets, In<int32_t> assignment, bool by_source) {
        ragged_of(offsets, assignment, "assignment");
        return to_tuple(align::links_of(span_of(offsets), span_of(assignment), by_source));
      },
      nb::arg("offsets").noconvert(), nb::arg("assignment").noconvert(), nb::arg("by_source"));
  m.def(
      "symmetrize_links",
      [](In<int64_t> first_offsets, In2<int32_t> first_links, In<int64_t> second_offsets, In2<int32_t> second_links,
         const std::string& heuristic_name, int n_threads) {
        const align::Heuristic heuristic = align::heuristic_named(heuristic_name);
        const auto first = links_in(first_offsets, first_links, "first");
        const auto second = links_in(second_offsets, second_links, "second");
        return to_tuple(
            watch([&](Control& control) { return align::symmetrize(first, second, heuristic, n_threads, control); }));
      },
      nb::arg("first_offsets").noconvert(), nb::arg("first_links").noconvert(), nb::arg("second_offsets").noconvert(),
      nb::arg("second_links").noconvert(), nb::arg("heuristic"), nb::arg("n_threads"));
  m.def(
      "overlap_of_links",
      [](In<int64_t> first_offsets, In2<int32_t> first_links, In<int64_t> second_offsets, In2<int32_t> second_links,
         int n_threads) {
        const auto first = links_in(first_offsets, first_links, "first");
        const auto second = links_in(second_offsets, second_links, "second");
        const auto sizes = watch([&](Control& control) { return align::overlap(first, second, n_threads, control); });
        return nb::make_tuple(sizes.n_first, sizes.n_second, sizes.n_shared);
      },
      nb::arg("first_offsets").noconvert(), nb::arg("first_links").noconvert(), nb::arg("second_offsets").noconvert(),
      nb::arg("second_links").noconvert(), nb::arg("n_threads"));
  m.def(
      "parse_pharaoh",
      [](const nb::bytes& block, int64_t first_line) {
        align::LinkTable table;
        align::parse_pharaoh({block.c_str(), block.size()}, first_line, table);
        return to_tuple(std::move(table));
      },
      nb::arg("block"), nb::arg("first_line") = 1);
  m.def(
      "format_pharaoh",
      [](In<int64_t> offsets, In2<int32_t> links, int64_t begin, int64_t end) {
        const auto rows = links_in(offsets, links, "links");
        if (begin < 0 || end < begin || end > rows.size()) throw nb::index_error("no such rows");
        std::string out;
        align::format_pharaoh(rows, begin, end, out);
        return nb::bytes(out.data(), out.size());
      },
      nb::arg("offsets").noconvert(), nb::arg("links").noconvert(), nb::arg("begin"), nb::arg("end"));
}

}  // namespace dragoman::bind
