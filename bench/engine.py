"""Workers beside threads: the same translations by two processes, two Ray actors and two threads, once all are started.

Wall-clock times: what workers cost in packing, sending and waiting.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import partial

from bench.harness import Case, Workload
from bench.passes import _PHRASE, _system
from dragoman.system import ListsJob
from dragoman.work.engine import Engine, LocalEngine, open_engine

_BLOCK = 64
_WORKERS = 2


def _lists(open_workers: Callable[[], Engine], scale: float) -> Workload:
    """100-best lists, as in a round of tuning: the results are large."""
    system = _system("enja", _PHRASE, 5)
    sentences = [system.training.source(line) for line in range(int(4096 * scale))]
    blocks = [sentences[first : first + _BLOCK] for first in range(0, len(sentences), _BLOCK)]
    job = ListsJob(view=system, weights=system.weights, k=100)
    workers, threads = open_workers(), LocalEngine(_WORKERS)
    atexit.register(workers.close)
    for engine in (workers, threads):
        _work(engine, job, [["a"]] * 8 * _WORKERS)  # starts the workers
    return Workload(
        n_items=len(sentences),
        ours=partial(_work, workers, job, blocks),
        peer=partial(_work, threads, job, blocks),
        repeats=3,
        peer_repeats=3,
    )


def _work(engine: Engine, job: ListsJob, blocks: list[list[str]]) -> None:
    for _ in engine.map(job, blocks):
        pass


CASES = [
    Case(
        name=f"100-best lists by two {name}, phrase, enja (wall)",
        area="engine",
        unit="sentences",
        prepare=partial(_lists, partial(open_engine, kind, n_workers=_WORKERS, n_threads=1)),
        peer_name="two threads",
        target="≥ 0.87×",
        needs_data=True,
        wall=True,
    )
    for name, kind in (("processes", "local"), ("Ray actors", "ray"))
]
