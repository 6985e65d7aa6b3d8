"""The outer loop: Hopkins and May 2011, *Tuning as Ranking*, Figure 2, for any decoder and any optimiser.

  1  initialise the pool: empty
  2  for the desired number of iterations                                            `max_rounds`
  3    candidate generation: decode with w_{t-1}, add the candidates to the pool     `_decode`
  4    optimisation: find w' on the pool, w_t = Psi.w' + (1 - Psi).w_{t-1}            `_learn`
  5  return w

The score of a round is that of the decoder's best translations by w_{t-1} (of a foreign decoder: of its first
candidates, whatever our own sum w.f says), so every weight vector that can be returned
was decoded with: after the last optimisation comes one more decoding that only measures. A learner that decodes while
it learns may spare this (`measure=live` of online methods), half of the cost: the score of a round is then that of the
translations made while w_{t-1} was learned, by weights on their way to it. It is no fair rival of the start, which was
decoded with as it is, so that the best round is then one of the others unless all of them are far below; its weights
are decoded with in the end, and the start is kept where it decodes better.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.candidates import (
    Choice,
    Objective,
    Pool,
    Shard,
    doubt_of_references,
    merge_pools,
    metric_of,
    new_words,
    on_tables,
    rerank,
    weights_for,
)
from dragoman.cost import cpu_seconds
from dragoman.errors import FailedError, InputError
from dragoman.features import FeatureIndex, Weights, describe_fit
from dragoman.files.store import make_folder
from dragoman.optim import Learner, LearningContext, Optimiser
from dragoman.optim.frozen import frozen_at_zero
from dragoman.run import RunFolder
from dragoman.run.tunings import Learned, RoundRecord, TuneRecord, plain_trace
from dragoman.settings import Record, plain
from dragoman.tuning.choice import first_candidates, n_preferred
from dragoman.tuning.decoder import Decoder, DecodingRound
from dragoman.tuning.notes import length_warning, no_gain, told_by_rounds
from dragoman.tuning.rounds import RoundStore

__all__ = ["Keep", "LoopSettings", "Phase", "tune_decoder"]


class Keep(StrEnum):
    """Which weights the loop returns."""

    BEST = "best"  # those of the round with the best score of decoding, the first of equals
    LAST = "last"


class Phase(StrEnum):
    """What the loop is about to do."""

    DECODE = "decode"
    LEARN = "learn"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings(Record):
    """When to stop: after `max_rounds` optimisations, or when nothing new comes, or when everything settles.

    Nothing new is no new candidate, or the same lists as before. It does not stop an optimiser that moves step by step,
    as PRO's interpolation and online learning do: its weights are still on their way. Settled means that the weights,
    scaled to length 1, moved by no more than `weight_tolerance` since the round before and the score of decoding, in
    [0, 1], by no more than `score_tolerance`.
    """

    max_rounds: int = 30
    weight_tolerance: float = 1e-4
    score_tolerance: float = 1e-4
    keep: Keep = Keep.BEST
    patience: int | None = None
    """Early stopping: after so many rounds without a better score of decoding; None: never."""

    def _check(self) -> None:
        if self.patience is not None and self.patience < 1:
            raise InputError(f"patience must be at least one round, not {self.patience}")
        if self.max_rounds < 1:
            raise InputError(f"tuning needs at least one round, not {self.max_rounds}")
        if not (self.weight_tolerance >= 0 and self.score_tolerance >= 0):
            raise InputError("the tolerances of weights and score must not be negative")

    def record(self) -> dict[str, Any]:
        """Plain data; patience only where there is an end of it."""
        return {name: value for name, value in plain(self).items() if value is not None}


def tune_decoder(
    decoder: Decoder,
    optimiser: Optimiser,
    start: Weights,
    *,
    seed: int,
    objective: Objective,
    settings: LoopSettings | None = None,
    frozen: Collection[str] = (),
    n_threads: int = 1,
    context: LearningContext | None = None,
    check_references: bool = True,
    run: RunFolder | None = None,
    on_step: Callable[[int, Phase], None] | None = None,
    on_round: Callable[[RoundRecord], None] | None = None,
) -> TuneRecord:
    """Decode, merge, optimise until there is nothing new.

    `objective` measures each decoding; with `check_references` its references are compared with the first translations:
    do they belong to the sentences? `context` is what a method can learn from besides the lists. With `run`, every
    round is recorded, and rounds that the run has already are not done again. `on_step` is called before decoding and
    before learning, `on_round` after a round.
    """
    loop = _Loop(
        decoder=decoder,
        learner=optimiser.learner(context or LearningContext()),
        start=start,
        seed=seed,
        objective=objective,
        settings=settings or LoopSettings(),
        frozen=frozen,
        n_threads=n_threads,
        check_references=check_references and bool(objective.references),
        store=RoundStore(run),
        on_step=on_step or _ignore_step,
    )
    while True:
        loop.decode()
        stopped = loop.reason_to_stop()
        if not stopped:
            loop.learn()
        if on_round:
            on_round(loop.rounds[-1])
        if stopped:
            return loop.finish(stopped)


class _Loop:
    """Pool, weights and rounds so far. The index and the words are the loop's own, so that they grow in the same
    order whether a round was decoded just now or comes from a run folder.
    """

    def __init__(
        self,
        *,
        decoder: Decoder,
        learner: Learner,
        start: Weights,
        seed: int,
        objective: Objective,
        settings: LoopSettings,
        frozen: Collection[str],
        n_threads: int,
        check_references: bool,
        store: RoundStore,
        on_step: Callable[[int, Phase], None],
    ) -> None:
        self._decoder = decoder
        self._learner = learner
        self._seed = seed
        self._objective = objective
        self._settings = settings
        self._frozen = frozen
        self._n_threads = n_threads
        self._check_references = check_references
        self._store = store
        self._on_step = on_step
        self._index = FeatureIndex()
        self._words = new_words()
        self._pool: Pool | None = None
        self._latest: Pool | None = None
        self._repeated = False
        self._previous: Weights | None = None
        self._start = start
        self._weights = self._best = start.on(self._index)
        self._best_round = 1
        self.rounds: list[RoundRecord] = []

    def decode(self) -> None:
        number = len(self.rounds) + 1
        stored = self._store.find(number)
        if stored is not None:
            candidates = stored.candidates
            if candidates is None:
                self._on_step(number, Phase.DECODE)
                candidates = self._decoder.decode(self._weights)
            self._add(candidates, number)
            record = stored.record
        else:
            self._on_step(number, Phase.DECODE)
            with self._store.new_round(keep_failed=self._decoder.foreign) as folder:
                record = self._decode_anew(number, folder)
        self._store.log_decoded(record)
        self.rounds.append(record)
        if self._settings.keep is Keep.LAST or self._is_better(record):
            self._best, self._best_round = self._weights, number

    def _is_better(self, record: RoundRecord) -> bool:
        """Whether a round is the best so far. Weights on their way beat the start, which decoded, unless they fall."""
        best = self.rounds[self._best_round - 1]
        if record.live and not best.live:
            return not _has_fallen(record.gain, best.gain)
        return record.gain > best.gain

    def _decode_anew(self, number: int, folder: Path) -> RoundRecord:
        began, cpu_began = time.perf_counter(), cpu_seconds()
        dense = None if self._pool is None else tuple(self._pool.dense_names())
        self._decoder.begin_round(DecodingRound(number=number, seed=self._seed, folder=folder, dense=dense))
        live = self._learner.translations()
        raw = self._decoder.decode(self._weights) if live is None else live
        if raw.n_candidates == 0:
            raise FailedError(f"the decoder gave no candidates in round {number}")
        warnings = []
        if number == 1:
            weights_for(raw, self._start)  # raises where the decoder and the start name features differently
            misfit = describe_fit(self._start, raw.index, raw.dense) if self._start.values.any() else None
            warnings += [misfit] if misfit else []
            if self._check_references:
                doubt = doubt_of_references(raw, self._objective.references, n_threads=self._n_threads)
                warnings += [doubt] if doubt else []
        n_before = 0 if self._pool is None else self._pool.n_candidates
        decoded = cpu_seconds()
        latest, pool = self._add(raw, number)
        statistics = cpu_seconds() - decoded
        ours = rerank(latest, self._weights, n_threads=self._n_threads)
        best = first_candidates(latest) if self._decoder.foreign else ours
        change = None if self._previous is None else _distance(self._previous, self._weights)
        repeated = bool(self._repeated and change) and self._learner.uses_pool
        warnings += [_REPEATS.format(number - 1)] if repeated else []
        warnings += [*self._fall(best), *self._doubts(number, best, ours)]
        record = RoundRecord(
            round=number,
            score=best.score(),
            gain=best.gain(),
            reranked=ours.score(),
            n_new=pool.n_candidates - n_before,
            n_candidates=pool.n_candidates,
            n_features=pool.n_features,
            change=change,
            repeated=repeated,
            live=live is not None,
            notes=tuple(warnings),
            warnings=tuple(warnings),
            length_ratio=metric_of(latest).length_ratio(best.total()),
            wall_s=time.perf_counter() - began,
            cpu_s=cpu_seconds() - cpu_began,
            statistics_cpu_s=statistics,
        )
        self._store.save(folder, self._weights, raw, best, record)
        return record

    def _fall(self, best: Choice) -> list[str]:
        """Whether this round is far below the first, which translated with the start."""
        if not self.rounds or not _has_fallen(best.gain(), (first := self.rounds[0]).gain):
            return []
        shown = metric_of(best.pool).shown
        return [_FELL.format(shown(best.score()), shown(first.score))]

    def _doubts(self, number: int, best: Choice, ours: Choice) -> tuple[str, ...]:
        """Whether the order of a foreign decoder's first lists is that of the weights it was given."""
        if number > 1 or best is ours:
            return ()
        n_other = n_preferred(ours, best, self._weights)
        if n_other <= _ROUNDING * best.pool.n_sentences:
            return ()
        shown = metric_of(best.pool).shown
        return (_MISREAD.format(n_other, best.pool.n_sentences, shown(best.score()), shown(ours.score())),)

    def _add(self, raw: Pool, number: int) -> tuple[Pool, Pool]:
        """Merge what the decoder gave; returns it as the loop sees it, and the pool."""
        ours = on_tables(raw, self._index, self._words)
        shards = tuple(
            replace(shard, rounds=np.full(shard.n_candidates, number, dtype=np.int32)) for shard in ours.shards
        )
        latest = self._objective.measure(replace(ours, shards=shards), n_threads=self._n_threads)
        metric_of(latest)
        self._repeated = self._latest is not None and _same_lists(self._latest, latest)
        self._latest = latest
        before = () if self._pool is None else (self._pool,)
        self._pool = merge_pools([*before, latest], n_threads=self._n_threads)
        return latest, self._pool

    def reason_to_stop(self) -> str:
        """Why there should be no further round; empty when there should."""
        now = self.rounds[-1]
        if now.repeated and not self._learner.gradual:
            return "the decoder repeats its lists"
        if now.n_new == 0 and not self._learner.gradual:
            return "no new candidates"
        if now.change is not None:
            moved = abs(now.gain - self.rounds[-2].gain)
            if now.change <= self._settings.weight_tolerance and moved <= self._settings.score_tolerance:
                return "weights and score have settled"
        best = max(self.rounds, key=lambda record: record.gain).round
        patience = self._settings.patience
        if patience is not None and now.round - best >= patience:
            return f"no better score in {patience} rounds"
        if now.round > self._settings.max_rounds:
            return f"{self._settings.max_rounds} rounds are done"
        return ""

    def learn(self) -> None:
        assert self._pool is not None
        number = len(self.rounds)
        stored = self._store.find_learned(number, self._index)
        folder, state = self._store.folder(number), self._store.state_folder(number)
        if stored is not None:
            weights, learned = stored
            if state is not None and self._learner.keeps_state:
                self._learner.load_state(state)
        else:
            self._on_step(number, Phase.LEARN)
            weights, learned = self._learn_anew(self._pool, number)
            if state is not None and self._learner.keeps_state:
                self._learner.save_state(make_folder(state))
            self._store.save_learned(folder, weights, learned)
        self._store.log_learned(number, learned)
        self._previous, self._weights = self._weights, weights
        self.rounds[-1] = replace(self.rounds[-1], learned=learned)

    def _learn_anew(self, pool: Pool, number: int) -> tuple[Weights, Learned]:
        began, cpu_began = time.perf_counter(), cpu_seconds()
        previous = self._weights
        frozen = self._learner.frozen(pool, self._frozen)
        result = self._learner.learn(
            pool, previous, seed=self._seed, round_number=number, frozen=frozen, n_threads=self._n_threads
        )
        weights = self._learner.next_weights(previous, result.weights).on(self._index)
        kept = [name for name in frozen if self._index.find(name) >= 0]
        for name in kept:  # interpolation rounds
            weights[name] = previous[name]
        if not weights.is_usable():
            raise FailedError(f"round {number} left no usable weights (not finite, or all zero)")
        return weights, Learned(
            gain_before=result.gain_before,
            gain_after=result.gain_after,
            trace=plain_trace(result.trace),
            notes=(*(frozen_at_zero(previous, kept) if number == 1 else ()), *result.notes),
            warnings=result.warnings,
            wall_s=time.perf_counter() - began,
            cpu_s=cpu_seconds() - cpu_began + _total(result.trace, "workers_cpu_s"),
            decode_cpu_s=_total(result.trace, "decode_cpu_s"),
            statistics_cpu_s=_total(result.trace, "statistics_cpu_s"),
            n_candidates=int(_total(result.trace, "candidates")),
        )

    def finish(self, stopped: str) -> TuneRecord:
        assert self._pool is not None
        cpu_began = cpu_seconds()
        decoded = self._decode_live()
        more_cpu_s = cpu_seconds() - cpu_began if decoded else 0.0  # the same whether a run was resumed or not
        first, kept = self.rounds[0], self.rounds[self._best_round - 1]
        notes, warnings = told_by_rounds(self.rounds, self._best_round)
        alarms = [length_warning(first.length_ratio, kept.length_ratio), no_gain(self.rounds, self._best_round)]
        if kept.live:  # it is better than the start
            notes += decoded
        else:
            alarms += decoded
        own = [text for text in alarms if text]
        result = TuneRecord(
            weights=self._best,
            metric=metric_of(self._pool).name,
            higher_is_better=metric_of(self._pool).higher_is_better,
            score_before=self.rounds[0].score,
            score_after=self.rounds[self._best_round - 1].score,
            rounds=tuple(self.rounds),
            n_sentences=self._pool.n_sentences,
            n_candidates=self._pool.n_candidates,
            n_features=self._pool.n_features,
            cpu_s=sum(record.cpu_s + (record.learned or _NOTHING).cpu_s for record in self.rounds) + more_cpu_s,
            notes=(*notes, *own),
            warnings=(*warnings, *own),
            length_before=first.length_ratio,
            length_after=kept.length_ratio,
            dense=tuple(self._pool.dense_names()),
            best_round=self._best_round,
            stopped=stopped,
        )
        self._store.finish(result)
        return result

    def _decode_live(self) -> list[str]:
        """Decode with the weights of the best live pass, which was measured on the way to them; the start is kept where
        it is better.
        """
        best, first = self._best_round, self.rounds[0]
        if self._settings.keep is Keep.LAST or not self.rounds[best - 1].live:
            return []
        self._on_step(best, Phase.DECODE)
        raw = on_tables(self._decoder.decode(self._best), self._index, self._words)
        found = rerank(self._objective.measure(raw, n_threads=self._n_threads), self._best, n_threads=self._n_threads)
        shown = metric_of(found.pool).shown
        scores = shown(found.score()), shown(first.score)
        if found.gain() >= first.gain:
            return [_DECODED.format(best, *scores)]
        self._best, self._best_round = self._start.on(self._index), 1
        return [_DECODED_WORSE.format(best, *scores)]


_REPEATS = (
    "the decoder gave the same lists as in round {} although the weights changed: "
    "its search space may be exhausted, or it may ignore the weights file"
)
_MISREAD = (
    "in {} of {} sentences the decoder's first candidate is not the best one by the weights it was given "
    "(its score {}, by the weights {}): it may not read the weights file, or use other names or features"
)
_FELL = "the score {} is far below the start's {}"
_DECODED = "the weights of round {} decode the development set to {}, the start to {}"
_DECODED_WORSE = f"{_DECODED}: the start is kept"
_FALL = 0.1
"""Share of the start's gain whose loss is worth a note."""
_ROUNDING = 0.01
"""Share of sentences that may differ because decoders round what they print."""
_NOTHING = Learned(gain_before=0.0, gain_after=0.0, trace=(), notes=(), wall_s=0.0, cpu_s=0.0)


def _total(trace: Iterable[Mapping[str, Any]], name: str) -> float:
    """Of what the entries of an optimiser's trace say, as far as they do."""
    return float(sum(entry.get(name, 0.0) for entry in trace))


def _has_fallen(gain: float, start: float) -> bool:
    """Whether a gain is far below the start's."""
    return gain < start - _FALL * abs(start)


def _ignore_step(_number: int, _step: Phase) -> None:
    pass


def _distance(before: Weights, after: Weights) -> float:
    a, b = before.values_on(after.index), after.values
    sizes = [float(np.linalg.norm(v)) for v in (a, b)]
    return float(np.linalg.norm(a / (sizes[0] or 1.0) - b / (sizes[1] or 1.0)))


def _same_lists(one: Pool, other: Pool) -> bool:
    return len(one.shards) == len(other.shards) and all(map(_same_candidates, one.shards, other.shards))


def _same_candidates(one: Shard, other: Shard) -> bool:
    names = ("sentence_ids", "sentences", "feature_rows", "feature_ids", "feature_values", "token_rows", "tokens")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
