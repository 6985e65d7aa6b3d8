"""Development and test sets of a cell: translated with given weights, and scored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from dragoman.analysis import SystemOutput, compare_systems
from dragoman.cost import StageCost
from dragoman.experiments.stages import decode_file, decoding, system_folder
from dragoman.features import read_weights
from dragoman.metric import Metric, by_name
from dragoman.run import SetScores
from dragoman.settings import takes_text
from dragoman.system import Monitor, Preset, System, SystemView
from dragoman.text import read_lines
from dragoman.work.store import Made, Store

__all__ = ["Translating", "metrics_of", "score_lines", "score_set"]

_METRICS = ("bleu", "chrf", "ter")
_TRANSLATIONS = "translations.txt"


class Translating:
    """Translates files with one system; translations are cached, and cells with the same weights share them.

    With a `fold`, all files are translated by the tables without it, as tuning translated them.
    """

    @takes_text
    def __init__(
        self,
        store: Store,
        made: Made,
        templates: Sequence[str],
        preset: Preset,
        fold: int | None,
        n_threads: int,
        monitor: Monitor,
    ) -> None:
        self._store = store
        self._made = made
        self._templates = templates
        self._preset = preset
        self._fold = fold
        self._n_threads = n_threads
        self._monitor = monitor
        self._costs: dict[str, list[StageCost]] = {}

    @cached_property
    def view(self) -> SystemView:
        return System.load(system_folder(self._made)).with_templates(self._templates).view(self._fold)

    def translate(self, stage: str, source: Path, weights: Path) -> Path:
        """The file of translations. What it cost counts towards the stage."""

        def work(folder: Path) -> None:
            out, values = folder / _TRANSLATIONS, read_weights(weights)
            decode_file(self.view, source, values, self._preset, self._n_threads, self._monitor, out)

        system = self._made.folder.name
        step = decoding(stage, work, system, source, self._templates, self._preset, weights, self._fold)
        made = self._store.make(step)
        self._costs.setdefault(stage, []).append(made.cost)
        return made.folder / _TRANSLATIONS

    def cost(self, stage: str) -> StageCost:
        """What translating in a stage cost: cached results cost nothing here, unless all are cached."""
        costs = self._costs[stage]
        own = [cost for cost in costs if not cost.cached] or costs
        return StageCost(
            name=stage,
            wall_s=round(sum(cost.wall_s for cost in own), 3),
            cpu_s=round(sum(cost.cpu_s for cost in own), 3),
            peak_bytes=max(cost.peak_bytes for cost in own),
            cached=own[0].cached,
        )


def metrics_of(names: Sequence[str]) -> list[Metric]:
    """The metrics that every record has, and those of the report."""
    return [by_name(name) for name in dict.fromkeys((*_METRICS, *names))]


def score_set(translations: Path, references: Sequence[Path], metrics: Sequence[Metric], n_threads: int) -> SetScores:
    """Scores of a file of translations."""
    lines = [list(read_lines(path)) for path in references]
    return score_lines(list(read_lines(translations)), lines, metrics, n_threads)


def score_lines(
    translations: Sequence[str], references: Sequence[Sequence[str]], metrics: Sequence[Metric], n_threads: int
) -> SetScores:
    """Scores of translations; `references` are the lines of each."""
    output = SystemOutput(name="translations", runs=(list(translations),))
    (found,) = compare_systems([output], references, metrics, n_bootstrap=0, n_trials=0, n_threads=n_threads)
    (bleu,) = (item.details for item in found.scores if item.metric == "bleu")
    assert bleu is not None
    return SetScores(
        scores={item.metric: item.score for item in found.scores},
        length_ratio=found.length_ratio,
        precisions=bleu.precisions,
        brevity_penalty=bleu.brevity_penalty,
    )
