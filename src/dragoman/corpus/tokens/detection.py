"""Whether text is raw or tokenised, by what stands around its punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from dragoman.corpus.tokens.scripts import UNSPACED
from dragoman.errors import InputError
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = ["TextLook", "decide_raw", "look_at", "sample_file"]

SAMPLE_LINES = 5000
_ATTACHED = re.compile(rf"(?<=[^\W\d_])[,;:!?](?=\s|$)|(?<=[^\W\d_]{{2}})\.$|(?<=[{UNSPACED}])[。，、！？]")
_ALONE = re.compile(r"(?:(?<=\s)|^)[\uffed]?[,.;:!?。，、！？](?=\s|$)")
_RUN = re.compile(f"[{UNSPACED}]+")
_LONG_RUN = 6.0
"""Letters of a run between spaces, on average, above which nobody has segmented the text."""


@dataclass(frozen=True, slots=True)
class TextLook:
    """What a sample of a text looks like."""

    n_attached: int
    """Punctuation at the end of a word."""
    n_alone: int
    """Punctuation with spaces around it."""
    run_length: float
    """Mean length of runs of letters of scripts without spaces; 0 if such letters are rare."""

    @property
    def raw(self) -> bool | None:
        """None: nothing tells."""
        if self.is_uncut:
            return True
        if self.n_attached + self.n_alone:
            return self.n_attached > self.n_alone
        return False if self.run_length else None

    @property
    def is_uncut(self) -> bool:
        """Whether nobody has cut the letters of a script without spaces into words, whatever punctuation tells."""
        return self.run_length > _LONG_RUN

    def __str__(self) -> str:
        if self.is_uncut and self.n_attached <= self.n_alone:
            return f"{self.run_length:.1f} letters between spaces"
        if n_signs := self.n_attached + self.n_alone:
            return f"{100 * self.n_attached / n_signs:.0f} % of punctuation is attached to words"
        return f"{self.run_length:.1f} letters between spaces"


def look_at(lines: Iterable[str]) -> TextLook:
    """What these lines look like."""
    attached = alone = n_letters = n_characters = n_runs = 0
    for line in lines:
        attached += len(_ATTACHED.findall(line))
        alone += len(_ALONE.findall(line))
        n_characters += len(line)
        for run in _RUN.findall(line):
            n_letters += len(run)
            n_runs += 1
    return TextLook(attached, alone, n_letters / n_runs if n_letters > 0.3 * n_characters and n_runs else 0.0)


def sample_file(path: PathLike) -> list[str]:
    """The first lines of a file."""
    return list(islice(read_lines(path), SAMPLE_LINES))


def decide_raw(samples: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[bool, str]:
    """Whether text is raw, from a sample of each side or file, and why.

    Raises InputError if some looks raw and some tokenised.
    """
    looks = [look_at(sample) for sample in samples]
    why = "; ".join(f"{name}: {look}" for name, look in zip(names, looks, strict=True) if look.raw is not None)
    found = {look.raw for look in looks} - {None}
    if len(found) > 1:
        one, other = ("one side", "the other") if len(samples) == 2 else ("some text", "some")
        raise InputError(
            f"{one} looks raw and {other} tokenised ({why}); say `raw=True` or `raw=False`, or make them alike"
        )
    return True in found, why or "no punctuation tells"
