"""Parts of a source sentence whose translation is fixed: terms of a glossary, marked words, spans that must survive.

Each becomes a mask: a letter that no system knows, so that any decoder passes it through exactly once and finds its
place among the other words. Afterwards the fixed translation takes the place of the mask.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dragoman.corpus.tokens.lines import TokenLines
from dragoman.corpus.tokens.scripts import UNSPACED
from dragoman.corpus.tokens.spans import MASKS, SPAN, hide_blanks, is_span, number_of, show_blanks
from dragoman.corpus.tokens.tokenizer import GLUE, bare, detokenize
from dragoman.errors import InputError
from dragoman.text import read_lines, split_tokens
from dragoman.types import PathLike

__all__ = ["Glossary", "Masks", "lost_spans", "read_glossary", "without_marks"]

_FIRST, _LAST = ord(MASKS[0]), ord(MASKS[-1])
_HIDDEN = re.compile(rf"{SPAN}|(?<![\w.,:/])\d+(?:[.,]\d+)*(?:[:/’]\d+)+(?!\w)|(?<!\w)\w*[^\W_]_[^\W_]\w*")
"""What tokenisers of others break: spans, numbers such as 20:30, names such as foo_bar."""
_MARKED = re.compile(r"<t(?:\s[^<>]*?)?\stranslation=(?:\"([^\"]*)\"|'([^']*)')[^<>/]*>(.*?)</t>")
_ATOM = re.compile(rf"{SPAN}|[{UNSPACED}]|[^\W{UNSPACED}]+|\S")
_TOKEN = re.compile(r"[^ \t]+")
_JOINED_BEFORE = re.compile(rf"[^\W{UNSPACED}][-.·‑]$")
_JOINED_AFTER = re.compile(rf"[-.·‑][^\W{UNSPACED}]")


class Glossary:
    """Translations of terms; the longest term wins, and case does not matter.

    Terms are found in the line as it is, before it is cut into sentences and its unknown words are split. In raw text a
    term is whole words, or letters in a row of a script without spaces; in tokenised text it is whole tokens.
    """

    def __init__(self, terms: Mapping[str, str], text: TokenLines) -> None:
        self._is_raw = text.is_raw
        self._atoms = _raw_atoms if text.is_raw else _tokens
        self._terms: dict[tuple[str, ...], str] = {}
        for source, target in terms.items():
            self._terms[tuple(atom.key for atom in self._atoms(self._prepared(source)))] = text.term(
                target, target=True
            )
        self._longest = max(map(len, self._terms), default=0)

    def masked(self, line: str, masks: Masks) -> str:
        """The line with masks in the place of terms."""
        if not self._longest:
            return line
        line = self._prepared(line)
        atoms, out, done, i = self._atoms(line), [], 0, 0
        keys = [atom.key for atom in atoms]
        while i < len(atoms):
            found = self._longest_at(line, atoms, keys, i)
            if found is None:
                i += 1
                continue
            end, target = found
            begin = atoms[i].begin
            out.append(line[done:begin])
            done, i = atoms[end - 1].end, end
            out.append(masks.add(target, line[begin:done]))
        return "".join([*out, line[done:]])

    def _prepared(self, line: str) -> str:
        return unicodedata.normalize("NFC", hide_blanks(line)) if self._is_raw else line

    def _longest_at(self, line: str, atoms: Sequence[_Atom], keys: list[str], i: int) -> tuple[int, str] | None:
        """Where the longest term that begins with atom i ends, and its translation."""
        for end in range(min(len(atoms), i + self._longest), i, -1):
            target = self._terms.get(tuple(keys[i:end]))
            if target is not None and not _joins(line, atoms[i].begin, atoms[end - 1].end):
                return end, target
        return None


class _Atom(NamedTuple):
    """What a term is made of: [begin, end) of a line, and the same for all forms of it."""

    key: str
    begin: int
    end: int


def _raw_atoms(line: str) -> list[_Atom]:
    """Spans, words, letters of scripts without spaces, and signs."""
    return [_Atom(found.group().lower(), *found.span()) for found in _ATOM.finditer(line)]


def _tokens(line: str) -> list[_Atom]:
    """Tokens without their glue."""
    atoms = []
    for found in _TOKEN.finditer(line):
        token, (begin, end) = found.group(), found.span()
        if token != GLUE:
            begin += token.startswith(GLUE)
            end -= token.endswith(GLUE)
        atoms.append(_Atom(bare(token).lower(), begin, end))
    return atoms


def _joins(line: str, begin: int, end: int) -> bool:
    """Whether a hyphen or the like joins what stands there to a longer word."""
    return _JOINED_BEFORE.search(line, max(0, begin - 2), begin) is not None or (
        _JOINED_AFTER.match(line, end) is not None
    )


class Masks:
    """The masks of one line, each with the target tokens it stands for."""

    def __init__(self, line: str) -> None:
        self._free = (chr(code) for code in range(_FIRST, _LAST) if chr(code) not in line)
        self.targets: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        """What each mask stands for in the source."""
        self._spans: dict[str, str] = {}

    def add(self, target: str, source: str) -> str:
        """A new mask for what is translated to these tokens."""
        mask = next(self._free)
        self.targets[mask], self.sources[mask] = target, source
        return mask

    def marked(self, line: str, text: TokenLines) -> str:
        """The line with masks in the place of `<t translation="…">…</t>`."""
        if "<t " not in line:
            return line

        def mask(found: re.Match[str]) -> str:
            translation = found.group(2) if found.group(1) is None else found.group(1)
            one = self.add(text.term(html.unescape(translation), target=True), found.group(3))
            return one if text.is_raw else f" {one} "

        return _MARKED.sub(mask, line)

    def hidden(self, line: str) -> str:
        """A raw line with masks in the place of its spans, and of numbers and names that tokenisers of others break."""
        return _HIDDEN.sub(lambda found: self._hidden(found.group()), hide_blanks(line))

    def _hidden(self, span: str) -> str:
        mask = next(self._free)
        self._spans[mask] = show_blanks(span)
        return mask

    def shown(self, text: str) -> str:
        """A translation with what masks stand for that are still in it: spans that were hidden, parts of words."""
        for mask, target in self.targets.items():
            if mask in text:
                text = text.replace(mask, detokenize(split_tokens(target)))
        for mask, span in self._spans.items():
            text = text.replace(mask, span)
        return text

    def words(self) -> tuple[dict[str, str], dict[str, str]]:
        """What each mask stands for in the source and in the translation, as a word for people to read."""
        targets = {mask: detokenize(split_tokens(target)) for mask, target in self.targets.items()}
        sides = {**self.sources, **self._spans}, {**targets, **self._spans}
        source, target = ({mask: "\u00a0".join(text.split()) for mask, text in side.items()} for side in sides)
        return source, target

    def spans(self, tokens: str, lost: Counter[str]) -> str:
        """Source tokens with masks in the place of those spans that were lost."""
        return " ".join(self._span(token) if _key(bare(token)) in lost else token for token in split_tokens(tokens))

    def _span(self, token: str) -> str:
        before = GLUE if token.startswith(GLUE) else ""
        after = GLUE if token.endswith(GLUE) else ""
        span = token.removeprefix(GLUE).removesuffix(GLUE)
        return f"{before}{self.add(span, span)}{after}"

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
    return _MARKED.sub(lambda found: found.group(3), line) if "<t " in line else line


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
