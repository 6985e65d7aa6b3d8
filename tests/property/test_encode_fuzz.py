"""The native line encoder against plain Python, on thousands of arbitrary byte strings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._core import WordTable, escape_word, unescape_word
from dragoman.errors import InputError

PLAIN = [b"a", b"wort", b"\xc3\xa4", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8", b"\xc2\xa0", b"|", b"["]
SPECIAL = [b"|||", b"<s>", b"</s>", b"[X,1]", b"\\", b"\\p", b"\r\n", b"\n", b" ", b"\t", b"\r", b"\0"]
BROKEN = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80"]
PIECES = st.lists(st.sampled_from(PLAIN + SPECIAL + SPECIAL + BROKEN), max_size=12).map(b"".join)


def first_bad_line(data: bytes) -> int | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start)
    return None


def by_python(data: bytes):
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    lines = [line.removesuffix(b"\r") for line in lines]
    return [[t for t in line.replace(b"\t", b" ").split(b" ") if t] for line in lines]


@settings(max_examples=10_000)
@given(st.one_of(PIECES, st.binary(max_size=40)))
def test_encoder_equals_python_or_names_the_line(data):
    table = WordTable()
    bad_line = first_bad_line(data)
    if bad_line is not None:
        with pytest.raises(InputError) as caught:
            table.encode_growing(data, 7)
        assert caught.value.line == 7 + bad_line
        return
    offsets, ids = table.encode_growing(data, 7)
    words = [[unescape_word(table.word(i)) for i in ids[a:b]] for a, b in pairwise(offsets)]
    assert words == by_python(data)
    again = table.encode(data, -5, 7)
    np.testing.assert_array_equal(again[1], ids)


@settings(max_examples=3_000)
@given(st.one_of(PIECES, st.binary(max_size=20)).map(lambda b: bytes(c for c in b if c not in b" \t\n\r")))
def test_escaping_is_a_bijection_that_hides_markup(word):
    stored = escape_word(word)
    assert unescape_word(stored) == word
    assert b"|||" not in stored
    assert not (stored.startswith(b"[") and stored.endswith(b"]"))
    assert stored not in {b"<s>", b"</s>", b"<unk>"}
