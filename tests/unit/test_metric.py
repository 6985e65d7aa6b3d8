"""Names, mixes, arrays and errors of metrics."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman import metric as metrics
from dragoman.errors import InputError, MismatchError
from dragoman.metric import (
    Bleu,
    Chrf,
    External,
    Lexicon,
    Mix,
    References,
    Segments,
    Smoothing,
    Spelling,
    Ter,
    Tokenizer,
    by_name,
    output_statistics,
    references_by_sentence,
    score_text,
)


def test_plain_names():
    assert by_name("bleu") == Bleu()
    assert by_name(" TER ") == Ter()
    assert by_name("chrf") == Chrf()
    assert by_name("chrf++") == Chrf(word_order=2)
    assert by_name("bleu", smoothing=Smoothing.NONE) == Bleu(smoothing=Smoothing.NONE)
    mix = by_name("bleu+chrf", tokenizer=Tokenizer.ZH, lowercase=True)
    assert mix.terms == ((1, Bleu(tokenizer=Tokenizer.ZH, lowercase=True)), (1, Chrf(lowercase=True)))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("(ter-bleu)/2", [(0.5, Ter()), (-0.5, Bleu())]),
        ("-(bleu - ter) * 0.5", [(-0.5, Bleu()), (0.5, Ter())]),
        ("0.25*chrf++ + 0.75*bleu", [(0.25, Chrf(word_order=2)), (0.75, Bleu())]),
        ("chrf+bleu", [(1, Chrf()), (1, Bleu())]),
        ("chrf+ + chrf", [(1, Chrf(word_order=1)), (1, Chrf())]),
        ("2*(bleu*0.5)/4 - -1*chrf", [(0.25, Bleu()), (1, Chrf())]),
        ("bleu+bleu+chrf", [(2, Bleu()), (1, Chrf())]),
    ],
)
def test_mixes_by_name(text, terms):
    mix = by_name(text)
    assert isinstance(mix, Mix)
    assert list(mix.terms) == terms
    assert by_name(mix.name) == mix


NOT_METRICS = [
    "",
    "7",
    "meteor",
    "bleu*chrf",
    "bleu + 1",
    "bleu/0",
    "2/bleu",
    "bleu(",
    "exit()",
    "bleu bleu",
    "(" * 500,
]


@pytest.mark.parametrize("text", NOT_METRICS, ids=range(len(NOT_METRICS)))
def test_names_that_mean_nothing(text):
    with pytest.raises(InputError, match="is not a metric"):
        by_name(text)


def test_a_mix_must_pull_one_way():
    with pytest.raises(InputError, match="different directions"):
        by_name("ter + bleu")
    with pytest.raises(InputError, match="finite nonzero weight"):
        by_name("bleu - bleu")
    with pytest.raises(InputError, match="at least one term"):
        Mix(terms=())


def test_gain_of_a_mix_is_the_mean_gain():
    mix = by_name("(ter-bleu)/2")
    stats = mix.text_statistics(["a b c d e"], [["a b c d f"]])[0]
    bleu, ter = Bleu().score_of(stats[2:]), Ter().score_of(stats[:2])
    assert mix.score_of(stats) == pytest.approx((ter - bleu) / 2)
    assert not mix.higher_is_better
    assert mix.gain(stats) == pytest.approx((bleu + 1 - ter) / 2)


def test_unsmoothed_bleu_is_zero_without_a_fourgram():
    stats = np.array([5, 5, 4, 2, 1, 0, 5, 4, 3, 2], dtype=np.float64)
    assert Bleu(smoothing=Smoothing.NONE).score_of(stats) == 0
    assert Bleu().score_of(stats) > 0


@pytest.mark.parametrize(
    ("length", "expected"), [("closest", [2, 4, 4]), ("shortest", [2, 2, 2]), ("average", [3, 3, 3])]
)
def test_reference_length(length, expected):
    metric = Bleu(reference_length=metrics.ReferenceLength(length))
    stats = metric.text_statistics(["a b c", "a b c d", "a b c d e f"], [["a b c d", "a b"]] * 3)
    assert list(stats[:, 1]) == expected
    assert ("|reflen:" in metric.signature(2)) == (length != "closest")


def test_ter_by_hand():
    metric = Ter()
    cases = {
        ("a b c d", "a b c d"): 0,
        ("c d a b", "a b c d"): 1,  # one shift of two words
        ("a x c d", "a b c d"): 1,
        ("", "a b"): 2,
        ("a b", ""): 2,
        ("A B", "a b"): 0,
    }
    stats = metric.text_statistics([hyp for hyp, _ in cases], [[ref] for _, ref in cases])
    assert list(stats[:, 0]) == list(cases.values())
    several = metric.text_statistics(["c d a b"], [["x y", "a b c d", "c d a"]])
    assert several.tolist() == [[1.0, 3.0]]


def test_segments_from_rows():
    segments = Segments.of([[1, 2], [], [3]])
    assert segments.offsets.tolist() == [0, 2, 2, 3]
    assert segments.ids.dtype == np.int32
    references = References.of([[[1], [2, 3]], [[4]]])
    assert references.ref_offsets.tolist() == [0, 2, 3]
    assert references.n_refs is None
    assert References.of([[[1]], [[2]]]).n_refs == 1
    assert len(Segments.of([])) == len(References.of([])) == 0


def test_spelling_splits_what_words_hide():
    spelling = Spelling(["a\u00a0b", "(c)", "D.", "d.", "\u00a0", "\ud800"])
    assert [len(spelling), spelling.characters.offsets.tolist()] == [6, [0, 2, 5, 7, 9, 9, 10]]
    assert np.diff(spelling.pieces.offsets).tolist() == [2, 2, 2, 2, 0, 1]
    plain = spelling.without_case(np.array([0, 2, 3], dtype=np.int32))
    assert plain[0] != plain[1] == plain[2]
    for outside in (-1, 6):
        with pytest.raises(InputError, match="must be below 6"):
            spelling.without_case(np.array([outside], dtype=np.int32))


def test_unequal_lengths_are_named():
    with pytest.raises(MismatchError, match="reference 2 has 1 lines but the hypotheses have 2"):
        score_text(Bleu(), ["a", "b"], [["a", "b"], ["a"]])
    with pytest.raises(MismatchError, match="has 1 lines but there are references of 2"):
        output_statistics(Bleu(), [["a", "b"], ["a"]], [["a"], ["b"]])
    with pytest.raises(InputError, match="at least one"):
        references_by_sentence([], 3)
    lexicon = Lexicon()
    with pytest.raises(InputError, match="2 hypotheses but references of 1"):
        Bleu().statistics(lexicon.segments([["a"], ["b"]]), lexicon.references([[["a"]]]))


def test_a_sentence_without_reference_is_named():
    with pytest.raises(InputError, match=r"line 2: .*no reference"):
        score_text(Bleu(), ["a", "b"], [["a", None]])
    with pytest.raises(InputError, match=r"line 2: .*no reference"):
        Bleu().text_statistics(["a", "b"], [["a"], []])


def test_metrics_inside_words_say_that_they_need_the_spelling():
    segments, references = Segments.of([[0]]), References.of([[[0]]])
    for metric in (Chrf(), Ter(), Bleu(lowercase=True)):
        with pytest.raises(InputError, match="is character-based"):
            metric.statistics(segments, references)
    assert Ter(case_sensitive=True).statistics(segments, references).tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="word 7 is not in the spelling table of 1 words"):
        Chrf().statistics(Segments.of([[7]]), references, spelling=Spelling(["a"]))


@pytest.mark.parametrize("metric", [Bleu(), Chrf(word_order=2), Ter(case_sensitive=True)])
def test_bad_arrays_are_refused(metric):
    spelling = Spelling(["a", "b"])
    good, references = Segments.of([[0], [1]]), References.of([[[0]], [[1]]])

    def run(hyps=good, refs=references, sentence=None, n_threads=1):
        return metric.statistics(hyps, refs, sentence=sentence, spelling=spelling, n_threads=n_threads)

    assert run(n_threads=0).shape == run(n_threads=10**9).shape == (2, metric.n_stats)
    with pytest.raises(ValueError, match=r"is not in \[0, 2\)"):
        run(sentence=np.array([0, 2], dtype=np.int32))
    with pytest.raises(ValueError, match=r"is not in \[0, 2\)"):
        run(sentence=np.array([-1, 0], dtype=np.int32))
    with pytest.raises(ValueError, match="one number per candidate"):
        run(sentence=np.array([0], dtype=np.int32))
    with pytest.raises(TypeError):
        run(sentence=np.array([0, 1], dtype=np.int64))
    with pytest.raises(TypeError):
        run(hyps=Segments(offsets=good.offsets, ids=good.ids.astype(np.float32)))
    with pytest.raises(ValueError, match="must not decrease"):
        run(hyps=Segments(offsets=np.array([0, 3, 2]), ids=good.ids))
    with pytest.raises(ValueError, match="last offset"):
        run(hyps=Segments(offsets=np.array([0, 1, 9]), ids=good.ids))
    with pytest.raises(ValueError, match="ref_offsets"):
        run(refs=References(ref_offsets=np.array([0, 1, 5]), segments=references.segments))
    with pytest.raises(ValueError, match="ref_offsets"):
        run(refs=References(ref_offsets=np.array([0, 3, 2]), segments=references.segments))


def test_settings_are_checked():
    with pytest.raises(InputError, match="order of at least 1"):
        Bleu(max_order=0)
    with pytest.raises(InputError, match="takes no value"):
        Bleu(smooth_value=1.0)
    with pytest.raises(InputError, match="positive"):
        Chrf(char_order=0)
    with pytest.raises(InputError, match="beta"):
        Chrf(beta=0)


def test_external_is_not_computed_from_text():
    metric = External(label="comet")
    with pytest.raises(InputError, match="comet is external"):
        metric.text_statistics(["a"], [["a"]])
    with pytest.raises(InputError, match="comet is external"):
        metric.statistics(Segments.of([[0]]), References.of([[[0]]]))
    with pytest.raises(InputError, match=r"line 2: .*nan"):
        metric.from_values([1.0, float("nan")])
    with pytest.raises(InputError, match=r"line 2: .*-1e\+308 is too large"):
        metric.from_values([1.0, -1e308])
    with pytest.raises(InputError, match="one number per candidate"):
        metric.from_values([[1.0]])
