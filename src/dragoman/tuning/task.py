"""What tunings by steps on disk are given: a system, its development set, and who watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.candidates import Objective
from dragoman.features import Weights
from dragoman.run import RunFolder
from dragoman.run.tunings import RoundRecord
from dragoman.system import System, SystemView
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.tuning.config import TuneConfig
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.line_search import LinesDecoder
from dragoman.tuning.loop import Phase
from dragoman.tuning.step_log import OnStage
from dragoman.types import Int64Array, Progress
from dragoman.work.engine import Engine
from dragoman.work.store import Store

__all__ = ["TuningTask"]

_STEPS = "steps"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuningTask:
    """A system that is to be tuned, and its development set. `k` and `distinct` are for searches.

    `development` names the sentences and references of the development set; `decoder` makes the decoder of its
    sentences, given a view and k. Steps go to `shared`, but for the last one; `say` is told of damage and waiting.
    """

    parent: System
    config: TuneConfig
    start: Weights
    objective: Objective
    development: str
    decoder: Callable[[SystemView, int], Decoder]
    k: int
    distinct: bool
    seed: int
    pairs: AlignedPairs | None = None
    """What is learned from instead of the training text."""
    shared: Path | None = None
    say: Callable[[str], None] = lambda _: None
    n_threads: int = 1
    engine: Engine | None = None
    progress: Progress | None = None
    on_stage: OnStage | None = None
    on_step: Callable[[int, Phase], None] | None = None
    on_round: Callable[[RoundRecord], None] | None = None

    def stores(self, run: RunFolder) -> tuple[Store, Store]:
        """For the last step, and for the others."""
        own = Store(run.path / _STEPS, self.say)
        return own, own if self.shared is None else Store(self.shared, self.say)

    def of_development(self) -> dict[str, Any]:
        """What names the development set in the key of a search."""
        return {"development": self.development, "fold": self.config.fold}

    def decoding(self) -> dict[str, Any]:
        """How searches decode."""
        return {"k": self.k, "distinct": self.distinct, "preset": self.config.preset.value}

    def lines_decoder(self, engine: Engine, system: System, lines: Int64Array, *, k: int | None = None) -> LinesDecoder:
        """The decoder of lines of the training text, in searches unless `k` says how many candidates."""
        return LinesDecoder(
            engine,
            system,
            lines,
            k=k or self.k,
            distinct=self.distinct and k is None,
            preset=self.config.preset,
            progress=self.progress,
        )
