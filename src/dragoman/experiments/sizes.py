"""Sizes of the texts of a corpus as the stages have written them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dragoman.experiments.corpora import TestPart
from dragoman.experiments.drawing import LEFT_OUT
from dragoman.run import TextSize
from dragoman.text import read_lines, split_tokens

__all__ = ["text_sizes"]


def text_sizes(text: Path, tests: Sequence[TestPart]) -> dict[str, TextSize]:
    """Training text without the lines that were taken out of it, development set, and test sets, as `test/NAME`."""
    path = text / LEFT_OUT
    out = {int(line) for line in read_lines(path)} if path.exists() else set()
    sets = {"dev": "dev", **{f"test/{test.name}": test.part for test in tests}}
    return {
        "train": _size(text / "train.source", text / "train.target", out),
        **{name: _size(text / f"{part}.source", text / f"{part}.reference.0") for name, part in sets.items()},
    }


def _size(source: Path, target: Path, out: set[int] | None = None) -> TextSize:
    lines, *tokens = (0, 0, 0)
    for side, path in enumerate((source, target)):
        lines = 0
        for number, line in enumerate(read_lines(path)):
            if not out or number not in out:
                lines += 1
                tokens[side] += len(split_tokens(line))
    return TextSize(lines=lines, source_tokens=tokens[0], target_tokens=tokens[1])
