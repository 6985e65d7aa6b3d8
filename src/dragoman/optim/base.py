"""What every optimiser shares: its interface, its result, and the checks that keep it from failing silently."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates import Pool, metric_of, outlines, rerank_each, weights_for
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.metric import Metric
from dragoman.optim.context import LearnFrom, LearningContext, LearnsFrom, Material, TextPlan
from dragoman.optim.frozen import frozen_names
from dragoman.settings import Record
from dragoman.types import Float64Array, Int32Array, Int64Array
from dragoman.work.engine import Engine

__all__ = ["Learned", "Learner", "Optimiser", "Problem", "Result", "Trace", "check_used", "finish", "frozen_ids"]

Trace = Sequence[Mapping[str, float | int | str]]

_LENGTH_RATIO = 0.1
"""Translations whose length is further than this from the references' are worth a note."""

_HARDLY_ANYTHING, _HARDLY_A_PAIR = 0.01, 0.1
"""A gain below this is that of references of other sentences; of BLEU, if hardly any pair of words is in them either:
segments of three words have no four-gram.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Weights over the pool's index, and how they came about.

    Gains are those of the pool's metric in [0, 1], of the best candidates by the start and by the result.
    `notes` are for the user: what was left out or could not be done; `warnings` are those of them that say that
    something is probably wrong.
    """

    weights: Weights
    gain_before: float
    gain_after: float
    trace: Trace = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """What an optimiser is given, checked: candidates that differ in the metric, and a usable start.

    `start` is over the pool's index; `frozen` says of each feature whether its weight must stay.
    """

    pool: Pool
    metric: Metric
    start: Weights
    frozen: NDArray[np.bool_]
    seed: int
    round_number: int
    n_threads: int
    engine: Engine | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """What an optimiser found: weights of each feature of the pool's index."""

    values: Float64Array
    trace: Trace
    notes: Sequence[str] = ()
    held_out: Int64Array | None = None
    """Ids of sentences that were not learned from, but told when to stop."""


class Optimiser(Record):
    """A method: a frozen dataclass whose fields are hyperparameters, all with defaults.

    A method that learns from lists implements `learn`. One that learns from more, or keeps something from round to
    round, says so by `learns_from` and returns a Learner of its own from `_learner`.
    """

    __slots__ = ()
    name: ClassVar[str] = "optimiser"
    learns_from: ClassVar[LearnsFrom] = LearnsFrom.LISTS
    k: ClassVar[int] = 100
    """Candidates of a sentence that it wants unless the user says otherwise."""
    distinct: ClassVar[bool] = False
    """Whether it wants candidates with different words only."""
    uses_engine: ClassVar[bool] = False
    """Whether its work can be shared out among the workers of an engine: by `optimise`, or by learners that decode."""
    default_learn_from: ClassVar[LearnFrom] = LearnFrom.DEVELOPMENT
    """The sentences of a system's tuning that it learns from unless the user says otherwise."""
    material: ClassVar[Material] = Material.LISTS
    """What it learns from where lines of the training text are made into something once."""

    def optimise(
        self,
        pool: Pool,
        start: Weights | None = None,
        *,
        seed: int = 1,
        round_number: int = 0,
        frozen: Collection[str] = (),
        n_threads: int = 1,
        engine: Engine | None = None,
    ) -> Result:
        """Better weights than `start` (all 0 unless given) on a pool; those of `frozen` features stay as they are.

        The same seed and round give the same result for any number of threads, and for any engine; methods without
        `uses_engine` refuse one. Raises InputError for a pool that cannot teach anything, FailedError instead of
        returning weights that a decoder could not use.
        """
        if engine is not None and not self.uses_engine:
            raise InputError(f"{self.name} does not share its work out among workers; it learns in this process")
        if self.learns_from is not LearnsFrom.LISTS:
            raise self._cannot()
        metric = metric_of(pool)
        _check_tunable(pool, metric)
        start = Weights({}) if start is None else start
        weights_for(pool, start)
        start = start.on(pool.index)  # names that the pool lacks included
        fixed = np.zeros(len(pool.index), dtype=bool)
        fixed[frozen_ids(pool, frozen)] = True
        learned = self.learn(
            Problem(
                pool=pool,
                metric=metric,
                start=start,
                frozen=fixed,
                seed=seed,
                round_number=round_number,
                n_threads=n_threads,
                engine=engine,
            )
        )
        weights = Weights(pool.index, learned.values)
        return finish(
            pool,
            start,
            weights,
            n_threads=n_threads,
            trace=learned.trace,
            notes=learned.notes,
            held_out=learned.held_out,
        )

    def learn(self, problem: Problem) -> Learned:
        """The method itself, on lists that were checked: what a method that learns from lists implements."""
        raise NotImplementedError

    def learner(self, context: LearningContext) -> Learner:
        """What the outer loop learns with. Raises InputError if the method needs more than the context offers."""
        if self.learns_from not in context.offers:
            raise self._cannot()
        return self._learner(context)

    def _learner(self, context: LearningContext) -> Learner:
        return Learner(self)

    def text_plan(self) -> TextPlan | None:
        """What it does with the training text of a system where it reads this by itself; None: it does not."""
        return None

    def check_lists(self) -> None:
        """Raise InputError for settings that only learning online can use, where it learns from lists."""

    def check_development(self, n_sentences: int | None = None) -> None:
        """Raise InputError for settings that do not go with a development set of so many sentences.

        None: their number is not known yet.
        """

    def check_folds(self, n_folds: int | None = None) -> None:
        """Raise InputError for settings that do not go with a learner for each fold of the training text, or for a
        method that does not learn while it decodes.

        None: their number is not known yet.
        """
        raise InputError(
            f"{self.name} cannot learn from the training text as it decodes; online mira, rm, svm, softramp can"
        )

    def decodes_by_all_data(self) -> bool:
        """Whether lines of the training text that it decodes as it learns are decoded by tables that have seen them."""
        return False

    def _cannot(self) -> InputError:
        stored = self.learns_from in (LearnsFrom.FORESTS, LearnsFrom.DECODING)
        return InputError(
            f"{self.name} learns from {self.learns_from}, not from lists; tune a system with `system`"
            + (", or stored search spaces with `forests`" if stored else "")
        )


class Learner:
    """A method at work in the outer loop; by default it learns from the pool of all rounds and keeps no state.

    `gradual` says that weights move step by step, so that a round without new candidates is not the end; `uses_pool`
    that the candidates of the decoder are what is learned from; `keeps_state` that a resumed run must find its state.
    """

    gradual: bool = False
    uses_pool: bool = True
    keeps_state: bool = False

    def __init__(self, optimiser: Optimiser) -> None:
        self._optimiser = optimiser

    def learn(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int,
        frozen: Collection[str] = (),
        n_threads: int = 1,
    ) -> Result:
        """The result of a round, over the pool's index."""
        return self._optimiser.optimise(
            pool, start, seed=seed, round_number=round_number, frozen=frozen, n_threads=n_threads
        )

    def frozen(self, pool: Pool, asked: Collection[str]) -> tuple[str, ...]:
        """What `learn` is to keep as it is: the features that `asked` names, or groups of them.

        Raises InputError for a name that nobody has, as a misspelt one.
        """
        return frozen_names(pool.index, asked)

    def next_weights(self, previous: Weights, learned: Weights) -> Weights:
        """From the weights of the round before and those just learned, the weights to decode with next."""
        return learned

    def translations(self) -> Pool | None:
        """What the development set was translated to while the last round learned, if that is to be measured.

        None: the loop decodes with the weights of the round.
        """
        return None

    def save_state(self, folder: Path) -> None:
        """Called after `learn`, with a folder in that of the round: write what a resumed run needs to go on."""

    def load_state(self, folder: Path) -> None:
        """Called instead of a `learn` that was done before a kill."""


def check_used(settings: Optimiser, *names: str, needs: str, given: bool) -> None:
    """Raise InputError for settings that were changed though what they are part of is not `given`."""
    record: Any = settings
    defaults = {field.name: field.default for field in fields(record)}
    for name in names:
        if not given and getattr(settings, name) != defaults[name]:
            raise InputError(f"{settings.name}: {name} would not be used; it needs {needs}")


def frozen_ids(pool: Pool, frozen: Collection[str]) -> Int32Array:
    """Ids of the frozen features. Raises InputError for a name that nobody has, as a misspelt one."""
    ids = {name: pool.index.find(name) for name in frozen}
    if absent := [name for name, id_ in ids.items() if id_ < 0]:
        raise InputError(f"the feature '{absent[0]}' cannot be frozen: neither the candidates nor the weights have it")
    return np.array(sorted(ids.values()), dtype=np.int32)


def finish(
    pool: Pool,
    start: Weights,
    weights: Weights,
    *,
    n_threads: int,
    trace: Trace = (),
    notes: Sequence[str] = (),
    held_out: Int64Array | None = None,
) -> Result:
    """The result, measured, also on the sentences with the ids `held_out`.

    Raises FailedError for weights that no decoder could use.
    """
    if not weights.is_usable():
        raise FailedError("the optimiser found no usable weights (not finite, or all zero); nothing was changed")
    metric = metric_of(pool)
    choices = rerank_each(pool, (start, weights), n_threads=n_threads)
    before, after = (choice.total() for choice in choices)
    gain_before, gain_after = float(metric.gain(before)), float(metric.gain(after))
    notes, trace, warnings = [*notes], [*trace], []
    if held_out is not None:
        totals = [choice.total(held_out) for choice in choices]
        scores = [float(metric.score_of(total)) for total in totals]
        trace[:1] = [{**trace[0], **dict(zip(("held_out_before", "held_out_after"), scores, strict=True))}]
        notes.append(f"{len(held_out):,} lists held out: {metric.name} {metric.shown(*scores)}")
    if gain_after < gain_before:
        change = metric.shown(float(metric.score_of(before)), float(metric.score_of(after)))
        warnings.append(f"worse than the start on these lists: {metric.name} {change}")
    if metric.uses_references and max(gain_before, gain_after) < _HARDLY_ANYTHING and not _has_pairs(metric, after):
        warnings.append("hardly anything of the candidates is in the references; are these the right ones?")
    notes += warnings
    ratio = metric.length_ratio(after)
    if ratio is not None and abs(ratio - 1) > _LENGTH_RATIO:
        notes.append(f"the length ratio of translations and references is {ratio:.2f}")
    return Result(
        weights=weights,
        gain_before=gain_before,
        gain_after=gain_after,
        trace=tuple(trace),
        notes=tuple(notes),
        warnings=tuple(warnings),
    )


def _has_pairs(metric: Metric, total: Float64Array) -> bool:
    """Whether pairs of words are in the references, as far as the metric counts them."""
    details = metric.details(total)
    return details is not None and details.precisions[1:2] > (_HARDLY_A_PAIR,)


def _check_tunable(pool: Pool, metric: Metric) -> None:
    """Raise InputError unless there are candidates to choose between and the metric tells them apart."""
    if pool.n_candidates == 0:
        raise InputError("the pool has no candidates")
    if not any(len(shard.feature_ids) for shard in pool.shards):
        raise InputError("no candidate has a feature, so there are no weights to learn")
    if not any((np.diff(outline.sentences) > 1).any() for outline in outlines(pool.shards)):
        raise InputError(
            "every sentence has only one candidate, so there is nothing to choose between; make longer n-best lists"
        )
    question = "; are these the right references?" if metric.uses_references else ""
    if doubt := metric.doubt(np.sum([shard.stats.sum(axis=0) for shard in pool.light_shards()], axis=0)):
        raise InputError(f"{doubt}{question}")
    for shard in pool.light_shards():
        first = np.minimum(shard.sentences[:-1], max(shard.n_candidates - 1, 0))[shard.sentence_of_each()]
        if (shard.stats != shard.stats[first]).any():
            return
    raise InputError(
        f"the candidates of every sentence have the same {metric.name}, so there is nothing to learn{question}"
    )
