#include <algorithm>

#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "bind/watch.hh"
#include "core/metric/bleu.hh"
#include "core/metric/chrf.hh"
#include "core/metric/consensus.hh"
#include "core/metric/ribes.hh"
#include "core/metric/ter.hh"
#include "core/metric/wer.hh"

namespace dragoman::bind {

namespace {

metric::MetricInput input_of(const In<int64_t>& offsets, const In<int32_t>& ids, const In<int32_t>& sentence,
                             const In<int64_t>& ref_offsets, const In<int64_t>& ref_word_offsets,
                             const In<int32_t>& ref_ids) {
  metric::MetricInput input{{span_of(offsets), span_of(ids)},
                            span_of(sentence),
                            span_of(ref_offsets),
                            {span_of(ref_word_offsets), span_of(ref_ids)}};
  input.check();
  return input;
}

metric::ConsensusInput lists_of(const In<int64_t>& offsets, const In<int32_t>& ids, const In<int64_t>& lists,
                                const In<double>& mass) {
  metric::ConsensusInput input{{span_of(offsets), span_of(ids)}, span_of(lists), span_of(mass)};
  input.check();
  return input;
}

void bind_expected(nb::module_& m) {
  m.def(
      "expected_bleu",
      [](In<int64_t> offsets, In<int32_t> ids, In<int64_t> lists, In<double> mass, int order, int threads) {
        const auto input = lists_of(offsets, ids, lists, mass);
        return to_numpy(watch([&](Control& control) { return metric::expected_bleu(input, order, threads, control); }));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("lists").noconvert(),
      nb::arg("mass").noconvert(), nb::arg("order"), nb::arg("n_threads"));
  m.def(
      "expected_chrf",
      [](In<int64_t> offsets, In<int32_t> ids, In<int64_t> lists, In<double> mass, In<int64_t> character_offsets,
         In<int32_t> characters, In<int64_t> piece_offsets, In<int32_t> pieces, int char_order, int word_order,
         double beta, int threads) {
        const auto input = lists_of(offsets, ids, lists, mass);
        const metric::SpellingTables spelling{ragged_of(character_offsets, characters, "characters"),
                                              ragged_of(piece_offsets, pieces, "pieces")};
        return to_numpy(watch([&](Control& control) {
          return metric::expected_chrf(input, spelling, char_order, word_order, beta, threads, control);
        }));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("lists").noconvert(),
      nb::arg("mass").noconvert(), nb::arg("character_offsets").noconvert(), nb::arg("characters").noconvert(),
      nb::arg("piece_offsets").noconvert(), nb::arg("pieces").noconvert(), nb::arg("char_order"), nb::arg("word_order"),
      nb::arg("beta"), nb::arg("n_threads"));
  m.def(
      "expected_ter",
      [](In<int64_t> offsets, In<int32_t> ids, In<int64_t> lists, In<double> mass, int threads) {
        const auto input = lists_of(offsets, ids, lists, mass);
        return to_numpy(watch([&](Control& control) { return metric::expected_ter(input, threads, control); }));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("lists").noconvert(),
      nb::arg("mass").noconvert(), nb::arg("n_threads"));
  m.def(
      "expected_wer",
      [](In<int64_t> offsets, In<int32_t> ids, In<int64_t> lists, In<double> mass, int threads) {
        const auto input = lists_of(offsets, ids, lists, mass);
        return to_numpy(watch([&](Control& control) { return metric::expected_wer(input, threads, control); }));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("lists").noconvert(),
      nb::arg("mass").noconvert(), nb::arg("n_threads"));
  m.def(
      "expected_ribes",
      [](In<int64_t> offsets, In<int32_t> ids, In<int64_t> lists, In<double> mass, double precision, double brevity,
         int threads) {
        const auto input = lists_of(offsets, ids, lists, mass);
        return to_numpy(watch(
            [&](Control& control) { return metric::expected_ribes(input, {precision, brevity}, threads, control); }));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("lists").noconvert(),
      nb::arg("mass").noconvert(), nb::arg("precision"), nb::arg("brevity"), nb::arg("n_threads"));
  m.def(
      "expected_matches",
      [](In<int64_t> offsets, In<int32_t> ids, In<int64_t> lists, In<double> mass, int order, int threads) {
        const auto input = lists_of(offsets, ids, lists, mass);
        auto matches =
            watch([&](Control& control) { return metric::expected_matches(input, order, threads, control); });
        return to_numpy(std::move(matches), {mass.size(), static_cast<size_t>(order)});
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("lists").noconvert(),
      nb::arg("mass").noconvert(), nb::arg("order"), nb::arg("n_threads"));
}

Out<double> rows(std::vector<double>&& statistics, size_t n_rows, size_t width) {
  return to_numpy(std::move(statistics), {n_rows, width});
}

}  // namespace

void bind_metric(nb::module_& m) {
  bind_expected(m);
  nb::enum_<metric::ReferenceLength>(m, "ReferenceLength")
      .value("CLOSEST", metric::ReferenceLength::kClosest)
      .value("SHORTEST", metric::ReferenceLength::kShortest)
      .value("AVERAGE", metric::ReferenceLength::kAverage);
  m.def(
      "bleu_statistics",
      [](In<int64_t> offsets, In<int32_t> ids, In<int32_t> sentence, In<int64_t> ref_offsets,
         In<int64_t> ref_word_offsets, In<int32_t> ref_ids, int order, metric::ReferenceLength length, int threads) {
        const auto input = input_of(offsets, ids, sentence, ref_offsets, ref_word_offsets, ref_ids);
        auto statistics =
            watch([&](Control& control) { return metric::bleu_statistics(input, order, length, threads, control); });
        return rows(std::move(statistics), sentence.size(), 2 + 2 * static_cast<size_t>(order));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("sentence").noconvert(),
      nb::arg("ref_offsets").noconvert(), nb::arg("ref_word_offsets").noconvert(), nb::arg("ref_ids").noconvert(),
      nb::arg("order"), nb::arg("length"), nb::arg("n_threads"));
  m.def(
      "chrf_statistics",
      [](In<int64_t> offsets, In<int32_t> ids, In<int32_t> sentence, In<int64_t> ref_offsets,
         In<int64_t> ref_word_offsets, In<int32_t> ref_ids, In<int64_t> character_offsets, In<int32_t> characters,
         In<int64_t> piece_offsets, In<int32_t> pieces, int char_order, int word_order, double beta, int threads) {
        const auto input = input_of(offsets, ids, sentence, ref_offsets, ref_word_offsets, ref_ids);
        const metric::SpellingTables spelling{ragged_of(character_offsets, characters, "characters"),
                                              ragged_of(piece_offsets, pieces, "pieces")};
        auto statistics = watch([&](Control& control) {
          return metric::chrf_statistics(input, spelling, char_order, word_order, beta, threads, control);
        });
        return rows(std::move(statistics), sentence.size(), 3 * static_cast<size_t>(char_order + word_order));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("sentence").noconvert(),
      nb::arg("ref_offsets").noconvert(), nb::arg("ref_word_offsets").noconvert(), nb::arg("ref_ids").noconvert(),
      nb::arg("character_offsets").noconvert(), nb::arg("characters").noconvert(), nb::arg("piece_offsets").noconvert(),
      nb::arg("pieces").noconvert(), nb::arg("char_order"), nb::arg("word_order"), nb::arg("beta"),
      nb::arg("n_threads"));
  m.def(
      "ter_statistics",
      [](In<int64_t> offsets, In<int32_t> ids, In<int32_t> sentence, In<int64_t> ref_offsets,
         In<int64_t> ref_word_offsets, In<int32_t> ref_ids, int threads) {
        const auto input = input_of(offsets, ids, sentence, ref_offsets, ref_word_offsets, ref_ids);
        auto statistics = watch([&](Control& control) { return metric::ter_statistics(input, threads, control); });
        return rows(std::move(statistics), sentence.size(), 2);
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("sentence").noconvert(),
      nb::arg("ref_offsets").noconvert(), nb::arg("ref_word_offsets").noconvert(), nb::arg("ref_ids").noconvert(),
      nb::arg("n_threads"));
  m.def(
      "wer_statistics",
      [](In<int64_t> offsets, In<int32_t> ids, In<int32_t> sentence, In<int64_t> ref_offsets,
         In<int64_t> ref_word_offsets, In<int32_t> ref_ids, int threads) {
        const auto input = input_of(offsets, ids, sentence, ref_offsets, ref_word_offsets, ref_ids);
        auto statistics = watch([&](Control& control) { return metric::wer_statistics(input, threads, control); });
        return rows(std::move(statistics), sentence.size(), 2);
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("sentence").noconvert(),
      nb::arg("ref_offsets").noconvert(), nb::arg("ref_word_offsets").noconvert(), nb::arg("ref_ids").noconvert(),
      nb::arg("n_threads"));
  m.def(
      "ribes_scores",
      [](In<int64_t> offsets, In<int32_t> ids, In<int32_t> sentence, In<int64_t> ref_offsets,
         In<int64_t> ref_word_offsets, In<int32_t> ref_ids, double precision, double brevity, int threads) {
        const auto input = input_of(offsets, ids, sentence, ref_offsets, ref_word_offsets, ref_ids);
        return to_numpy(watch(
            [&](Control& control) { return metric::ribes_scores(input, {precision, brevity}, threads, control); }));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("sentence").noconvert(),
      nb::arg("ref_offsets").noconvert(), nb::arg("ref_word_offsets").noconvert(), nb::arg("ref_ids").noconvert(),
      nb::arg("precision"), nb::arg("brevity"), nb::arg("n_threads"));
  m.def(
      "ter_edits",
      [](In<int64_t> offsets, In<int32_t> ids, In<int32_t> sentence, In<int64_t> ref_offsets,
         In<int64_t> ref_word_offsets, In<int32_t> ref_ids, int threads) {
        const auto input = input_of(offsets, ids, sentence, ref_offsets, ref_word_offsets, ref_ids);
        auto edits = watch([&](Control& control) { return metric::ter_edits(input, threads, control); });
        return nb::make_tuple(to_numpy(std::move(edits.references)), to_numpy(std::move(edits.n_shifts)),
                              to_numpy(std::move(edits.offsets)), to_numpy(std::move(edits.steps)),
                              to_numpy(std::move(edits.candidate_words)), to_numpy(std::move(edits.reference_words)),
                              to_numpy(std::move(edits.is_shifted)));
      },
      nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(), nb::arg("sentence").noconvert(),
      nb::arg("ref_offsets").noconvert(), nb::arg("ref_word_offsets").noconvert(), nb::arg("ref_ids").noconvert(),
      nb::arg("n_threads"), "references, n_shifts, offsets, steps, candidate_words, reference_words, is_shifted.");
}

}  // namespace dragoman::bind
