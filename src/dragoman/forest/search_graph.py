"""Search graphs of Moses' phrase-based decoder (`-output-search-graph`, `-output-search-graph-extended`).

    0 hyp=0 stack=0 forward=4 fscore=-6
    0 hyp=4 stack=1 back=0 score=-2 transition=-2 forward=7 fscore=-6 covered=0-0 scores="core=(-1,1) x=2 " out="la|the"
    0 hyp=9 stack=1 back=0 score=-3 transition=-3 recombined=4 forward=7 fscore=-7 covered=0-0 out=a

A line is a step from the hypothesis `back` to `hyp`, or to that which it was recombined with. Those without a next one
(`forward=-1`) that cover most are complete. The extended form has the features of the step: the dense ones have no
names there and are called `core_1`, `core_2`, …, in the order of the moses.ini's [feature] lines
(`features.moses_order`). The short form has only the weighted sum, which becomes the feature `transition`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from dragoman._core import Forest as CoreForest
from dragoman.errors import InputError
from dragoman.forest.builder import ForestBuilder, ForestTables
from dragoman.text import split_tokens
from dragoman.types import MAX_INT32

__all__ = ["is_search_graph", "read_search_graphs"]

_HEAD = re.compile(r"([0-9]{1,10}) hyp=([0-9]{1,10}) stack=([0-9]{1,10})(?: |\Z)")
_FIELD = re.compile(r"(back|score|transition|recombined|forward|fscore|covered)=(\S+)(?: |\Z)")
_SCORES = re.compile(r'scores="([^"]*)"(?: |\Z)')
_CORE = re.compile(r"\s*\{?\s*(?:core=\(([^()]*)\)|<<([^<>]*)>>)\s*")
_BEGIN, _GOAL = 0, 1
"""Nodes of the first hypothesis and of the end; hypothesis h is node h + 2."""


def is_search_graph(line: str) -> bool:
    """Whether this is a line of a search graph."""
    return _HEAD.match(line) is not None


def read_search_graphs(lines: Iterable[tuple[int, str]], tables: ForestTables) -> Iterator[tuple[int, CoreForest]]:
    """The search space of each sentence, with its number. `lines` have theirs. Raises InputError with the line."""
    seen: set[int] = set()
    steps = (_Step(number, line) for number, line in lines if line.strip())
    for sentence, group in groupby(steps, lambda step: step.sentence):
        its_steps = list(group)
        if sentence in seen:
            raise InputError(f"sentence {sentence} comes again; its lines must be together", line=its_steps[0].line)
        seen.add(sentence)
        yield sentence, _graph(its_steps, tables)


class _Step:
    """A line: `out` are its words, `scores` what the extended form says of features."""

    __slots__ = ("back", "forward", "hypothesis", "line", "out", "recombined", "scores", "sentence", "stack", "value")

    def __init__(self, line: int, text: str) -> None:
        head = _HEAD.match(text)
        if head is None:
            raise InputError("expected a search graph's 'SENTENCE hyp=N stack=N …'", line=line)
        self.line = line
        self.sentence, self.hypothesis, self.stack = (int(part) for part in head.groups())
        if max(self.sentence, self.hypothesis, self.stack) > MAX_INT32 - 2:
            raise InputError("a number is too large", line=line)
        fields: dict[str, str] = {}
        at = head.end()
        while match := _FIELD.match(text, at):
            fields[match[1]] = match[2]
            at = match.end()
        scores = _SCORES.match(text, at)
        self.scores = None if scores is None else scores[1]
        out = text[at if scores is None else scores.end() :]
        self.forward = self._whole(fields.get("forward", "-1"), least=-1)
        self.back = self.recombined = -1
        self.value = 0.0
        self.out = ""
        if self.hypothesis == 0:
            return
        if "back" not in fields or not out.startswith("out="):
            raise InputError("expected back=N and, at the end, out=WORDS", line=line)
        self.back = self._whole(fields["back"])
        self.recombined = self._whole(fields.get("recombined", "-1"), least=-1)
        self.value = _finite(fields.get("transition", ""), "transition", line)
        self.out = out.removeprefix("out=")
        if len(self.out) > 1 and self.out.startswith('"') and self.out.endswith('"') and "|" in self.out:
            self.out = self.out[1:-1].partition("|")[2]

    def _whole(self, text: str, *, least: int = 0) -> int:
        if not re.fullmatch(r"-?[0-9]{1,10}", text) or not least <= int(text) <= MAX_INT32 - 2:
            raise InputError(f"'{text}' is not the number of a hypothesis", line=self.line)
        return int(text)


def _graph(steps: list[_Step], tables: ForestTables) -> CoreForest:
    builder = ForestBuilder(tables)
    winners = {step.hypothesis: step.recombined for step in steps if step.recombined >= 0}
    known = {step.hypothesis for step in steps} | {0}
    full = max(step.stack for step in steps)
    builder.add_edge(_BEGIN, (), (), ())
    complete = dict.fromkeys(
        _node(_winner(step.hypothesis, winners, step.line))
        for step in steps
        if step.forward == -1 and step.stack == full
    )
    for step in steps:
        if step.hypothesis == 0:
            continue
        for other in (step.back, step.recombined):
            if other >= 0 and other not in known:
                raise InputError(f"there is no hypothesis {other} in sentence {step.sentence}", line=step.line)
        head, tail = (_node(_winner(each, winners, step.line)) for each in (step.hypothesis, step.back))
        try:
            words = [tables.word(word) for word in split_tokens(step.out)]
            builder.add_edge(head, (-1, *words), (tail,), _features(step, tables))
        except InputError as error:
            raise InputError(error.message, line=step.line) from None
    builder.set_span(_GOAL, 0, full)
    for node in complete:
        builder.add_edge(_GOAL, (-1,), (node,), ())
    try:
        return builder.build(_GOAL)
    except InputError as error:
        raise InputError(f"sentence {steps[0].sentence}: {error.message}", line=steps[0].line) from None


def _node(hypothesis: int) -> int:
    return _BEGIN if hypothesis == 0 else hypothesis + 2


def _winner(hypothesis: int, winners: dict[int, int], line: int) -> int:
    """What a hypothesis was recombined with in the end."""
    n_steps = 0
    while hypothesis in winners:
        hypothesis = winners[hypothesis]
        n_steps += 1
        if n_steps > len(winners):
            raise InputError(f"hypothesis {hypothesis} was recombined with itself", line=line)
    return hypothesis


def _features(step: _Step, tables: ForestTables) -> list[tuple[int, float]]:
    if step.scores is None:
        values = {"transition": step.value}
    else:
        core = _CORE.match(step.scores)
        if core is None:
            raise InputError('expected scores="core=(…) name=value …"')
        parts = (core[1] if core[1] is not None else core[2]).replace(",", " ").split()
        values = {f"core_{place}": _finite(part, "a score", step.line) for place, part in enumerate(parts, start=1)}
        for part in re.split(r"[,\s]+", step.scores[core.end() :].rstrip("} ,")):
            name, equals, value = part.rpartition("=")
            if not part:
                continue
            if not equals or not name or name in values:
                raise InputError(f"expected 'name=value' in the scores, each name once, not '{part}'")
            values[name] = _finite(value, f"'{name}'", step.line)
    return [(tables.feature(name), value) for name, value in values.items() if value != 0]


def _finite(text: str, what: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text or not text.isascii():
        raise InputError(f"{what} must be a number, not '{text}'", line=line)
    return value
