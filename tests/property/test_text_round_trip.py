"""Text to tokens and back is the identity, whatever the text is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.tokens import TextTokenizer, detokenize
from dragoman.text import read_lines, split_tokens

LANGUAGES = st.sampled_from(["en", "de", "fr", "zh", "th", None])
_PIECES = (
    "“ ” \" ' ( ) ... %s http://a.b/c <b> </b> - word l'eau don't 3.5 , 你好 世界 。 สวัสดี é e\u0301 z.B. a@b.org "
    "/etc/x {x} $1"
)
PIECES = st.sampled_from([*_PIECES.split(), " ", " ", "  "])
TEXTS = st.lists(PIECES | st.text(st.characters(blacklist_categories=["Cs"]), max_size=4), max_size=12).map("".join)
PRIVATE = "\uffed\u2581\u2420"
"""Letters that mean something among tokens; in a text they are replaced."""


@given(text=TEXTS, language=LANGUAGES)
def test_any_text_comes_back(text: str, language: str | None) -> None:
    text = "".join(letter for letter in text if letter not in PRIVATE)
    normal = " ".join(unicodedata.normalize("NFC", text).split())
    tokens = TextTokenizer(language).tokenize(text)
    assert detokenize(split_tokens(tokens)) == normal


@given(text=TEXTS, language=LANGUAGES)
def test_tokens_are_tokens(text: str, language: str | None) -> None:
    tokens = TextTokenizer(language).tokenize(text)
    assert "\n" not in tokens
    assert tokens.split(" ") == (split_tokens(tokens) or [""])


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    [
        "bible-mref/raw/train.en.0.xz",
        "bible-mref/raw/dev.en.0.xz",
        "bible-mref/raw/test.en.0.xz",
        "debian-fr-en/raw/dev.en.xz",
        "debian-fr-en/raw/test.en.xz",
    ],
)
def test_real_text_comes_back(data, name):
    tokenizer = TextTokenizer("en")
    lines = list(read_lines(data / name))
    changed = [line for line in lines if detokenize(split_tokens(tokenizer.tokenize(line))) != line]
    assert len(changed) <= 0.005 * len(lines), "\n".join(changed)
