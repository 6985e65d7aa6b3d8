"""What tuning did, for reports, JSON and the trace of a run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.errors import naming
from dragoman.features import Weights
from dragoman.files.store import from_plain, read_json, unseal
from dragoman.run.held_out_lines import HeldOutLines
from dragoman.run.updates import Update
from dragoman.types import PathLike

__all__ = ["RESULT", "Learned", "RoundRecord", "StepRecord", "TuneRecord", "plain_trace"]

RESULT = "result.json"
"""The summary of a tuning that has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What the optimiser did in a round. Gains, in [0, 1], are those of the whole pool by its start and its result.

    An optimiser that decodes while it learns says how much of `cpu_s` went into decoding and into statistics, and from
    how many candidates it learned.
    """

    gain_before: float
    gain_after: float
    trace: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    wall_s: float
    cpu_s: float
    decode_cpu_s: float = 0.0
    statistics_cpu_s: float = 0.0
    n_candidates: int = 0
    warnings: tuple[str, ...] = ()
    """Those of the notes that say that something is probably wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """One round. `score` is that of the decoder's best translations, as the metric counts; `gain` is higher for better.

    `reranked` is the score of what the weights choose from the lists; a foreign decoder's own choice may be another.
    `n_new` candidates joined the pool. `change` is the distance of the weights from those of the round before, both
    scaled to length 1; `repeated` says that they moved and the decoder gave the same lists. `statistics_cpu_s` is the
    part of `cpu_s` that went into statistics of the metric and into merging. `live` says that the translations are
    those of the pass in which the weights were learned. `learned` is None in the last round: its weights were decoded
    only to be measured. `length_ratio` is output words for a reference word; None where the metric does not count them.
    `warnings` are those of the notes that say that something is probably wrong.
    """

    round: int
    score: float
    gain: float
    n_new: int
    n_candidates: int
    n_features: int
    reranked: float | None = None
    change: float | None = None
    repeated: bool = False
    live: bool = False
    notes: tuple[str, ...] = ()
    wall_s: float = 0.0
    cpu_s: float = 0.0
    statistics_cpu_s: float = 0.0
    learned: Learned | None = None
    length_ratio: float | None = None
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """A step of held-out line search: a search, a gradient, or the scale of one; or a step of learning from lists.

    `name` is `start`, `scale-1`, `gradient-1`, `search-1`, …, `last`; or `theta`, `lists`, `model`, `last`; `folder`
    where its files are, relative to the run's. Scores are those of its lines: of a gradient or of lists, of the best
    candidates at its weights; of a search, of its first round and of the one that was kept; of a model, of what the
    weights before and after choose from the lists. `found` says that another tuning had made it; time is what it cost
    there.
    """

    name: str
    folder: str
    n_lines: int
    score_before: float
    score_after: float
    n_rounds: int
    wall_s: float
    cpu_s: float
    found: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuneRecord:
    """The result of tuning. Scores are the metric's own, in [0, 1] (TER: lower is better).

    `best_round` is the round whose weights were kept, `stopped` says why there was no further one. `updates` and
    `steps` are those of held-out line search or of learning from lists; rounds are then those of the development set.
    `blocks` are the weights that the last search gave to blocks of learned weights. `warnings` are those of the notes
    that nobody should miss: something is probably wrong. `length_before` and `length_after` are output words for a
    reference word, None where the metric does not count them. `held_out_lines` is how lines of the training text judged
    what was learned from it, if they did.
    """

    weights: Weights
    metric: str
    higher_is_better: bool
    score_before: float
    score_after: float
    rounds: tuple[RoundRecord, ...]
    n_sentences: int
    n_candidates: int
    n_features: int
    cpu_s: float
    notes: tuple[str, ...]
    dense: tuple[str, ...] = ()
    best_round: int = 1
    stopped: str = ""
    updates: tuple[Update, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    blocks: Mapping[str, float] = dataclasses.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    length_before: float | None = None
    length_after: float | None = None
    held_out_lines: HeldOutLines | None = None

    @classmethod
    def load(cls, path: PathLike, weights: Weights) -> TuneRecord:
        """What `summary` gave, from the file RESULT of a run. Raises InputError where it has changed since."""
        with naming(path):
            return from_plain(cls, unseal(read_json(path, "run"), "run"), weights=weights)

    def __repr__(self) -> str:
        scores = f"{self.metric} {self.score_before:.4f} -> {self.score_after:.4f}"
        return f"TuneRecord({scores}, {len(self.rounds)} rounds, {self.n_sentences} sentences)"

    def _repr_html_(self) -> str:
        """What notebooks show: the score before and after, and every round."""
        from markupsafe import Markup

        from dragoman.view.drawing import curve, fragment, label, table  # only notebooks need it

        head = Markup("<p><b>{}</b> on the development set: {:.2f} → {:.2f}; {} sentences, {} features</p>")
        names = (self.metric, 100 * self.score_before, 100 * self.score_after, self.n_sentences, self.n_features)
        rows = [
            [
                f"{entry.round} (kept)" if entry.round == self.best_round else str(entry.round),
                100 * entry.score,
                entry.n_candidates,
                entry.cpu_s,
            ]
            for entry in self.rounds
        ]
        return fragment(
            head.format(label(names[0]), *names[1:]),
            curve([100 * entry.score for entry in self.rounds], f"{self.metric} by round"),
            table(["round", "score", "candidates", "CPU s"], rows),
            Markup("").join(Markup("<p>{}</p>").format(label(note)) for note in (self.stopped, *self.notes) if note),
        )

    def summary(self) -> dict[str, Any]:
        """All but the weights, for JSON."""
        lists = ("rounds", "updates", "steps")
        names = [field.name for field in dataclasses.fields(self) if field.name not in {"weights", *lists}]
        judged = None if self.held_out_lines is None else dataclasses.asdict(self.held_out_lines)
        return {name: getattr(self, name) for name in names} | {
            **{name: [*map(dataclasses.asdict, getattr(self, name))] for name in lists},
            "held_out_lines": judged,
        }


def plain_trace(trace: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """An optimiser's trace with numbers as JSON can hold them: NumPy's become Python's, infinite ones None."""
    return tuple({key: _plain(value) for key, value in entry.items()} for entry in trace)


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
