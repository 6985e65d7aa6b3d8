"""Alignments in the A3 files that GIZA++ and MGIZA write, three lines a sentence pair.

# Sentence pair (1) source length 2 target length 3 alignment score : 0.01
das haus da
NULL ({ 3 }) the ({ 1 }) house ({ 2 })
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.align.links import Alignment
from dragoman.errors import InputError
from dragoman.text import read_lines, split_tokens
from dragoman.types import PathLike

__all__ = ["read_a3"]

_HEADER = re.compile(r"# Sentence pair \((\d+)\)")


def read_a3(path: PathLike, *, inverse: bool = False) -> Alignment:
    """Read an A3 file. The words in braces are the source side, those on the second line the target side.

    With `inverse` the sides are exchanged, for a file trained in the other direction. Pairs must be numbered 1, 2, 3, …
    """
    pairs = _read_pairs(path)
    return Alignment.of([(t, s) for s, t in links] if inverse else links for links in pairs)


def _read_pairs(path: PathLike) -> Iterator[list[tuple[int, int]]]:
    lines = enumerate(read_lines(path), start=1)
    for expected, (number, header) in enumerate(lines, start=1):
        found = _HEADER.match(header)
        if not found or int(found[1]) != expected:
            raise InputError(
                f"expected '# Sentence pair ({expected}) …': A3 files have three lines a pair, numbered from 1",
                path=path,
                line=number,
            )
        number, target = next(lines, (number, None))
        number, source = next(lines, (number, None))
        if target is None or source is None:
            raise InputError("the file ends within a sentence pair; expected three lines", path=path, line=number)
        try:
            yield _parse_links(split_tokens(source), len(split_tokens(target)))
        except ValueError as error:
            raise InputError(str(error), path=path, line=number) from None


def _parse_links(tokens: list[str], n_target: int) -> list[tuple[int, int]]:
    """Links of `NULL ({ 3 }) the ({ 1 }) …`; what the null word generates has none."""
    links: list[tuple[int, int]] = []
    word = -1  # the null word
    at = 0
    while at < len(tokens):
        # A word may look like a brace: what decides is its place.
        if tokens[at + 1 : at + 2] != ["({"] or "})" not in tokens[at + 2 :] or (word < 0 and tokens[at] != "NULL"):
            raise ValueError("expected 'NULL ({ … }) word ({ … }) …' with the positions of the target words in braces")
        end = tokens.index("})", at + 2)
        for token in tokens[at + 2 : end]:
            if not (token.isascii() and token.isdigit() and 1 <= int(token) <= n_target):
                raise ValueError(f"'{token[:40]}' is not the position of one of the {n_target} target words, from 1")
            if word >= 0:
                links.append((word, int(token) - 1))
        word += 1
        at = end + 1
    return links
