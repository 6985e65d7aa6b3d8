"""What `dragoman tune` says while it works: a line for each round, and for each step of a tuning by steps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dragoman.candidates import Objective
from dragoman.cli.session import Session
from dragoman.cli.tuning.options import TuneOptions
from dragoman.tuning import OnStage, Phase, RoundRecord, StepRecord
from dragoman.types import Progress

__all__ = ["RoundsShown", "StagesShown", "describe_step", "rounds_shown", "stages_shown"]

_GRADIENT, _LISTS, _MODEL = "gradient", "lists", "model"
_ON_DEV = ("last", "theta")
_JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class RoundsShown:
    """What the loop calls as it goes."""

    on_step: Callable[[int, Phase], None]
    on_round: Callable[[RoundRecord], None]


@dataclass(frozen=True, slots=True)
class StagesShown(RoundsShown):
    """The same where steps come before the rounds."""

    on_stage: OnStage
    progress: Progress


@contextlib.contextmanager
def rounds_shown(session: Session, objective: Objective, options: TuneOptions) -> Iterator[RoundsShown]:
    """Progress over rounds, and a line for each."""
    settings = options.loop_settings()
    with session.progress("rounds", settings.max_rounds) as progress:

        def on_step(number: int, step: Phase) -> None:
            progress(number - 1)
            if step is Phase.DECODE:
                session.say(f"round {number}: decoding")

        def on_round(record: RoundRecord) -> None:
            session.say(_describe_round(record, objective))
            progress(min(record.round, settings.max_rounds))

        yield RoundsShown(on_step, on_round)


@contextlib.contextmanager
def stages_shown(session: Session, objective: Objective, options: TuneOptions) -> Iterator[StagesShown]:
    """Progress over the lines of each step, and a line when it begins and ends."""
    with contextlib.closing(_StageBar(session)) as bar:

        def on_stage(name: str, n_lines: int, record: StepRecord | None) -> None:
            if record is None:
                bar.begin(name, n_lines)
                session.say(f"{name}: {_describe_stage(name, n_lines, options)}")
            else:
                bar.close()
                session.say(describe_step(record, objective, options))

        def on_step(number: int, step: Phase) -> None:
            if step is Phase.DECODE:
                session.say(f"round {number}: decoding")

        yield StagesShown(on_step, lambda record: session.say(_describe_round(record, objective)), on_stage, bar.update)


class _StageBar:
    """A progress bar over the lines of a step, which begins anew whenever they are decoded again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._what: tuple[str, int] | None = None
        self._open = contextlib.ExitStack()
        self._progress: Progress | None = None
        self._done = 0

    def begin(self, name: str, n_lines: int) -> None:
        self.close()
        self._what = name, n_lines

    def update(self, done: int) -> None:
        if self._what is not None:
            if self._progress is None or done < self._done:
                self._open.close()
                self._progress = self._open.enter_context(self._session.progress(*self._what))
            self._done = done
            self._progress(done)

    def close(self) -> None:
        self._open.close()
        self._what = self._progress = None


def _describe_stage(name: str, n_lines: int, options: TuneOptions) -> str:
    if name == _MODEL:
        return f"{options.method_name} on {n_lines:,} lists"
    if name == _JUDGE:
        return f"decoding {n_lines:,} lines of the training text that nothing was learned from, before and after"
    kind = "gradient over" if name.startswith(_GRADIENT) else "lists of" if name == _LISTS else "search on"
    where = "the development set" if name in _ON_DEV else "the training text"
    return f"{kind} {n_lines:,} lines of {where}"


def describe_step(record: StepRecord, objective: Objective, options: TuneOptions) -> str:
    """A finished step in one line."""
    before, after = objective.shown(record.score_before), objective.shown(record.score_after)
    if record.name.startswith((_GRADIENT, _LISTS)):
        seen = "have seen" if options.all_data else "have not seen"
        text = f"{record.name}: score {after} of lines by tables that {seen} them"
    elif record.name == _JUDGE:
        text = f"{record.name}: score {before} -> {after} of {record.n_lines:,} held-out lines"
    elif record.name == _MODEL:
        text = f"{record.name}: score {before} -> {after} of what the weights choose from the lists"
    else:
        text = f"{record.name}: score {before} -> {after} in {record.n_rounds} rounds"
    return f"{text}, {'found: another tuning has made it' if record.found else f'{record.wall_s:.1f} s'}"


def _describe_round(record: RoundRecord, objective: Objective) -> str:
    """A round in one line."""
    kind = "live score" if record.live else "score"
    text = (
        f"round {record.round}: {kind} {objective.shown(record.score)}, {record.n_new:,} new of "
        f"{record.n_candidates:,} candidates, {record.n_features:,} features, decoded in {record.wall_s:.1f} s"
    )
    if record.length_ratio is not None:
        text += f", length ratio {record.length_ratio:.3f}"
    if record.reranked is not None and objective.shown(record.reranked) != objective.shown(record.score):
        text += f", reranked by the weights {objective.shown(record.reranked)}"
    return text if record.learned is None else f"{text}, learned in {record.learned.wall_s:.1f} s"
