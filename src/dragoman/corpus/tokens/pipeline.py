"""Raw text to tokens and back, as one remembered pipeline: learned in training, stored with the system.

Unicode normal form, protected spans, tokens with glue, segmentation of scripts without spaces, the case of words.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.corpus.tokens.casing import CaseModel, begins_small, learn_case
from dragoman.corpus.tokens.lines import TokenLines
from dragoman.corpus.tokens.pairs import QUOTATION, kind_of
from dragoman.corpus.tokens.scripts import UNSPACED
from dragoman.corpus.tokens.segments import Segmenter, learn_segments
from dragoman.corpus.tokens.settings import TextSettings
from dragoman.corpus.tokens.spans import MASKS
from dragoman.corpus.tokens.tokenizer import (
    CLOSING_QUOTES,
    ENDS,
    GLUE,
    QUOTES,
    Segment,
    TextTokenizer,
    bare,
    detokenize,
)
from dragoman.corpus.tokens.unknown import WordSplitter
from dragoman.errors import InputError
from dragoman.files.store import read_json, write_json
from dragoman.types import PathLike

__all__ = ["RawLines", "TextSide", "learn_side", "read_text_models", "split_sentences", "write_text_models"]

_RUN = re.compile(f"[{UNSPACED}]+")
_MASK = re.compile(f"[{MASKS}]")
_JIEBA = "jieba"
_FEW_LETTERS = 0.02
"""Below this share of letters without spaces, they are cut into characters and no words are learned."""

_SAMPLE = 5000
_MOST_LINES = 0.95

Lines = Callable[[], Iterable[str]]
"""Opens a text from its beginning, as often as it is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSide:
    """What was learned of one side's text."""

    language: str | None
    segments: Mapping[str, int] | None = None
    """Words of scripts without spaces with their counts; None: characters."""
    jieba: bool = False
    """Whether jieba cuts them instead."""
    case: tuple[str, ...] | None = None
    """The usual form of every word; None: case stays."""
    begins_small: bool = False
    """Whether sentences do not begin with capitals."""
    line_sentences: int = 1
    """Sentences on a line, in all but few lines of the training text; a line with more is translated in parts."""

    @property
    def spaced(self) -> bool:
        """Whether the text has spaces between its words."""
        return self.segments is None and not self.jieba

    def tokenizer(self, *, target: bool, spaced_target: bool = False) -> TextTokenizer:
        """With `spaced_target`, of a source side whose target has spaces between its words."""
        segment: Segment = list
        if self.jieba:
            segment = _jieba()
        elif self.segments is not None:
            segment = Segmenter(self.segments)
        return TextTokenizer(self.language, segment, keeps_spaces=target, parts_spans=spaced_target)

    def to_json(self) -> dict[str, Any]:
        segments = None if self.segments is None else dict(self.segments)
        case = None if self.case is None else list(self.case)
        return {
            "language": self.language,
            "segments": segments,
            "jieba": self.jieba,
            "case": case,
            "begins_small": self.begins_small,
            "line_sentences": self.line_sentences,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TextSide:
        language, segments, case = data["language"], data["segments"], data["case"]
        return cls(
            language=None if language is None else str(language),
            segments=None if segments is None else {str(word): int(count) for word, count in segments.items()},
            jieba=bool(data["jieba"]),
            case=None if case is None else tuple(map(str, case)),
            begins_small=bool(data.get("begins_small", False)),
            line_sentences=max(1, int(data["line_sentences"])),
        )


def learn_side(lines: Lines, language: str | None, *, target: bool, case: bool) -> TextSide:
    """Learn from the text of one side: words of a script without spaces, and with `case` the case of words."""
    side = TextSide(language=language)
    n_letters = n_characters = 0
    for line in itertools.islice(lines(), _SAMPLE):
        n_characters += len(line)
        n_letters += sum(map(len, _RUN.findall(line)))
    if n_letters > _FEW_LETTERS * n_characters:
        if language == "zh" and importlib.util.find_spec(_JIEBA) is not None:
            side = TextSide(language=language, jieba=True)
        else:
            words = learn_segments(run for line in lines() for run in _RUN.findall(line)).words
            side = TextSide(language=language, segments=words)
    tokenize = side.tokenizer(target=target).tokenize
    sample = [tokenize(line) for line in itertools.islice(lines(), _SAMPLE)]
    sizes = sorted(len(_sentences(line.split(" "))) for line in sample)
    usual = sizes[int(_MOST_LINES * (len(sizes) - 1))] if sizes else 1
    forms = tuple(learn_case(map(tokenize, lines())).forms.values()) if case else None
    return replace(side, case=forms, begins_small=begins_small(sample), line_sentences=usual)


class RawLines(TokenLines):
    """Raw lines of a system that was trained on raw text."""

    is_raw = True

    def __init__(
        self,
        source: TextSide,
        target: TextSide,
        settings: TextSettings,
        splitter: WordSplitter | None = None,
        quotes: Sequence[str] = (),
    ) -> None:
        """`quotes`: the target's usual opening and closing double quotation mark, as tokens."""
        super().__init__(splitter)
        self._source = source.tokenizer(target=False, spaced_target=target.spaced)
        self._spaced = target.spaced
        self._parts = target.spaced and not source.spaced
        self._quotes = tuple(quotes)
        self._target = target.tokenizer(target=True)
        self._lowercase = settings.lowercase
        self._line_sentences = source.line_sentences
        self._source_case = None if source.case is None else CaseModel(source.case)
        self._target_case = None
        if target.case is not None:
            self._target_case = CaseModel(target.case, begins_small=target.begins_small)

    def sentences(self, line: str) -> list[str]:
        parts, size = _sentences(self._source.tokenize(line).split(" ")), self._line_sentences
        groups = (parts[begin : begin + size] for begin in range(0, len(parts), size))
        return [self._source_tokens([token for part in group for token in part]) for group in groups]

    def prepare(self, line: str) -> str:
        return self._source_tokens(self._source.tokenize(line).split(" "))

    def prepare_target(self, line: str) -> str:
        tokens, case = self._target.tokenize(line), self._target_case
        if self._lowercase:
            return tokens.lower()
        return tokens if case is None else " ".join(case.lower_beginnings(tokens.split(" ")))

    def term(self, text: str, *, target: bool) -> str:
        tokens = (self._target if target else self._source).tokenize(text)
        # What a user forces keeps its case: no model has to know it, and recasing leaves capitals alone.
        return tokens.lower() if self._lowercase and not target else tokens

    def paired(self, token: str, ends: bool) -> str:
        if (kind := kind_of(token)) is None:
            return token
        if kind == QUOTATION and self._quotes:
            return self._quotes[ends]
        if self._parts:  # spaces around it, which the source does not have
            return f"{GLUE}{bare(token)}" if ends else f"{bare(token)}{GLUE}"
        return token

    def restore(self, tokens: str, source: str) -> str:
        words = tokens.split(" ")
        if (case := self._target_case) is not None:
            origin = self._source.tokenize(source).split(" ")
            if self._lowercase:
                words = case.recase(words, origin)
            words = case.raise_beginnings(words, origin)
        return detokenize(filter(None, words), spaced=self._spaced)

    def _source_tokens(self, tokens: list[str]) -> str:
        case = self._source_case
        if self._lowercase:
            return self._split(" ".join(tokens).lower())
        return self._split(" ".join(tokens if case is None else case.lower_beginnings(tokens, clauses=True)))


def split_sentences(line: str, language: str | None = None) -> list[str]:
    """The sentences of a line of text; one, perhaps empty, where no end of a sentence is in it."""
    tokens = TextTokenizer(language, list, keeps_spaces=True).tokenize(line).split(" ")
    return [detokenize(filter(None, part)) for part in _sentences(tokens)]


def write_text_models(path: PathLike, source: TextSide, target: TextSide) -> None:
    """Store what was learned of both sides."""
    write_json(path, {"source": source.to_json(), "target": target.to_json()})


def read_text_models(path: PathLike) -> tuple[TextSide, TextSide]:
    """Source and target side. Raises InputError when the file holds something else."""
    data = read_json(path, "text pipeline")
    try:
        return TextSide.from_json(data["source"]), TextSide.from_json(data["target"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"is no text pipeline ({error}); the system is damaged", path=Path(path)) from error


def _sentences(tokens: list[str]) -> list[list[str]]:
    """The tokens of a line, sentence by sentence; one list, perhaps empty, for a line without an end in it."""
    out, begin, i = [], 0, 0
    while i < len(tokens):
        ends = tokens[i].removeprefix(GLUE)[-1:] in ENDS and not tokens[i][:1].isalnum()
        i += 1
        if not ends:
            continue
        while i < len(tokens) and tokens[i].startswith(GLUE) and tokens[i][1:] in CLOSING_QUOTES:
            i += 1
        if i < len(tokens) and _begins(tokens[i]):
            out.append(tokens[begin:i])
            begin = i
    return [*out, tokens[begin:]]


def _begins(token: str) -> bool:
    """Whether a sentence may begin with this token: a capital, a letter without case, an opening quotation mark.

    So may what stands for a word.
    """
    if token.startswith(GLUE):
        return False
    first = token[:1]
    if _MASK.match(token):
        return True
    return (first.isalpha() and not first.islower()) or (token.endswith(GLUE) and first in QUOTES)


def _jieba() -> Segment:
    try:
        import logging

        import jieba
    except ImportError:
        raise InputError("the system's Chinese was cut by jieba: pip install 'dragoman[chinese]'") from None
    jieba.setLogLevel(logging.WARNING)
    cut: Segment = jieba.Tokenizer().lcut
    return cut
