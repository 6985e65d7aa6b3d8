"""Parts of a source sentence whose translation is fixed: terms of a glossary, marked words, spans that must survive.

Each becomes a mask: a letter that no system knows, so that any decoder passes it through exactly once and finds its
place among the other words. Afterwards the fixed translation takes the place of the mask.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dragoman.errors import InputError
from dragoman.pipeline.lines import TokenLines
from dragoman.pipeline.spans import SPAN, hide_blanks, is_span, number_of, show_blanks
from dragoman.pipeline.tokenizer import GLUE, bare
from dragoman.text import read_lines, split_tokens
from dragoman.types import PathLike

__all__ = ["Glossary", "Masks", "lost_spans", "read_glossary", "without_marks"]

_FIRST, _LAST = 0xF0000, 0xFFFFD
"""Masks are letters of a private-use plane."""
_SPANS = re.compile(SPAN)
_MARKED = re.compile(r'<t\s+translation="([^"]*)"\s*>(.*?)</t>')


class Glossary:
    """Translations of terms; the longest term wins, and case does not matter."""

    def __init__(self, terms: Mapping[str, str], text: TokenLines) -> None:
        self._terms: dict[tuple[str, ...], str] = {}
        for source, target in terms.items():
            key = tuple(bare(token).lower() for token in split_tokens(text.term(source, target=False)))
            self._terms[key] = text.term(target, target=True)
        self._longest = max(map(len, self._terms), default=0)

    def masked(self, tokens: str, masks: Masks) -> str:
        """Source tokens with masks in the place of terms."""
        words = split_tokens(tokens)
        if not self._longest or not words:
            return tokens
        keys, out, i = [bare(word).lower() for word in words], [], 0
        while i < len(words):
            for length in range(min(self._longest, len(words) - i), 0, -1):
                if (target := self._terms.get(tuple(keys[i : i + length]))) is not None:
                    before = GLUE if words[i].startswith(GLUE) else ""
                    after = GLUE if words[i + length - 1].endswith(GLUE) else ""
                    out.append(f"{before}{masks.add(target)}{after}")
                    i += length
                    break
            else:
                out.append(words[i])
                i += 1
        return " ".join(out)


class Masks:
    """The masks of one line, each with the target tokens it stands for."""

    def __init__(self, line: str) -> None:
        self._free = (chr(code) for code in range(_FIRST, _LAST) if chr(code) not in line)
        self.targets: dict[str, str] = {}
        self._spans: dict[str, str] = {}

    def add(self, target: str) -> str:
        """A new mask for these tokens."""
        mask = next(self._free)
        self.targets[mask] = target
        return mask

    def marked(self, line: str, text: TokenLines) -> str:
        """The line with masks in the place of `<t translation="…">…</t>`."""
        if "<t " not in line:
            return line
        return _MARKED.sub(lambda found: self.add(text.term(html.unescape(found.group(1)), target=True)), line)

    def hidden(self, line: str) -> str:
        """A raw line with masks in the place of its spans."""
        return _SPANS.sub(lambda found: self._hidden(found.group()), hide_blanks(line))

    def _hidden(self, span: str) -> str:
        mask = next(self._free)
        self._spans[mask] = show_blanks(span)
        return mask

    def shown(self, text: str) -> str:
        """A translation with the spans that were hidden."""
        for mask, span in self._spans.items():
            text = text.replace(mask, span)
        return text

    def spans(self, tokens: str, lost: Counter[str]) -> str:
        """Source tokens with masks in the place of those spans that were lost."""
        return " ".join(self._span(token) if _key(bare(token)) in lost else token for token in split_tokens(tokens))

    def _span(self, token: str) -> str:
        before = GLUE if token.startswith(GLUE) else ""
        after = GLUE if token.endswith(GLUE) else ""
        return f"{before}{self.add(token.removeprefix(GLUE).removesuffix(GLUE))}{after}"

    def resolved(self, tokens: str, lost: Counter[str] | None = None) -> str:
        """Target tokens with what the masks stand for; other copies of what was lost are left out."""
        if not self.targets:
            return tokens
        out: list[str] = []
        for token in split_tokens(tokens):
            target = self.targets.get(token.removeprefix(GLUE).removesuffix(GLUE))
            if target is None:
                if lost is None or _key(bare(token)) not in lost:
                    out.append(token)
                continue
            words = split_tokens(target)
            if words:
                words[0] = (GLUE if token.startswith(GLUE) else "") + words[0]
                words[-1] += GLUE if token.endswith(GLUE) else ""
            out += words
        return " ".join(out)


def read_glossary(path: PathLike) -> dict[str, str]:
    """Terms and their translations from a file with a tab between, a pair a line; `#` begins a comment."""
    terms: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        source, tab, target = line.partition("\t")
        if not tab or not source.strip() or "\t" in target:
            raise InputError("expected a term, a tab and its translation", path=path, line=number)
        if terms.get(source.strip(), target.strip()) != target.strip():
            raise InputError(f"'{source.strip()}' has two translations; keep one", path=path, line=number)
        terms[source.strip()] = target.strip()
    if not terms:
        raise InputError("has no terms; expected lines of a term, a tab and its translation", path=path)
    return terms


def without_marks(line: str) -> str:
    """The line as it was before someone marked words in it."""
    return _MARKED.sub(lambda found: found.group(2), line) if "<t " in line else line


def lost_spans(source: str, target: str) -> Counter[str]:
    """Spans and numbers of the source tokens that the target tokens do not have exactly as often."""
    wanted = Counter(_keys(split_tokens(source)))
    if not wanted:
        return wanted
    found = Counter(_keys(split_tokens(target)))
    return Counter({key: count for key, count in wanted.items() if found[key] != count})


def _keys(tokens: Sequence[str]) -> Iterator[str]:
    for token in tokens:
        if not token.isalpha() and (key := _key(bare(token))):
            yield key


def _key(token: str) -> str:
    """The same for all forms that a span may take in a translation; empty for a word."""
    if token.isalpha():
        return ""
    return number_of(token) or (token if is_span(token) else "")
