"""What one sees of an experiment at work: a live table in a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dragoman.cli.session import Session, table
from dragoman.metric import metric_label, recorded_metric
from dragoman.run import CellKey, CellResult
from dragoman.text import printable
from dragoman.tuning import RoundRecord
from dragoman.types import Progress

__all__ = ["Board", "dev_score"]

_FRAME_LINES = 6
_LEAST_ROWS = 4
_ENDED = ("done", "was done", "failed")


class _Row:
    """What is known of a cell."""

    def __init__(self) -> None:
        self.round = ""
        self.dev = ""
        self.test = ""
        self.state = "waits"


def dev_score(metric: str, score: float) -> str:
    """A score on the development set, with the metric that was tuned for unless that is BLEU."""
    return recorded_metric(metric).shown(score) + ("" if metric == "bleu" else f" {metric_label(metric)}")


class Board:
    """Watches a run of cells, each with a metric and the rounds that it may have.

    A round that is left will last as long as those of the same system did, or as all did.
    """

    def __init__(
        self, session: Session, cells: Sequence[CellKey], metrics: Mapping[CellKey, str], rounds: Mapping[CellKey, int]
    ) -> None:
        self._session = session
        self._rows = {key: _Row() for key in cells}
        self._metrics = metrics
        self._left = {key: rounds[key] for key in cells}
        self._times: dict[tuple[str, str], list[float]] = {}
        self._now: CellKey | None = None
        self._began = self._last = time.monotonic()
        self._console = Console(stderr=True)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._session.quiet:
            self._live = Live(get_renderable=self.render, console=self._console, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        """A line of prose, above the table."""
        if self._live is not None:
            self._console.print(Text(printable(text)), soft_wrap=True)
        else:
            self._session.say(printable(text))

    def warn(self, text: str) -> None:
        """A warning, above the table; also where all else is quiet."""
        if self._live is not None:
            self._console.print(Text(printable(f"warning: {text}")), soft_wrap=True)
        else:
            self._session.warn(text)

    @contextlib.contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """How far a piece of work is, as the state of the cell at work."""
        self._state(what)

        def update(done: int) -> None:
            self._state(f"{what} {done:,}" + (f" of {total:,}" if total else ""))

        yield update

    def begin_cell(self, key: CellKey) -> None:
        self._now = key
        self._rows[key].state = "begins"
        if self._live is None:
            self.say(f"{key.name}: begins")

    def step(self, key: CellKey, number: int, what: str) -> None:
        """A round is about to be decoded, learned from, or tried on the test set."""
        self._rows[key].round = str(number)
        self._rows[key].state = what

    def end_round(self, key: CellKey, record: RoundRecord) -> None:
        row = self._rows[key]
        row.round, row.dev = str(record.round), dev_score(self._metrics[key], record.score)
        self._left[key] -= 1
        now = time.monotonic()
        self._times.setdefault((key.corpus, key.system), []).append(now - self._last)
        self._last = now
        if self._live is None:
            self.say(f"{key.name}: round {record.round}: dev {row.dev}{self._time_left()}")

    def end_cell(self, result: CellResult, *, before: bool) -> None:
        row = self._rows[result.key]
        self._left[result.key] = 0
        if result.error is not None:
            row.state = f"failed: {printable(result.error)}"
        else:
            row.round, row.dev = str(result.best_round), dev_score(result.metric, result.best.dev)
            row.test = f"{100 * result.scores['bleu']:.2f}"
            row.state = "was done" if before else "done"
        if self._live is None:
            self.say(f"{result.key.name}: {row.state}" + (f", test BLEU {row.test}" if row.test else ""))
        for warning in () if before else result.warnings:
            self.warn(f"{result.key.name}: {warning}")

    def _state(self, text: str) -> None:
        if self._now is not None:
            self._rows[self._now].state = text

    def _time_left(self) -> str:
        every = [seconds for times in self._times.values() for seconds in times]
        if not every or not any(self._left.values()):
            return ""
        means = {system: fmean(times) for system, times in self._times.items()}
        overall = fmean(every)
        minutes = sum(n * means.get((key.corpus, key.system), overall) for key, n in self._left.items()) / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", less than a minute left"

    def render(self) -> Group:
        """The table as it is now, around the cell at work."""
        keys = list(self._rows)
        n_shown = max(_LEAST_ROWS, self._console.height - _FRAME_LINES)
        at = keys.index(self._now) if self._now is not None else 0
        first = max(0, min(at - n_shown // 2, len(keys) - n_shown))
        rows = table("cell", "round", "dev", "test BLEU", "")
        rows.columns[-1].justify = "left"
        for key in keys[first : first + n_shown]:
            row = self._rows[key]
            style = "" if row.state.startswith(("waits", *_ENDED)) else "bold"
            state = Text(row.state, style=style, overflow="ellipsis", no_wrap=True)
            rows.add_row(Text(key.name, style=style), row.round, row.dev, row.test, state)
        n_ended = sum(row.state.startswith(_ENDED) for row in self._rows.values())
        elapsed = (time.monotonic() - self._began) / 60
        line = f"{n_ended} of {len(keys)} cells, {elapsed:.1f} min{self._time_left()}"
        return Group(rows, Text(line))
