"""Lists as the result of a command: candidates by falling total."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dragoman.candidates import NbestFormat, Pool, format_of_list, ranked, write_nbest
from dragoman.types import Float64Array

__all__ = ["ListFormat", "Top", "output_format", "write_ranked"]

_result = partial(typer.Option, rich_help_panel="Result")
Top = Annotated[
    int | None,
    _result(min=0, metavar="K", help="Write lists, the K best of each sentence by their new totals; 0: all of them."),
]
ListFormat = Annotated[
    NbestFormat | None, _result("--list-format", help="Format of written lists; that of the first list unless given.")
]


def output_format(paths: Sequence[str], given: NbestFormat | None, pool: Pool) -> NbestFormat:
    """What was asked for; else the format of the first list, if it can hold everything, else JSON lines."""
    if given is not None:
        return given
    if pool.score_names or not paths or not Path(paths[0]).is_file():
        return NbestFormat.JSONL
    found = format_of_list(paths[0])
    return NbestFormat.JSONL if found in {None, NbestFormat.FAIRSEQ} else found


def write_ranked(pool: Pool, values: Sequence[Float64Array], path: str, *, top: int, format_: NbestFormat) -> None:
    """All candidates with their values as totals, best first; only the `top` best of each sentence unless it is 0."""
    write_nbest(ranked(pool, values, top=top or None), path, format_=format_)
