"""Alignments in memory and in files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.align import Alignment, Symmetrization, read_pharaoh, symmetrize, write_pharaoh
from dragoman.errors import InputError, MismatchError

LENGTHS = (np.array([2, 1, 3]), np.array([2, 2, 4]))


def test_rows_are_sorted_and_distinct():
    alignment = Alignment.of([[(1, 0), (0, 2), (1, 0)], [], [(3, 3)]])
    assert list(alignment) == [[(0, 2), (1, 0)], [], [(3, 3)]]
    assert alignment.n_links == 3
    assert alignment == Alignment.of([[(0, 2), (1, 0)], [], [(3, 3)]])
    assert alignment != Alignment.of([[(0, 2), (1, 0)], [], [(3, 2)]])
    with pytest.raises(IndexError):
        alignment[3]
    with pytest.raises(InputError, match="negative"):
        Alignment.of([[(-1, 0)]])


def test_agreement():
    one, other = Alignment.of([[(0, 0), (1, 1)], [(2, 2)]]), Alignment.of([[(0, 0)], [(2, 1)]])
    agreement = one.agreement(other)
    assert (agreement.n_first, agreement.n_second, agreement.n_shared) == (3, 2, 1)
    assert agreement.jaccard == 1 / 4
    assert agreement.f1 == 2 / 5
    assert agreement.precision == 1 / 3
    assert agreement.recall == 1 / 2
    nothing = Alignment.of([[], []])
    assert nothing.agreement(nothing).f1 == nothing.agreement(nothing).jaccard == 1.0
    with pytest.raises(InputError, match="2 and 1"):
        one.agreement(Alignment.of([[]]))
    with pytest.raises(MismatchError):
        symmetrize(one, Alignment.of([[]]), Symmetrization.UNION)


@given(st.lists(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)), max_size=5), max_size=5))
def test_pharaoh_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("pharaoh") / "a.align.gz"
    alignment = Alignment.of(rows)
    write_pharaoh(path, alignment)
    assert read_pharaoh(path) == alignment


def test_pharaoh_lines(tmp_path):
    path = tmp_path / "a.align"
    path.write_bytes(b"1-1 0-0 0-0\r\n\n2-3\t0-0 ")
    alignment = read_pharaoh(path, lengths=LENGTHS)
    assert list(alignment) == [[(0, 0), (1, 1)], [], [(0, 0), (2, 3)]]
    write_pharaoh(path, alignment)
    assert path.read_bytes() == b"0-0 1-1\n\n0-0 2-3\n"


@pytest.mark.parametrize(
    "token",
    ["1", "1-", "-1", "1--1", "1-2-3", "x-1", "1-y", "1.0-2", "2147483648-0", "1-\u0661", "0-0,1-1", "1 -1", "\x00"],
)
def test_bad_links_name_file_and_line(tmp_path, token):
    path = tmp_path / "bad.align.gz"
    path.write_bytes(gzip.compress(f"0-0\n\n1-1 {token} 2-2\n".encode()))
    with pytest.raises(InputError, match="expected SOURCE-TARGET") as caught:
        read_pharaoh(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)


@pytest.mark.parametrize(("line", "text"), [(1, "2-0\n\n"), (2, "0-0\n0-2\n"), (3, "0-0\n\n0-0 3-0\n")])
def test_links_beyond_the_sentence(tmp_path, line, text):
    path = tmp_path / "bad.align"
    path.write_text(text + "\n" * (3 - text.count("\n")))
    with pytest.raises(InputError, match="is out of range") as caught:
        read_pharaoh(path, lengths=LENGTHS)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_wrong_number_of_lines(tmp_path):
    path = tmp_path / "short.align"
    path.write_text("0-0\n")
    with pytest.raises(MismatchError, match="1 lines for 3 sentence pairs"):
        read_pharaoh(path, lengths=LENGTHS)
