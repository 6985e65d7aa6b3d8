"""Tokens and what a terminal may see of them."""

from __future__ import annotations

import pytest

from dragoman.errors import InputError
from dragoman.text import MosesText, printable, split_tokens


def test_only_ascii_blanks_split():
    assert split_tokens(" a\tb  c\u00a0d \u2028 ") == ["a", "b", "c\u00a0d", "\u2028"]
    assert split_tokens("") == []


def test_moses_round_trip():
    german = MosesText("de")
    tokens = german.tokenize('Er sagte: "Das kostet 3,50 Euro (oder mehr)!"')
    assert tokens == 'Er sagte : " Das kostet 3,50 Euro ( oder mehr ) ! "'
    assert german.detokenize(tokens) == 'Er sagte: "Das kostet 3,50 Euro (oder mehr)!"'


def test_nothing_is_escaped_and_escapes_are_resolved():
    english = MosesText("en")
    assert english.tokenize("a < b & c") == "a < b & c"
    assert english.detokenize("don &apos;t") == "don't"


@pytest.mark.parametrize("code", ["", "german", "d", "../x", "d3"])
def test_bad_language_codes(code):
    with pytest.raises(InputError, match="not a language code"):
        MosesText(code)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[np,1] [/b]", "[np,1] [/b]"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("a\u202eb\u2028c\x9b", "a\ufffdb\ufffdc\ufffd"),
        ("über straße 日本", "über straße 日本"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown
