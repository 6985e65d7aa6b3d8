"""Errors by kind against TER, sacrebleu and cases made by hand."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from dragoman.analysis import ERROR_KINDS, error_profile, function_words_of
from dragoman.errors import InputError, MismatchError
from dragoman.metric import EditStep, Ter

FUNCTION = {"the", "a", "on"}


def errors_of(output, *references):
    """Nonzero numbers of errors, not per 100 words."""
    profile = error_profile([output], [[line] for line in references], function_words=FUNCTION)
    n_words = np.mean([len(line.split()) for line in references])
    assert profile["ter"] == pytest.approx(sacrebleu.corpus_ter([output], [[line] for line in references]).score)
    return {kind: round(rate * n_words / 100, 9) for kind, rate in profile.items() if rate and kind != "ter"}


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("The cat sleeps", "the cat sleeps", {}),
        ("cat sleeps", "the cat sleeps", {"function_dropped": 1}),
        ("the sleeps", "the cat sleeps", {"content_dropped": 1}),
        ("the the cat sleeps", "the cat sleeps", {"function_excess": 1}),
        ("the cat sleeps well", "the cat sleeps", {"content_excess": 1}),
        ("a cat sleeps", "the cat sleeps", {"function_substituted": 1}),
        ("the on sleeps", "the cat sleeps", {"content_substituted": 1}),
        ("the cat sleeps", "the cat sleeps .", {"punctuation": 1}),
        ("the cat , sleeps", "the cat . sleeps", {"punctuation": 1}),
        ("", "the cat .", {"function_dropped": 1, "content_dropped": 1, "punctuation": 1}),
        ("today the cat sleeps on mats", "the cat sleeps on mats today", {"shifts": 1, "shifted_words": 1}),
        ("sleeps well the old cat .", "the old cat sleeps well .", {"shifts": 1, "shifted_words": 2}),
    ],
)
def test_by_hand(output, reference, expected):
    assert errors_of(output, reference) == expected


def test_the_nearest_reference_counts():
    assert errors_of("the cat sleeps", "dogs bark all night", "a cat sleeps") == {"function_substituted": 1}


def test_words_of_steps_after_shifts():
    edits = Ter().edits(["b c X a"], [["zzz", "a b c d"]])
    assert edits.references.tolist() == [1]
    assert edits.n_shifts.tolist() == [1]
    spell = [*edits.vocabulary, "-"]
    steps = [
        (EditStep(step).name, spell[word], spell[reference], shifted)
        for step, word, reference, shifted in zip(
            edits.steps, edits.words, edits.reference_words, edits.is_shifted, strict=True
        )
    ]
    assert steps == [
        ("MATCH", "a", "a", 1),
        ("MATCH", "b", "b", 0),
        ("MATCH", "c", "c", 0),
        ("SUBSTITUTED", "x", "d", 0),
    ]


lines = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ".", "the"]), max_size=9).map(" ".join)


@given(st.lists(st.tuples(lines, lines, lines), min_size=1, max_size=4))
def test_edits_add_up_to_ter(rows):
    output, *references = ([row[i] for row in rows] for i in range(3))
    by_sentence = [[row[1], row[2]] for row in rows]
    edits = Ter().edits(output, by_sentence)
    assert edits.counts().tolist() == Ter().text_statistics(output, by_sentence)[:, 0].tolist()
    for i, row in enumerate(rows):
        steps = slice(edits.offsets[i], edits.offsets[i + 1])
        for line, words in ((row[0], edits.words), (row[1 + edits.references[i]], edits.reference_words)):
            assert sorted(edits.vocabulary[w] for w in words[steps] if w >= 0) == sorted(line.split())
        equal = edits.words[steps] == edits.reference_words[steps]
        assert np.array_equal(equal, edits.steps[steps] == EditStep.MATCH)
    profile = error_profile(output, references)
    assert list(profile) == list(ERROR_KINDS)
    parts = sum(rate for kind, rate in profile.items() if kind not in ("ter", "shifted_words"))
    assert parts == pytest.approx(profile["ter"])
    if any(line for group in references for line in group):
        assert profile["ter"] == pytest.approx(sacrebleu.corpus_ter(output, references).score)


def test_threads_do_not_matter():
    rng = np.random.default_rng(1)
    output, reference = ([" ".join(rng.choice(list("abcdefg"), 12)) for _ in range(40)] for _ in range(2))
    one, many = (Ter().edits(output, [[line] for line in reference], n_threads=n) for n in (1, 3))
    assert np.array_equal(one.steps, many.steps)
    assert np.array_equal(one.words, many.words)


def test_function_words_are_the_frequent_ones():
    text = ["The cat . the dog . the a", "a , the bird . a fish ,"]
    assert function_words_of(text) == {"the", "a"}  # 7 of 11
    assert function_words_of(text, limit=1) == {"the"}
    assert function_words_of(text, share=1.0) == {"the", "a", "cat", "dog", "bird", "fish"}
    assert function_words_of(["", ". ,"]) == set()


def test_bad_requests():
    with pytest.raises(MismatchError):
        error_profile(["a"], [["a", "b"]])
    with pytest.raises(InputError):
        error_profile(["a"], [[None]])
