"""A search as a step on disk: over dense features and blocks, on lines of the training text or a dev set."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.candidates import Objective, Pool
from dragoman.features import FeatureIndex, Weights, find_weights, read_weights, store_weights
from dragoman.files.store import from_plain
from dragoman.optim import Optimiser
from dragoman.register import code_of
from dragoman.run import RunFolder
from dragoman.run.tunings import RoundRecord
from dragoman.settings import plain, takes_text
from dragoman.system import LineListsJob, Preset, System, kbest_of_lines
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.loop import LoopSettings, Phase, tune_decoder
from dragoman.types import Int64Array, Progress
from dragoman.work.engine import Engine
from dragoman.work.store import Made, Step, Store

__all__ = ["LineSearch", "LinesDecoder", "SearchResult"]

_WEIGHTS, _OUTPUT = "weights", "output.txt"


class LinesDecoder(Decoder):
    """Lines of a system's training text, fold by fold, as the outer loop wants them: sentence i is `lines[i]`."""

    @takes_text
    def __init__(
        self,
        engine: Engine,
        system: System,
        lines: Int64Array,
        *,
        k: int,
        distinct: bool,
        preset: Preset,
        progress: Progress | None = None,
    ) -> None:
        self._engine, self._system, self._lines = engine, system, lines
        self._how: dict[str, Any] = {"k": k, "distinct": distinct, "preset": preset}
        self._progress = progress

    def decode(self, weights: Weights) -> Pool:
        """The k best candidates of every line, by the view that has not seen its fold."""
        job = LineListsJob(system=self._system, weights=weights.on(FeatureIndex()), **self._how)
        return kbest_of_lines(self._engine, job, self._lines, progress=self._progress)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchResult:
    """What a search found: weights of dense features and blocks."""

    made: Made

    @property
    def weights(self) -> Weights:
        return read_weights(find_weights(self.made.folder, _WEIGHTS))

    @property
    def summary(self) -> Mapping[str, Any]:
        """That of the loop's record, with its rounds."""
        return self.made.content

    def rounds(self) -> list[RoundRecord]:
        return [from_plain(RoundRecord, entry) for entry in self.summary["rounds"]]

    def weights_of(self, number: int) -> Weights:
        """What a round decoded with."""
        return read_weights(find_weights(self.made.folder, _name(number)))

    def output_of(self, number: int) -> Path:
        """The best translations of a round."""
        return self.made.folder / f"{_name(number)}.txt"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineSearch:
    """Where to search, from which weights. `sentences` names what the decoder decodes, and how."""

    system: System
    decoder: Decoder
    sentences: Mapping[str, Any]
    objective: Objective
    method: Optimiser
    start: Weights
    frozen: tuple[str, ...]
    loop: LoopSettings
    seed: int
    n_threads: int = 1
    on_step: Callable[[int, Phase], None] | None = field(default=None)
    on_round: Callable[[RoundRecord], None] | None = field(default=None)

    def key(self) -> dict[str, Any]:
        """All that the result depends on."""
        return {
            "system": self.system.manifest.identity(),
            "features": list(self.system.settings.features),
            **self.system.blocks_record(),
            **self.sentences,
            "objective": self.objective.identity,
            "method": self.method.name,
            "method_settings": plain(self.method),
            **code_of(self.method, self.objective.metric),
            "start": self.start.digest(),
            "frozen": sorted(self.frozen),
            **self.loop.record(),
            "seed": self.seed,
        }

    def run(self, store: Store, kind: str) -> SearchResult:
        """The result, from an earlier search if there was one."""
        modules = __name__, type(self.method).__module__
        step = Step(kind=kind, key=self.key(), modules=modules, work=self._work, resumes=True)
        return SearchResult(made=store.make(step))

    def _work(self, folder: Path, scratch: Path) -> dict[str, Any]:
        with RunFolder.open(scratch, self.key(), resume=True) as run:
            record = tune_decoder(
                self.decoder,
                self.method,
                self.start,
                seed=self.seed,
                objective=self.objective,
                settings=self.loop,
                frozen=self.frozen,
                n_threads=self.n_threads,
                check_references=False,
                run=run,
                on_step=self.on_step,
                on_round=self.on_round,
            )
            store_weights(record.weights, folder, _WEIGHTS)
            for number, there in enumerate(run.rounds(), start=1):
                store_weights(read_weights(find_weights(there, "weights")), folder, _name(number))
                shutil.copyfile(there / _OUTPUT, folder / f"{_name(number)}.txt")
        return record.summary()


def _name(number: int) -> str:
    return f"round-{number:04d}"
