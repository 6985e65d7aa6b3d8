"""A gradient pass: shards of training lines to workers, their gradients into one sum, checkpoints on the way."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.errors import FailedError, InputError
from dragoman.features import FeatureTable, Weights
from dragoman.gradients.checkpoint import Checkpoint
from dragoman.gradients.gradient import Gradient
from dragoman.gradients.job import WEIGHT, GradientJob
from dragoman.gradients.settings import PassSettings
from dragoman.register import code_of
from dragoman.run import RunFolder
from dragoman.system import System, shards
from dragoman.system.watch import SystemWatch
from dragoman.types import Int64Array, PathLike, Progress
from dragoman.work.engine import Engine, Job, LocalEngine, Part, TreeSum

__all__ = ["CHECKPOINT_S", "WHOLE", "GradientPass", "gradient_pass"]

WHOLE = Part()

CHECKPOINT_S = 30.0
"""Seconds between two checkpoints."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradientPass:
    """What there is to do. `record` says all that the result depends on."""

    system: System
    job: Job[Int64Array, Gradient]
    shards: Sequence[Int64Array]
    record: dict[str, Any]

    @classmethod
    def of(
        cls,
        system: System,
        settings: PassSettings,
        weights: Weights | None = None,
        *,
        lines: Int64Array | None = None,
    ) -> GradientPass:
        """A pass over these lines, ascending; by default over those that the settings select.

        Raises InputError for a system without a training text, for lines that it lacks, and where there are none.
        """
        # A system that was used before knows more features, and sums of scores depend on their order.
        fresh = System.load(system.folder).with_templates(settings.features).with_blocks(system.blocks, system.rest)
        given = {}
        if lines is None:
            lines = fresh.training.select(where=settings.where, limit=settings.limit)
        else:
            if settings.where is not None or settings.limit is not None:
                raise ValueError("lines are given or selected by `where` and `limit`, not both")
            _check(lines, fresh)
            given["lines"] = hashlib.blake2b(lines.astype("<i8").tobytes(), digest_size=16).hexdigest()
        if not len(lines):
            raise InputError("no line of the training text was selected", path=fresh.folder)
        used = fresh.weights if weights is None else weights
        if not used.is_usable():
            raise InputError("the weights cannot rank candidates: they are all zero, or not finite")
        record = {
            "system": fresh.manifest.identity(),
            "weights": used.digest(),
            **fresh.blocks_record(),
            "n_lines": len(lines),
            **given,
            **settings.to_json(),
            **code_of(settings.made_losses()),
        }
        return cls(
            system=fresh,
            job=GradientJob(system=fresh, settings=settings, weights=FeatureTable.from_weights(used, WEIGHT)),
            shards=shards(lines, settings.lines_per_shard),
            record=record,
        )

    def n_lines(self, part: Part) -> int:
        """Lines of a part."""
        return sum(len(self.shards[shard]) for shard in part.shards(len(self.shards)))

    @contextlib.contextmanager
    def opened(
        self, folder: PathLike, *, part: Part = WHOLE, resume: bool = False, checkpoint_s: float = CHECKPOINT_S
    ) -> Iterator[tuple[TreeSum[Gradient], Checkpoint]]:
        """The sum that a folder holds, as far as it got, for this process alone.

        Raises InputError for one of another pass, naming the settings that differ, and for a damaged one.
        """
        with RunFolder.open(folder, {"command": "gradient", **self.record, "part": str(part)}, resume=resume):
            checkpoint = Checkpoint(Path(folder), checkpoint_s)
            yield TreeSum(Gradient.add, checkpoint.load(part.shards(len(self.shards)))), checkpoint

    def run(
        self,
        engine: Engine,
        tree: TreeSum[Gradient],
        *,
        part: Part = WHOLE,
        checkpoint: Checkpoint | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Add the shards of a part to the sum, from where it is; an error that stops it is raised after a checkpoint.

        Returns the number of lines that were left to do. Raises InputError when the system is changed meanwhile.
        """
        todo = part.shards(len(self.shards))
        first = max(todo.start, tree.end)
        n_before = n_lines = sum(len(lines) for lines in self.shards[todo.start : first])
        watch = SystemWatch(self.system)
        try:
            for shard, found in enumerate(engine.map(self.job, self.shards[first : todo.stop]), first):
                watch.check()
                tree.put(shard, found)
                n_lines += len(self.shards[shard])
                if progress is not None:
                    progress(n_lines)
                if checkpoint is not None:
                    checkpoint.save_if_due(tree.nodes)
        except BaseException:
            if checkpoint is not None and tree.nodes:
                with contextlib.suppress(FailedError):  # the first error is the one to tell
                    checkpoint.save(tree.nodes)
            raise
        if checkpoint is not None:
            checkpoint.save(tree.nodes)
        return n_lines - n_before

    def total(self, tree: TreeSum[Gradient]) -> Gradient:
        """The result, once all shards are in the sum."""
        found = tree.total()
        return Gradient(table=found.table, sums=found.sums, settings=self.record)


def gradient_pass(
    system: System,
    settings: PassSettings,
    *,
    weights: Weights | None = None,
    lines: Int64Array | None = None,
    engine: Engine | None = None,
    folder: PathLike | None = None,
    resume: bool = False,
    checkpoint_s: float = CHECKPOINT_S,
    progress: Progress | None = None,
) -> Gradient:
    """The gradient of losses over the training text of a system, or some lines of it, by default at its own weights.

    With a `folder`, a pass that was stopped at any moment goes on with `resume` to the same bits. They do not depend on
    the engine.
    """
    work = GradientPass.of(system, settings, weights, lines=lines)
    used = LocalEngine() if engine is None else engine
    if folder is None:
        tree = TreeSum(Gradient.add)
        work.run(used, tree, progress=progress)
        return work.total(tree)
    with work.opened(folder, resume=resume, checkpoint_s=checkpoint_s) as (tree, checkpoint):
        work.run(used, tree, checkpoint=checkpoint, progress=progress)
        return work.total(tree)


def _check(lines: Int64Array, system: System) -> None:
    n_lines = len(system.training)
    if len(lines) and not 0 <= lines.min() <= lines.max() < n_lines:
        raise InputError(f"the training text has {n_lines:,} lines; some of those asked for are not there")
    if (np.diff(lines) <= 0).any():
        raise ValueError("lines must ascend")
