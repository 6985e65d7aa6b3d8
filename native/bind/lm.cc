#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>
#include <variant>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/lm/arpa.hh"
#include "core/lm/batch.hh"
#include "core/lm/chart.hh"
#include "core/lm/estimate.hh"
#include "core/lm/model.hh"

namespace dragoman::bind {

namespace {

using lm::Model;

// A scored piece of a sentence; keeps its model alive.
struct Piece {
  std::shared_ptr<const Model> model;
  lm::ChartState state;
  double score;
};

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

uint32_t checked_word(const Model& model, int64_t id) {
  if (id < 0 || id >= model.n_words()) throw nb::index_error("no word of the language model has that id");
  return static_cast<uint32_t>(id);
}

nb::tuple to_tuple(lm::BatchScores&& scores) {
  return nb::make_tuple(to_numpy(std::move(scores.logprob)), to_numpy(std::move(scores.unknown_logprob)),
                        to_numpy(std::move(scores.n_tokens)), to_numpy(std::move(scores.n_unknown)));
}

// Without the thread that watch needs: for one sentence that would cost more than the scoring.
double score_sentence(const Model& model, In<int32_t> ids, bool bos, bool eos) {
  const int64_t offsets[] = {0, static_cast<int64_t>(ids.size())};
  Control control;
  return lm::score_ids(model, {offsets, span_of(ids)}, {bos, eos}, 1, control).logprob.front();
}

Out<int32_t> ids_of(const Model& model, const names::WordTable& words) {
  std::vector<int32_t> ids(static_cast<size_t>(words.size()));
  for (int32_t id = 0; id < words.size(); ++id) {
    const int32_t found = model.words().find(words.word(id));
    ids[static_cast<size_t>(id)] = found == names::WordTable::kAbsent ? static_cast<int32_t>(lm::kUnk) : found;
  }
  return to_numpy(std::move(ids));
}

nb::tuple full_scores(const Model& model, In<int32_t> ids, bool bos, bool eos) {
  std::vector<float> logprobs;
  std::vector<int32_t> lengths;
  lm::State state = bos ? model.begin_state() : model.empty_state();
  const auto push = [&](uint32_t word) {
    const lm::Match match = model.match(state, word, state);
    logprobs.push_back(match.logprob);
    lengths.push_back(match.length);
  };
  for (const int32_t id : span_of(ids)) push(checked_word(model, id));
  if (eos) push(lm::kEos);
  return nb::make_tuple(to_numpy(std::move(logprobs)), to_numpy(std::move(lengths)));
}

Piece join(const std::shared_ptr<const Model>& model, const std::vector<std::variant<int64_t, Piece>>& items,
           bool begins_sentence) {
  lm::PieceScorer scorer(*model);
  double inner = 0;
  if (begins_sentence) scorer.begin_sentence();
  for (const auto& item : items) {
    if (const auto* word = std::get_if<int64_t>(&item)) {
      scorer.word(checked_word(*model, *word));
    } else {
      const Piece& piece = std::get<Piece>(item);
      if (piece.model != model) throw nb::value_error("the piece was scored by another language model");
      scorer.piece(piece.state);
      inner += piece.score;
    }
  }
  return {model, scorer.state(), inner + scorer.score()};
}

void bind_model(nb::module_& m) {
  nb::class_<Model>(m, "LmModel", "A backoff n-gram model; immutable.")
      .def_prop_ro("order", &Model::order)
      .def_prop_ro(
          "n_ngrams",
          [](const Model& model) { return std::vector<int64_t>(model.n_ngrams().begin(), model.n_ngrams().end()); })
      .def_prop_ro("words", &Model::words, nb::rv_policy::reference_internal)
      .def(
          "score_text",
          [](const Model& model, const nb::bytes& block, int64_t first_line, bool bos, bool eos, int n_threads,
             nb::object progress) {
            const auto text = view_of(block);
            return to_tuple(watch(
                [&](Control& control) {
                  return lm::score_text(model, text, first_line, {bos, eos}, n_threads, control);
                },
                progress));
          },
          nb::arg("block"), nb::arg("first_line"), nb::arg("bos"), nb::arg("eos"), nb::arg("n_threads"),
          nb::arg("progress") = nb::none())
      .def(
          "score_ids",
          [](const Model& model, In<int64_t> offsets, In<int32_t> ids, bool bos, bool eos, int n_threads,
             nb::object progress) {
            const auto sentences = ragged_of(offsets, ids, "sentences");
            return to_tuple(
                watch([&](Control& control) { return lm::score_ids(model, sentences, {bos, eos}, n_threads, control); },
                      progress));
          },
          nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("bos"), nb::arg("eos"),
          nb::arg("n_threads"), nb::arg("progress") = nb::none())
      .def("score_sentence", &score_sentence, nb::arg("ids").noconvert(), nb::arg("bos"), nb::arg("eos"))
      .def("ids_of", &ids_of, nb::arg("words"))
      .def("full_scores", &full_scores, nb::arg("ids").noconvert(), nb::arg("bos"), nb::arg("eos"))
      .def("file_pieces", [](nb::object self) {
        nb::list pieces;
        for (const std::string_view piece : nb::cast<const Model&>(self).file_pieces())
          pieces.append(nb::steal(PyMemoryView_FromMemory(const_cast<char*>(piece.data()),
                                                          static_cast<Py_ssize_t>(piece.size()), PyBUF_READ)));
        return pieces;
      });
  m.def(
      "load_lm",
      [](int descriptor, bool verify) {
        nb::gil_scoped_release released;
        return std::make_shared<Model>(descriptor, verify);
      },
      nb::arg("descriptor"), nb::arg("verify"));

  nb::class_<Piece>(m, "LmPiece", "A scored piece of a sentence: equal when it can be exchanged for another.")
      .def_ro("score", &Piece::score)
      .def("__eq__", [](const Piece& a, const Piece& b) { return a.model == b.model && a.state == b.state; })
      .def("__hash__", [](const Piece& p) { return static_cast<int64_t>(p.state.hash() >> 2); });
  m.def("join_pieces", &join, nb::arg("model"), nb::arg("items"), nb::arg("begins_sentence"));
}

void bind_arpa(nb::module_& m) {
  nb::class_<lm::ArpaReader>(m, "ArpaReader", "ARPA text, fed in blocks of whole lines.")
      .def(nb::init<>())
      .def(
          "feed",
          [](lm::ArpaReader& reader, const nb::bytes& block) {
            nb::gil_scoped_release released;
            reader.feed(view_of(block));
          },
          nb::arg("block"))
      .def("finish", [](lm::ArpaReader& reader) {
        return watch([&](Control& control) { return std::shared_ptr<Model>(reader.finish(control)); });
      });
  nb::class_<lm::ArpaWriter>(m, "ArpaWriter", "A model as ARPA text, in blocks.")
      .def(nb::init<const Model&>(), nb::arg("model"), nb::keep_alive<1, 2>())
      .def("next_block", [](lm::ArpaWriter& writer) {
        std::string block;
        released([&] { writer.next(block); });
        return nb::bytes(block.data(), block.size());
      });
}

void bind_estimate(nb::module_& m) {
  nb::class_<lm::TrainingText>(m, "LmText", "Sentences to estimate a model from.")
      .def(nb::init<>())
      .def(
          "add",
          [](lm::TrainingText& text, In<int64_t> offsets, In<int32_t> ids, int64_t n_words,
             std::optional<In<uint8_t>> marks, int excluded) {
            const auto sentences = ragged_of(offsets, ids, "sentences");
            const auto chosen = marks ? span_of(*marks) : std::span<const uint8_t>();
            if (marks && static_cast<int64_t>(chosen.size()) != sentences.size())
              throw nb::value_error("one mark is needed for each sentence");
            text.add(sentences, n_words, chosen, excluded);
          },
          nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("n_words"),
          nb::arg("marks").noconvert() = nb::none(), nb::arg("excluded") = -1)
      .def_prop_ro("n_sentences", &lm::TrainingText::n_sentences)
      .def_prop_ro("n_tokens", [](const lm::TrainingText& text) { return text.tokens().size(); });
  m.def(
      "estimate_lm",
      [](const lm::TrainingText& text, const names::WordTable& words, int order, std::vector<int64_t> prune,
         std::optional<std::array<double, 3>> fallback, nb::object progress) {
        const lm::EstimateOptions options{order, std::move(prune), fallback.has_value(),
                                          fallback.value_or(std::array<double, 3>{})};
        auto estimated = watch([&](Control& control) { return lm::estimate(text, words, options, control); }, progress);
        std::vector<std::array<double, 3>> discounts;
        for (const auto& d : estimated.discounts) discounts.push_back({d[1], d[2], d[3]});
        return nb::make_tuple(std::shared_ptr<Model>(std::move(estimated.model)), std::move(discounts),
                              std::move(estimated.fallback_orders));
      },
      nb::arg("text"), nb::arg("words"), nb::arg("order"), nb::arg("prune"), nb::arg("fallback"),
      nb::arg("progress") = nb::none());
}

}  // namespace

void bind_lm(nb::module_& m) {
  bind_model(m);
  bind_arpa(m);
  bind_estimate(m);
}

}  // namespace dragoman::bind
