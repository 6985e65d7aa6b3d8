"""A pass of online learning: what it costs beside decoding, what many learners and two threads bring or cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from bench.harness import DATA, Case, Workload
from bench.passes import _HIERO, _system
from dragoman.candidates import read_references
from dragoman.metric import Smoothing, by_name
from dragoman.optim import Rm
from dragoman.optim.epochs import visiting_order
from dragoman.optim.learner_pass import Ground, LearningTask, ShareResult
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.online_margin import MarginRule
from dragoman.system import LiveDecoder, Preset
from dragoman.text import read_lines
from dragoman.tuning.mixing import LocalLearners

_N_SENTENCES = 500
_Pass = Callable[..., list[ShareResult]]


def _prepared(scale: float, features: tuple[str, ...] = ()) -> tuple[int, _Pass]:
    """A pass of `n_learners` on `n_threads`, from the start: 500-best lists of the development set of enja."""
    n = int(_N_SENTENCES * scale)
    system = _system("enja", _HIERO, 5).with_templates(features)
    decoder = LiveDecoder(system, list(read_lines(DATA / "enja" / "dev.ja.xz"))[:n], preset=Preset.FAST)
    metric = by_name("bleu", smoothing=Smoothing.NONE)
    task = LearningTask(rule=MarginRule(Rm()), metric=metric, batch=1, k=500, distinct=True, frozen=())
    ground = Ground.of(task, decoder, read_references([DATA / "enja" / "dev.en.xz"])[:n])
    learners = LocalLearners(ground)
    start = system.weights.values_on(decoder.index)
    sentences = np.flatnonzero(decoder.lengths)
    previous = np.zeros((n, metric.n_stats))
    for sentence in sentences.tolist():
        previous[sentence] = ground.judge.statistics(decoder.kbest(sentence, start, 1))[0]
    state = LearnerState.first(start, learners.measure(start, previous, n_threads=2), previous)
    order = visiting_order(sentences, key=[1, 1])

    def run(n_learners: int, n_threads: int = 1) -> list[ShareResult]:
        return learners.run(state, np.array_split(order, n_learners), n_threads=n_threads)[1]

    return n, run


def _stages(features: tuple[str, ...], scale: float) -> Workload:
    n, run = _prepared(scale, features)
    found: list[ShareResult] = []

    def told() -> str:
        of = {stage: sum(result.seconds[stage] for result in found) for stage in found[0].seconds}
        return f"statistics {of['statistics_cpu_s']:.2f} s, steps {of['update_cpu_s']:.2f} s"

    def ours() -> None:
        found[:] = run(1)

    return Workload(n_items=n, ours=ours, repeats=1, note=told)


def _beside(features: tuple[str, ...], ours: tuple[int, int], peer: tuple[int, int], scale: float) -> Workload:
    n, run = _prepared(scale, features)
    return Workload(n_items=n, ours=partial(run, *ours), peer=partial(run, *peer), repeats=1)


CASES = [
    Case(
        name="a pass of RM online, 500-best, hierarchical fast, enja",
        area="online",
        unit="sentences",
        prepare=partial(_stages, ()),
        target="≤ 12 s, statistics and steps ≤ 0.3",
        needs_data=True,
    ),
    Case(
        name="a pass of RM online with rm_sparse, 500-best, hierarchical fast, enja",
        area="online",
        unit="sentences",
        prepare=partial(_stages, ("rm_sparse",)),
        target="≤ 14 s",
        needs_data=True,
    ),
    Case(
        name="15 learners with rm_sparse, enja",
        area="online",
        unit="sentences",
        prepare=partial(_beside, ("rm_sparse",), (15, 1), (1, 1)),
        peer_name="one learner",
        target="≥ 0.97×",
        needs_data=True,
    ),
    Case(
        name="15 learners on two threads, enja (wall)",
        area="online",
        unit="sentences",
        prepare=partial(_beside, (), (15, 2), (15, 1)),
        peer_name="one thread",
        target="≥ 1.8×",
        needs_data=True,
        wall=True,
    ),
]
