"""Learning from the training text: lists by folds, gradient passes, what folds cost, and threads.

Systems are trained once and stay under build/bench/systems/folds; remove them after a change of training.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from bench.harness import RESULTS, Case, Workload
from bench.systems import CORPORA
from dragoman.gradients import Gradient, PassSettings, gradient_pass
from dragoman.metric import Smoothing, by_name
from dragoman.optim import Mira
from dragoman.optim.learner_pass import LearningTask
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.online_margin import MarginRule
from dragoman.sources.lists import ListsSettings, make_lists
from dragoman.system import (
    DenseSet,
    FoldDecoder,
    HieroSettings,
    Lines,
    LiveLines,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    train,
)
from dragoman.tuning.fold_learners import FoldLearners
from dragoman.work.engine import LocalEngine

_PHRASE = PhraseSettings(reordering=reordering_by_name("hrm"))
_HIERO = HieroSettings(dense=DenseSet.CHIANG8)
_SPARSE = ("reorder_local",)


def _system(corpus: str, model: PhraseSettings | HieroSettings, n_folds: int) -> System:
    settings = SystemSettings(model=model, n_folds=n_folds)
    folder = RESULTS / "systems" / "folds" / f"{corpus}.{model.kind}.{n_folds}"
    if not (folder / "system.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        text = CORPORA[corpus]
        sides = text.sources(corpus, "train"), text.references(corpus, "train")[0]
        train(*sides, folder, config=TrainConfig(settings=settings), n_threads=2)
    return System.load(folder)


def _lists(scale: float) -> Workload:
    system = _system("multi30k", _PHRASE, 10)
    n_lines = int(2000 * scale)
    settings = ListsSettings(k=100, distinct=True, limit=n_lines, features=_SPARSE)

    def run() -> None:
        with tempfile.TemporaryDirectory(dir=RESULTS) as scratch:
            make_lists(system, Path(scratch) / "lists", settings)

    return Workload(n_items=n_lines, ours=run, repeats=1)


def _gradient(
    corpus: str, model: PhraseSettings | HieroSettings, preset: Preset, n_lines: int, scale: float
) -> Workload:
    system = _system(corpus, model, 5)
    n = int(n_lines * scale)
    settings = PassSettings(features=("rule_id",), preset=preset, scale=3, limit=n)
    found: list[Gradient] = []

    def told() -> str:
        bleu = 100 * float(found[0].metric().score_of(np.array(found[0].sums.best)))
        return f"{len(found[0].table):,} features, BLEU {bleu:.2f}"

    return Workload(n_items=n, ours=lambda: found.append(gradient_pass(system, settings)), repeats=1, note=told)


def _folds(scale: float) -> Workload:
    """The same lines without their own folds, and all without fold 0."""
    system = _system("multi30k", _PHRASE, 10).with_templates(["rule_id"])
    lines = system.training.select(limit=int(1000 * scale))
    sentences = [system.training.source(line) for line in lines.tolist()]
    decoder, view = FoldDecoder(system), system.view(0)
    for fold in range(10):
        decoder.kbest(np.flatnonzero(system.training.folds == fold)[:1], system.weights, 100)  # opens the views
    return Workload(
        n_items=len(lines),
        ours=lambda: decoder.kbest(lines, system.weights, 100),
        peer=lambda: view.kbest(sentences, 100),
        repeats=3,
        peer_repeats=3,
    )


def _threads(scale: float) -> Workload:
    system = _system("enja", _PHRASE, 5)
    settings = PassSettings(features=("rule_id",), scale=3, limit=int(2048 * scale))
    one, two = (partial(gradient_pass, system, settings, engine=LocalEngine(n)) for n in (1, 2))
    return Workload(n_items=int(2048 * scale), ours=two, peer=one, repeats=1)


def _learning(scale: float) -> Workload:
    """A pass of all learners; options are built block by block, so memory must not follow the number of lines."""
    system = _system("multi30k", _PHRASE, 10).with_templates(["rm_phrase"])
    lines = Lines(system, system.training.evenly(int(4096 * scale)), Preset.FAST)
    metric = by_name("bleu", smoothing=Smoothing.NONE)
    task = LearningTask(rule=MarginRule(Mira()), metric=metric, batch=1, k=100, distinct=True, frozen=())
    decoder = LiveLines(lines)
    learners = FoldLearners(lines, task, decoder)
    start = system.weights.on(decoder.index).values
    previous = np.ones((len(lines.numbers), metric.n_stats))
    state = LearnerState.first(start, learners.measure(start, previous, n_threads=1), previous)
    shares = [np.flatnonzero(decoder.folds == fold) for fold in range(10)]
    return Workload(n_items=len(lines.numbers), ours=lambda: learners.run(state, shares, n_threads=1), repeats=1)


CASES = [
    Case(
        name="lists of 100 distinct by ten folds, sparse reordering, multi30k",
        area="training text",
        unit="sentences",
        prepare=_lists,
        target="≤ 12 ms each",
        needs_data=True,
    ),
    Case(
        name="gradient pass, 500-best with rule ids, five folds, phrase, enja",
        area="training text",
        unit="sentences",
        prepare=partial(_gradient, "enja", _PHRASE, Preset.DEFAULT, 4096),
        target="≤ 8 ms each, anonymous ≤ 1 GB",
        needs_data=True,
    ),
    Case(
        name="gradient pass, 500-best with rule ids, five folds, phrase, multi30k",
        area="training text",
        unit="sentences",
        prepare=partial(_gradient, "multi30k", _PHRASE, Preset.DEFAULT, 2048),
        target="≤ 8 ms each",
        needs_data=True,
    ),
    Case(
        name="gradient pass, 500-best with rule ids, five folds, hierarchical fast, enja",
        area="training text",
        unit="sentences",
        prepare=partial(_gradient, "enja", _HIERO, Preset.FAST, 2048),
        target="≤ 30 ms each, anonymous ≤ 1 GB",
        needs_data=True,
    ),
    Case(
        name="100-best by ten folds, multi30k",
        area="training text",
        unit="sentences",
        prepare=_folds,
        peer_name="one view",
        target="≥ 0.87×",
        needs_data=True,
    ),
    Case(
        name="a pass of MIRA by ten folds, 100-best with rm_phrase, fast, multi30k",
        area="training text",
        unit="sentences",
        prepare=_learning,
        target="≤ 6 ms each, anonymous ≤ 0.2 GB",
        needs_data=True,
    ),
    Case(
        name="gradient pass on two threads, phrase, enja (wall)",
        area="training text",
        unit="sentences",
        prepare=_threads,
        peer_name="one thread",
        target="≥ 1.7×",
        needs_data=True,
        wall=True,
    ),
]
