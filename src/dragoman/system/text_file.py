"""The text pipeline of a system beside tables in the form of other toolkits, which have no place for it.

`text.json` has the settings of text, what was learned of both sides if the system is one of raw text, and how often the
training text has each word, by which unknown source words are split.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dragoman.corpus import Vocab
from dragoman.corpus.tokens import TextSettings, TextSide, read_text_models, write_text_models
from dragoman.errors import InputError, naming
from dragoman.files.store import read_json, write_json
from dragoman.grammar import Grammar
from dragoman.settings import from_values
from dragoman.system.folder import COUNTS, TEXT
from dragoman.text import replace_bytes
from dragoman.types import Int64Array

if TYPE_CHECKING:
    from dragoman.system.system import System

__all__ = ["TextFile", "export_text", "read_text_file"]

_FORMAT, _VERSION = "dragoman-text", 1
_SIDES = ("source", "target")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """What a file tells of a system's text."""

    settings: TextSettings
    models: tuple[TextSide, TextSide] | None
    """Of source and target; None: the system is one of tokens."""
    counts: dict[str, dict[str, int]]
    """How often the training text has each word, by side; empty if nobody knows."""

    def store(self, base: Path, grammar: Grammar) -> None:
        """Write the files of a system in the making, whose grammar is this."""
        if self.models is not None:
            write_text_models(base / TEXT, *self.models)
        if not self.counts:
            return
        for side, vocab, path in zip(
            _SIDES, (grammar.source_vocab, grammar.target_vocab), COUNTS.values(), strict=True
        ):
            counts = [self.counts[side].get(vocab.word(i), 0) for i in range(len(vocab))]
            replace_bytes(base / path, np.array(counts, "<i8").tobytes())


def export_text(system: System, folder: Path) -> Path | None:
    """Write the text pipeline of a system into a folder; None if its text is tokens of nobody knows what."""
    settings = system.settings.text
    if settings == TextSettings():
        return None
    content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "settings": settings.to_json()}
    if settings.raw:
        models = read_text_models(system.file("text"))
        content["models"] = {side: model.to_json() for side, model in zip(_SIDES, models, strict=True)}
    counts = system.word_counts()
    if counts is not None:
        vocabs = system.grammar.source_vocab, system.grammar.target_vocab
        content["counts"] = {s: _counted(v, n) for s, v, n in zip(_SIDES, vocabs, counts, strict=True)}
    write_json(folder / TEXT, content)
    return folder / TEXT


def read_text_file(path: Path) -> TextFile:
    """What `export_text` wrote. Raises InputError for something else."""
    data = read_json(path, "text pipeline")
    if data.get("format") != _FORMAT or data.get("version") != _VERSION:
        raise InputError(
            f"is no text pipeline of version {_VERSION}; export the system again, or import it as tokens: `raw=False`",
            path=path,
        )
    try:
        with naming(path):
            settings: TextSettings = from_values(TextSettings, data["settings"], name="a text pipeline")
        models = None
        if settings.raw:
            source, target = (TextSide.from_json(data["models"][side]) for side in _SIDES)
            models = source, target
        counts = data.get("counts") or {}
        known = {side: {str(word): max(0, int(n)) for word, n in counts[side].items()} for side in _SIDES if counts}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"is no text pipeline: {error} is missing or wrong", path=path) from error
    return TextFile(settings=settings, models=models, counts=known)


def _counted(vocab: Vocab, counts: Int64Array) -> dict[str, int]:
    return {vocab.word(i): n for i, n in enumerate(counts.tolist()) if n}
