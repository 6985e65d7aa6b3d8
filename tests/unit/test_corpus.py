"""Cleaning, counting and splitting."""

from __future__ import annotations

import pytest

from dragoman.corpus import (
    CleanConfig,
    Cleaner,
    DropReason,
    Duplicates,
    PairFiles,
    describe_files,
    read_tsv,
    split_pairs,
)
from dragoman.errors import InputError, MismatchError


def clean(pairs, **config):
    cleaner = Cleaner(CleanConfig(**config))
    return list(cleaner.clean(pairs)), {r: n for r, n in cleaner.dropped.items() if n}


def test_each_reason_is_counted_once():
    pairs = [
        ("a b", "c d"),
        ("", "x"),
        ("\u00a0", " \t "),
        ("a", "b c d e f"),
        ("a " * 101, "b " * 101),
        ("same", "same"),
        ("a  b", "c\td "),
    ]
    kept, dropped = clean(pairs, max_ratio=4, duplicates=Duplicates.PAIRS, drop_identical=True)
    assert kept == [("a b", "c d")]
    assert dropped == {
        DropReason.EMPTY: 2,
        DropReason.RATIO: 1,
        DropReason.TOO_LONG: 1,
        DropReason.IDENTICAL: 1,
        DropReason.DUPLICATE: 1,
    }


def test_limits_are_inclusive():
    assert clean([("a b", "c")], min_words=1, max_words=2, max_ratio=2)[0] == [("a b", "c")]
    assert clean([("a b", "c")], min_words=2)[1] == {DropReason.TOO_SHORT: 1}


@pytest.mark.parametrize("config", [{"min_words": 0}, {"min_words": 5, "max_words": 4}, {"max_ratio": 0.5}])
def test_impossible_limits(config):
    with pytest.raises(InputError):
        CleanConfig(**config)
    with pytest.raises(InputError):
        CleanConfig(max_ratio=float("nan"))


def test_tsv(tmp_path):
    path = tmp_path / "t"
    path.write_text("a b\tc d\textra\n\t\n")
    assert list(read_tsv(path)) == [("a b", "c d"), ("", "")]
    path.write_text("a\tb\nno tab\n")
    with pytest.raises(InputError, match="two columns") as caught:
        list(read_tsv(path))
    assert caught.value.line == 2


@pytest.mark.parametrize("names", [{}, {"source": "a"}, {"source": "a", "target": "b", "tsv": "c"}, {"target": "b"}])
def test_pairs_come_from_two_files_or_one(names):
    with pytest.raises(InputError):
        PairFiles(**names)


def test_stats(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("x y\n\nx z w\nx y\n")
    b.write_text("1\n\n2 3\n1\n")
    stats = describe_files([a, b])
    side = stats.sides[0]
    assert (side.n_lines, side.n_words, side.n_types, side.n_hapaxes) == (4, 7, 4, 2)
    assert (side.n_empty, side.n_duplicate_lines, side.max_length) == (1, 1, 3)
    assert stats.length_ratio == 4 / 7
    assert stats.length_correlation == pytest.approx(3 / 9.5**0.5)


def test_stats_of_nothing_and_of_unequal_files(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.touch()
    b.write_text("1\n")
    assert describe_files([a]).sides[0].mean_length == 0
    with pytest.raises(MismatchError, match="a has 0.*b has 1"):
        describe_files([a, b])


def test_split_shares_no_sentence():
    pairs = [(f"f{i % 70}", f"e{i % 90}") for i in range(400)]
    parts = split_pairs(pairs, n_dev=10, n_test=12, seed=1)
    assert (len(parts.dev), len(parts.test)) == (10, 12)
    assert len(parts.train) + 22 + parts.n_dropped == 400
    sets = [[{p[side] for p in part} for part in (parts.train, parts.dev, parts.test)] for side in (0, 1)]
    for train, dev, test in sets:
        assert not train & dev
        assert not train & test
        assert not dev & test
    assert parts == split_pairs(pairs, n_dev=10, n_test=12, seed=1)
    assert parts != split_pairs(pairs, n_dev=10, n_test=12, seed=2)


def test_split_that_cannot_be():
    with pytest.raises(InputError, match="use smaller sizes"):
        split_pairs([("a", "b")] * 5, n_dev=1, n_test=1, seed=0)
