"""The output of fairseq-generate as lines of JSON, which the reader of lists takes."""

from __future__ import annotations

import json
import math
import re

from dragoman.errors import InputError

__all__ = ["FairseqLines", "is_fairseq"]

_LINE = re.compile(rb"^[STHDP]-\d+\t", re.MULTILINE)
_KIND = re.compile(rb"^(D-|H-)", re.MULTILINE)
_CANDIDATE = re.compile(r"[HD]-(\d+)\t(\S+)\t(.*)\Z", re.DOTALL)


def is_fairseq(data: bytes) -> bool:
    """Whether lines are of fairseq-generate's output, which begins with what it logs."""
    return _LINE.search(data) is not None


class FairseqLines:
    """Blocks of `D-0<TAB>score<TAB>text`, or of `H-0…` where there are no D lines; others are skipped.

    H is as the model writes, before subwords are joined and words detokenised; D is after that. The score, log base 2
    and divided by a length, becomes the feature `score`, a natural log, and the total.
    """

    def __init__(self) -> None:
        self._kind: bytes | None = None

    def as_json(self, data: bytes, first_line: int) -> bytes:
        """As many lines, those that are no candidates empty. Raises InputError for a line that is damaged."""
        lines = data.split(b"\n")
        if self._kind is None:  # fairseq writes D below every H, or no D at all
            self._kind = min(_KIND.findall(data), default=None)
        return b"\n".join(self._line(line, number) for number, line in enumerate(lines, start=first_line))

    def _line(self, line: bytes, number: int) -> bytes:
        kind = self._kind
        if kind is None or not line.startswith(kind):
            return b""
        try:
            match = _CANDIDATE.match(line.decode("utf-8"))
            if match is None:
                raise ValueError("no candidate")
            score = float(match[2]) * math.log(2)
            if not math.isfinite(score):
                raise ValueError("not finite")
        except ValueError:
            raise InputError(
                f"expected '{kind.decode()}0<TAB>score<TAB>text', in UTF-8, with a finite score", line=number
            ) from None
        row = {"id": int(match[1]), "text": match[3], "features": {"score": score}, "total": score}
        return json.dumps(row, ensure_ascii=False).encode("utf-8")
