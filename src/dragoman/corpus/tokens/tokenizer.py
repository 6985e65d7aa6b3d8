"""Words and punctuation apart, and joined again exactly.

A token that stood directly beside its neighbour carries the glue U+FFED on that side: `(a, b)` becomes `(￭ a ￭, b ￭)`.
Glue stands on punctuation wherever it can, so that words are the same with and without. Letters of scripts without
spaces are segmented, and stand side by side without glue.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable

from dragoman.corpus.tokens.scripts import UNSPACED, UNSPACED_SIGNS
from dragoman.corpus.tokens.spans import MASKS, NUMBER, SPAN, hide_blanks, show_blanks
from dragoman.text import GLUE

__all__ = ["CLOSING_QUOTES", "ENDS", "GLUE", "QUOTES", "Segment", "TextTokenizer", "bare", "detokenize"]

_SPACE = "\u2581"
"""A token for a space between letters that have none by default."""
ENDS = frozenset(".?!…。？！؟।።")
"""Signs at the end of a sentence."""
QUOTES = frozenset("\"'“”„‟‘’‚«»‹›「」『』")
CLOSING_QUOTES = frozenset("\"'”’“»›」』)]）】")
_STOPS = frozenset("。，、！？；：")
_CLOSING_SIGNS = _STOPS | frozenset("》〉」』】）］｝")
_OPENING_SIGNS = frozenset("《〈「『【（［｛")
_OPENING = frozenset("([{<¿¡„‚「『（【《〈")
_AFTER_QUOTES = frozenset(".,;:!?")
_SPLIT_BEFORE = frozenset({"en"})
_SPLIT_AFTER = frozenset({"fr", "it", "ca", "ga", "oc", "co", "lb"})
_MOST_CHUNKS = 400_000
"""Chunks between spaces that are remembered; nearly all of a text are words seen before."""
_SIGNS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0711-\u07b0\u0816-\u0963\u0966-\u0df3\u135d-\u135f\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff"
    "\ua8e0-\ua8f1\ufe20-\ufe2f"
)
"""Signs that belong to a word's letters."""
_LETTER = rf"(?:[^\W{UNSPACED}]|[{_SIGNS}])"
_TOKENS = re.compile(
    rf"(?P<span>[{MASKS}]|{SPAN})|(?P<number>{NUMBER})(?!{_LETTER})|(?P<run>[{UNSPACED}]+)"
    rf"|(?P<word>{_LETTER}+(?:[-'’.·‑]{_LETTER}+)*)|(?P<sign>([.…\-=*_~!?])\6+|.)",
    re.DOTALL,
)
_UNSPACED = re.compile(rf"[{UNSPACED}{UNSPACED_SIGNS}]")
_HAS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_APOSTROPHE = re.compile("['’]")

Segment = Callable[[str], list[str]]


def bare(token: str) -> str:
    """The token without glue, as it stands in a text."""
    if GLUE not in token or token == GLUE:
        return show_blanks(token)
    return show_blanks(token.removeprefix(GLUE).removesuffix(GLUE))


class TextTokenizer:
    """Tokens of one language (a code such as `de`, or None), which `detokenize` joins to the same text.

    Lines are brought to Unicode's normal form C and single spaces. `segment` cuts runs of letters of scripts without
    spaces, by default into characters. `keeps_spaces` says whether spaces between such letters are kept, as a token.
    With `parts_spans`, a span beside such a letter bears no glue, as its translation will have spaces around it.
    """

    def __init__(
        self,
        language: str | None,
        segment: Segment = list,
        *,
        keeps_spaces: bool = True,
        parts_spans: bool = False,
    ) -> None:
        self._language = language
        self._segment = segment
        self._keeps_spaces = keeps_spaces
        self._parts_spans = parts_spans
        self._prefixes = _prefixes(language)
        self._chunks: dict[str, str] = {}

    def tokenize(self, line: str) -> str:
        """The line's tokens with spaces between."""
        if not line.isascii():
            line = unicodedata.normalize("NFC", line).replace(GLUE, "\u25a0").replace(_SPACE, "_")
        known, parts = self._chunks, []
        for chunk in hide_blanks(line).split():
            tokens = known.get(chunk)
            if tokens is None:
                if len(known) >= _MOST_CHUNKS:
                    known.clear()
                tokens = known[chunk] = " ".join(self._tokens(chunk))
            parts.append(tokens)
        if self._keeps_spaces and not line.isascii():
            parts = _with_spaces(parts)
        return " ".join(parts)

    def _tokens(self, chunk: str) -> list[str]:
        """The tokens of a part of a line without spaces, with glue."""
        if chunk.isalpha() and chunk.isascii():
            return [chunk]
        pieces: list[tuple[str, str]] = []
        for found in _TOKENS.finditer(chunk):
            kind, text = str(found.lastgroup), found.group()
            if kind == "run":
                pieces += [("run", word) for word in self._segment(text)]
            elif kind == "word":
                pieces += [("word", part) for part in self._apart(text)]
            elif text == "." and pieces and self._is_abbreviation(*pieces[-1]):
                pieces[-1] = ("word", f"{pieces[-1][1]}.")
            else:
                pieces.append((kind, text))
        return _glued(pieces, self._parts_spans)

    def _apart(self, word: str) -> list[str]:
        """Clitics by apostrophe, apart where the language has them."""
        if self._language in _SPLIT_BEFORE:
            places = [found.start() for found in _APOSTROPHE.finditer(word)]
        elif self._language in _SPLIT_AFTER and word.lower() not in ("aujourd'hui", "aujourd’hui"):
            places = [found.end() for found in _APOSTROPHE.finditer(word)]
        else:
            places = []
        bounds = [0, *(place for place in places if 0 < place < len(word)), len(word)]
        return [word[begin:end] for begin, end in itertools.pairwise(bounds)]

    def _is_abbreviation(self, kind: str, word: str) -> bool:
        return kind == "word" and (
            (len(word) == 1 and word.isupper()) or word in self._prefixes or ("." in word and not word.endswith("."))
        )


def detokenize(tokens: Iterable[str], *, spaced: bool = False) -> str:
    """The text that the tokens were.

    With `spaced`, words of scripts without spaces that were copied into a language with spaces have some around them.
    """
    out: list[str] = []
    last, joined = "", True
    for token in tokens:
        if token == _SPACE:
            last, joined = "", False
            continue
        left = token.startswith(GLUE) and token != GLUE
        text = bare(token)
        if not (joined or left) and (not _unspaced_between(last, text) or (spaced and _meet(last, text))):
            out.append(" ")
        out.append(text)
        last, joined = text, token.endswith(GLUE) and token != GLUE
    return "".join(out)


def _glued(pieces: list[tuple[str, str]], parts_spans: bool) -> list[str]:
    """Tokens of pieces that stood side by side: of two neighbours a tag bears the glue, or punctuation, or a span."""
    tokens = [text for _, text in pieces]
    opens = True  # nothing but opening signs so far
    for i in range(len(pieces) - 1):
        (kind, text), (next_kind, next_text) = pieces[i], pieces[i + 1]
        opens = opens and kind == "sign" and (text in _OPENING or text in QUOTES)
        if _unspaced_between(text, next_text) or (parts_spans and _is_apart(pieces[i], pieces[i + 1])):
            continue
        if kind == "span" and text.startswith("<"):
            # A tag leaves its neighbours as they are without it.
            begins = next_text in _OPENING or (next_text in QUOTES and not text.startswith("</"))
            on_left = next_kind != "sign" or begins
        elif next_kind == "span" and next_text.startswith("<"):
            on_left = False
        elif next_kind == "sign":
            # In "« oui »." the last mark begins nothing, though it begins what stands between spaces.
            ends = (
                next_text in _AFTER_QUOTES
                and text in QUOTES
                and text not in _OPENING
                and all(kind == "sign" for kind, _ in pieces[i + 1 :])
            )
            on_left = kind == "sign" and not ends and (opens or text in _OPENING)
        else:
            on_left = kind == "sign" or (next_kind != "span" and (kind == "span" or text.endswith(("'", "’"))))
        if on_left:
            tokens[i] += GLUE
        else:
            tokens[i + 1] = GLUE + next_text
    return tokens


def _is_apart(left: tuple[str, str], right: tuple[str, str]) -> bool:
    """Whether a span other than a tag stands beside letters of a script without spaces, or after its full stop."""
    if left[0] == "span":
        return right[0] == "run" and not left[1].startswith("<")
    return right[0] == "span" and not right[1].startswith("<") and (left[0] == "run" or left[1] in _STOPS)


def _meet(left: str, right: str) -> bool:
    """Whether a letter of a script without spaces stands beside one of another script, or a digit, or such a letter or
    digit after a closing or before an opening sign of that script.
    """
    chars = left[-1:], right[:1]
    others = [char.isalnum() and _HAS_UNSPACED.match(char) is None for char in chars]
    if others[1]:
        return chars[0] in _CLOSING_SIGNS or chars[0].isalnum()
    return others[0] and (chars[1] in _OPENING_SIGNS or chars[1].isalnum())


def _unspaced_between(left: str, right: str) -> bool:
    """Whether these stand side by side without a space unless a token says otherwise."""
    if not left or not right or (left[-1].isascii() and right[0].isascii()):
        return False
    before, after = _UNSPACED.match(left[-1]), _UNSPACED.match(right[0])
    if before is None or after is None:
        return (before is not None and right[0].isalnum()) or (after is not None and left[-1].isalnum())
    return True


def _with_spaces(parts: list[str]) -> list[str]:
    out: list[str] = []
    for part in parts:
        if out and _unspaced_between(out[-1], part):
            out.append(_SPACE)
        out.append(part)
    return out


@functools.cache
def _prefixes(language: str | None) -> frozenset[str]:
    """Abbreviations that keep their full stop, from the lists of sacremoses."""
    from sacremoses.corpus import NonbreakingPrefixes

    lists = NonbreakingPrefixes()
    if language not in lists.available_langs.values():
        return frozenset()
    return frozenset(word for word in lists.words(language) if word.isalpha())
