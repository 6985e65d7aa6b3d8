#include <nanobind/nanobind.h>

#include <system_error>

#include "bind/modules.hh"
#include "core/base/control.hh"
#include "core/base/errors.hh"

namespace nb = nanobind;

namespace {

// Raises dragoman.errors.InputError(message, line=...), which the Python side completes with the file's name.
void raise_input_error(const dragoman::InputError& error) {
  nb::object type = nb::module_::import_("dragoman.errors").attr("InputError");
  nb::object instance = type(nb::str(error.what()), nb::arg("line") = error.line ? nb::cast(error.line) : nb::none());
  PyErr_SetObject(type.ptr(), instance.ptr());
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The native core of Dragoman.";
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const dragoman::InputError& error) {
      raise_input_error(error);
    } catch (const std::system_error& error) {
      PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.code().value(), error.what()).ptr());
    } catch (const dragoman::Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  dragoman::bind::bind_feature_table(m);
  dragoman::bind::bind_feature_index(m);
  dragoman::bind::bind_align(m);
  dragoman::bind::bind_batches(m);
  dragoman::bind::bind_chart_search(m);
  dragoman::bind::bind_corpus(m);
  dragoman::bind::bind_forest(m);
  dragoman::bind::bind_forest_learning(m);
  dragoman::bind::bind_grammar(m);
  dragoman::bind::bind_lm(m);
  dragoman::bind::bind_losses(m);
  dragoman::bind::bind_metric(m);
  dragoman::bind::bind_optim(m);
  dragoman::bind::bind_margin(m);
  dragoman::bind::bind_option_builder(m);
  dragoman::bind::bind_derivation_features(m);
  dragoman::bind::bind_phrase_search(m);
  dragoman::bind::bind_pool(m);
  dragoman::bind::bind_references(m);
  dragoman::bind::bind_store(m);
  dragoman::bind::bind_vocab(m);
}
