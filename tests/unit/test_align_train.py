"""Aligning a bitext by every method."""

from __future__ import annotations

import random

import pytest

from dragoman.align import (
    AlignConfig,
    AlignMethod,
    Direction,
    FastConfig,
    Symmetrization,
    align,
    align_files,
    library,
    symmetrize,
    train_fast,
)
from dragoman.corpus import Side
from dragoman.errors import FailedError, InputError, MismatchError


@pytest.fixture
def texts(tmp_path):
    """Word k of one language is word k of the other; a swap of neighbours now and then."""
    rng = random.Random(3)
    source, target = [], []
    for _ in range(200):
        words = [rng.randrange(40) for _ in range(rng.randint(2, 8))]
        source.append(" ".join(f"s{w}" for w in words))
        if rng.random() < 0.3:
            words[0], words[1] = words[1], words[0]
        target.append(" ".join(f"t{w}" for w in words))
    source[10], target[20] = "", "  "
    source[30] = " ".join(["s1"] * 51)
    paths = tmp_path / "a.src", tmp_path / "a.tgt"
    for path, lines in zip(paths, (source, target), strict=True):
        path.write_text("".join(line + "\n" for line in lines))
    return paths


def links_by_name(texts):
    """What is right: equal words, each at its only place."""
    rows = []
    for f, e in zip(*(path.read_text().splitlines() for path in texts), strict=True):
        source, target = [w[1:] for w in f.split()], [w[1:] for w in e.split()]
        once = len(set(source)) == len(source) and len(source) == len(target)
        rows.append({(source.index(w), j) for j, w in enumerate(target)} if once else None)
    return rows


@pytest.mark.parametrize("method", AlignMethod)
def test_every_method_finds_the_links(texts, method):
    steps = []
    config = AlignConfig(method=method, max_length=50)
    result = align_files(*texts, config, n_threads=2, progress=steps.append)
    assert (result.n_pairs, result.n_empty, result.n_too_long) == (200, 2, 1)
    assert len(result.alignment) == 200
    for left_out in (10, 20, 30):
        assert result.alignment[left_out] == []
    right = [(set(found), gold) for found, gold in zip(result.alignment, links_by_name(texts), strict=True) if gold]
    assert sum(len(a & b) for a, b in right) > 0.95 * sum(len(b) for _, b in right)
    assert sum(len(a & b) for a, b in right) > 0.95 * sum(len(a) for a, _ in right)
    assert result.agreement == result.forward.agreement(result.reverse)
    assert result.alignment == symmetrize(result.forward, result.reverse, config.symmetrization)
    for direction in Direction:
        own = [step for step in steps if step.direction is direction]
        assert [step.iteration for step in own] == list(range(1, own[-1].n_iterations + 1))
    assert bool(result.trace) == (method is AlignMethod.FAST)


def test_directions_are_told_apart(tmp_path):
    """Two source words always become one target word: a word can choose once, but be chosen twice."""
    (tmp_path / "s").write_text("a b c\nc a b\nc\n" * 20)
    (tmp_path / "t").write_text("x y\ny x\ny\n" * 20)
    result = align_files(tmp_path / "s", tmp_path / "t")
    assert result.reverse[0] == [(0, 0), (1, 0), (2, 1)]
    assert len(result.forward[0]) == 2
    swapped = align_files(tmp_path / "t", tmp_path / "s")
    assert swapped.forward[0] == [(0, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize("method", [AlignMethod.FAST, AlignMethod.EFLOMAL])
def test_the_same_again(texts, method):
    config = AlignConfig(method=method, seed=5)
    assert align_files(*texts, config).alignment == align_files(*texts, config).alignment


def test_new_text(texts):
    source, target = (Side.read(path) for path in texts)
    for direction in Direction:
        alignment, trace, model = train_fast(
            source, target, direction, FastConfig(n_iterations=3), max_length=50, keep_model=True
        )
        assert model
        assert len(trace) == 3
        assert model.align(source, target, n_threads=2) == alignment
        one = Side(source.vocab, source.offsets[:2], source.ids[: source.offsets[1]])
        with pytest.raises(MismatchError):
            model.align(one, target)


def test_nothing_to_align(tmp_path):
    for text in ("", "\n", "\n\n"):
        (tmp_path / "s").write_text(text)
        (tmp_path / "t").write_text(text)
        for method in AlignMethod:
            result = align_files(tmp_path / "s", tmp_path / "t", AlignConfig(method=method))
            assert list(result.alignment) == [[]] * text.count("\n")
            assert result.n_empty == text.count("\n")


def test_files_of_different_length(texts):
    texts[1].write_text("a\n")
    with pytest.raises(MismatchError, match=r"a\.src has 200, .*a\.tgt has 1"):
        align_files(*texts)
    with pytest.raises(MismatchError, match="200 source sentences but 1 target"):
        align(Side.read(texts[0]), Side.read(texts[1]))


def test_ids_beyond_the_vocabulary(texts):
    source, target = (Side.read(path) for path in texts)
    for bad in (-1, len(target.vocab)):
        ids = target.ids.copy()
        ids[7] = bad
        with pytest.raises(InputError, match="target side has word ids"):
            align(source, Side(target.vocab, target.offsets, ids))


def test_library_that_is_not_installed(texts, monkeypatch):
    monkeypatch.setattr(library, "is_installed", lambda: False)
    with pytest.raises(InputError, match=r"pip install 'dragoman\[align\]'"):
        align_files(*texts, AlignConfig(method=AlignMethod.HMM))


def test_library_that_fails(texts, monkeypatch):
    monkeypatch.setattr(library, "_train_one", fail)
    with pytest.raises(FailedError, match="status 3"):
        align_files(*texts, AlignConfig(method=AlignMethod.FASTALIGN))


def fail(*_):
    raise SystemExit(3)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_iterations": 0},
        {"null_prob": 0.0},
        {"null_prob": 1.0},
        {"null_prob": float("nan")},
        {"tension": 0.0},
        {"tension": float("nan")},
        {"alpha": -1.0},
        {"alpha": float("inf")},
    ],
)
def test_bad_settings_of_fast(settings):
    with pytest.raises(InputError):
        FastConfig(**settings)


@pytest.mark.parametrize(
    "settings", [{"max_length": 0}, {"max_length": 2000}, {"max_length": 201, "method": AlignMethod.HMM}]
)
def test_bad_settings(settings):
    with pytest.raises(InputError, match="sentence length"):
        AlignConfig(**settings)


def test_names_are_those_of_the_command_line():
    assert [str(s) for s in Symmetrization] == [
        "intersection",
        "union",
        "grow-diag",
        "grow-diag-and",
        "grow-diag-final",
        "grow-diag-final-and",
        "refined",
    ]
