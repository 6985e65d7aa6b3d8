"""The output of fairseq-generate as lines of JSON, which the reader of lists takes."""

from __future__ import annotations

import json
import math
import re

from dragoman.errors import InputError

__all__ = ["FairseqLines", "is_fairseq"]

_LINE = re.compile(rb"([A-Z])-(\d+)\t")
_CANDIDATE = re.compile(r"[HD]-(\d+)\t(\S+)\t(.*)\Z", re.DOTALL)


def is_fairseq(line: bytes) -> bool:
    """Whether a line is of fairseq-generate's output."""
    return _LINE.match(line) is not None


class FairseqLines:
    """Blocks of `H-0<TAB>score<TAB>text`, or of `D-0…`, detokenised, where there are no H lines; others are skipped.

    The score, log base 2 and divided by a length, becomes the feature `score`, a natural log, and the total.
    """

    def __init__(self) -> None:
        self._kind: bytes | None = None

    def as_json(self, data: bytes, first_line: int) -> bytes:
        """As many lines, those that are no candidates empty. Raises InputError for a line that is damaged."""
        lines = data.split(b"\n")
        return b"\n".join(self._line(line, number) for number, line in enumerate(lines, start=first_line))

    def _line(self, line: bytes, number: int) -> bytes:
        kind = line[:2]
        self._kind = self._kind or (kind if kind in {b"H-", b"D-"} else None)
        if kind != self._kind:
            return b""
        try:
            match = _CANDIDATE.match(line.decode("utf-8"))
            if match is None:
                raise ValueError("no candidate")
            score = float(match[2]) * math.log(2)
            if not math.isfinite(score):
                raise ValueError("not finite")
        except ValueError:
            raise InputError("expected 'H-0<TAB>score<TAB>text', in UTF-8, with a finite score", line=number) from None
        row = {"id": int(match[1]), "text": match[3], "features": {"score": score}, "total": score}
        return json.dumps(row, ensure_ascii=False).encode("utf-8")
