"""Tables of rules as text: those of Hiero, Thrax, cdec and Moses read as a grammar with given scores, the first three
written from a view; glue grammars.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dragoman._core import RuleTable, WordTable, format_rules
from dragoman.errors import InputError
from dragoman.grammar.config import RuleExtraction
from dragoman.grammar.grammar import Grammar
from dragoman.grammar.rule_view import RuleView
from dragoman.grammar.text_tables import TextTable, source_ranges
from dragoman.settings import takes_text
from dragoman.text import open_output, read_lines
from dragoman.types import PathLike, Progress

__all__ = ["Glue", "RuleStyle", "read_hiero", "read_moses_glue", "read_moses_rules", "write_hiero"]


class RuleStyle(enum.StrEnum):
    """How nonterminals of target sides are written; both are read."""

    HIERO = "hiero"
    """`[X,1]`, as Hiero and Thrax have it."""
    CDEC = "cdec"
    """`[1]`, as cdec has it."""


@dataclass(frozen=True, slots=True)
class Glue:
    """A glue grammar: the goal is one of the labels, or a goal and one of the labels after it."""

    goal: str
    labels: tuple[str, ...]
    score: float
    """The score of one concatenation, a natural log."""


def read_hiero(
    rules: PathLike,
    folder: PathLike,
    *,
    goal: str = "S",
    config: RuleExtraction | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Read a grammar of Hiero, Thrax or cdec into `folder` (which must not exist).

    Features become scores under their names, unnamed ones as `PhraseModel_0` and so on, as they stand. Glue rules of
    the goal are not rules of the grammar; which labels they put together is in the manifest. Errors name file and line.
    Of `config`, memory and threads count.
    """
    return _read(rules, folder, goal, RuleTable.add_hiero, config, progress)


def read_moses_rules(
    rules: PathLike,
    folder: PathLike,
    *,
    goal: str = "S",
    config: RuleExtraction | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Read Moses' hierarchical rule table into `folder` (which must not exist).

    Its four probabilities become `p_e_f`, `p_f_e`, `lex_e_f` and `lex_f_e`, natural logs; 0 becomes e^-100, as Moses
    has it. Of `config`, memory and threads count.
    """
    return _read(rules, folder, goal, RuleTable.add_moses, config, progress)


def read_moses_glue(path: PathLike) -> Glue:
    """Read Moses' glue grammar: lines for `<s>`, `</s>`, and one for every label that may follow a goal."""
    goal, score = "", 0.0
    labels: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        fields = [field.split() for field in line.split("|||")]
        if len(fields) < 4 or len(fields[1]) < 2 or not fields[2] or fields[0][:-1] != fields[1][:-1]:
            raise InputError(
                "expected a glue rule, 'symbols [X] ||| symbols [S] ||| score ||| …'", path=path, line=number
            )
        *symbols, head = fields[1]
        goal = goal or head[1:-1]
        if symbols in (["<s>"], [f"[X][{goal}]", "</s>"]) and head == f"[{goal}]":
            continue
        if len(symbols) != 2 or symbols[0] != f"[X][{goal}]" or not symbols[1].startswith("[X]["):
            raise InputError(f"is not a glue rule of the goal {goal}", path=path, line=number)
        try:
            value = math.log(float(fields[2][0]))
        except ValueError:
            raise InputError(f"{fields[2][0]!r} is not a positive number", path=path, line=number) from None
        if labels and value != score:
            raise InputError("has another score than the glue rules before; they must agree", path=path, line=number)
        labels.append(symbols[1][4:-1])
        score = value
    if not labels:
        raise InputError("has no rule that puts a goal and a label together", path=path)
    return Glue(goal, tuple(labels), score)


@takes_text
def write_hiero(
    view: RuleView, path: PathLike, *, style: RuleStyle = RuleStyle.HIERO, progress: Progress | None = None
) -> None:
    """Write the rules of a view with named scores; `progress` gets the number of source sides done.

    Words that could be read as markup are escaped, as `read_hiero` expects.
    """
    with open_output(path) as output:
        for begin, end in source_ranges(view.tables.n_sources(), progress):
            output.write_block(
                format_rules(
                    view.core,
                    list(view.labels),
                    list(view.score_names),
                    view.source_vocab.table,
                    view.target_vocab.table,
                    begin,
                    end,
                    style is RuleStyle.CDEC,
                )
            )


def _read(
    rules: PathLike,
    folder: PathLike,
    goal: str,
    add: Callable[[RuleTable, bytes, int, WordTable, WordTable], None],
    config: RuleExtraction | None,
    progress: Progress | None,
) -> Grammar:
    native = RuleTable(goal)
    table = TextTable(native)
    table.add(rules, partial(add, native), progress)
    content = {
        "kind": "rules",
        "labels": native.labels() or ["X"],
        "score_names": native.score_names(),
        "glue": {"goal": goal, "labels": native.glued()} if native.glued() else None,
        "n_given_reordering": 0,
        "min_count": 1,
    }
    return table.store(folder, rules, content, config or RuleExtraction(), is_rules=True)
