"""How the time of FastForest grows with the length of sentences (its Figure 3), how much memory forests take, and how
long candidate lists of the same sentences take.

    python bench/reference_lengths.py SYSTEM [LINES]

SYSTEM has folds; LINES (1,000) of its fold 0 are parsed by the tables of the others, in groups of about equal length,
on one thread. Prints a row for each group: its mean number of source words, and CPU milliseconds a sentence for looking
up rules with their features, for bi-parsing with what competes, for an epoch of learning, for 100-best lists of the
fast preset (of every fourth sentence), edges, and kB in the learner; then the exponents of the length that fit best.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dragoman import System, _core
from dragoman.features import FeatureIndex
from dragoman.search import ReferenceConfig
from dragoman.search.chart_builder import RuleOptionBuilder
from dragoman.system import Preset
from dragoman.system.references import MAX_WORDS

N_GROUPS = 12
CONFIG = ReferenceConfig(beam=4.0, wrong_beam=6.0)
COLUMNS = ("look-up", "bi-parsing", "epoch", "100-best")


def cpu_ms(work: Callable[[], Any], n: int) -> tuple[float, Any]:
    """The better of two runs."""
    best, found = float("inf"), None
    for _ in range(2):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best / n * 1000, found


def measure(system: System, lines: np.ndarray) -> tuple[list[float], float, float]:
    """Milliseconds a sentence by column, edges, and kB."""
    training, view = system.training, system.view_on(FeatureIndex(), 0)
    translator, weights = view.translator, view.weights
    parser = translator.reference_parser()
    source, target = training.encoded(lines, 0), training.target_ids.take(lines)
    sides = target.offsets, target.ids
    links = training.links.take(lines)
    builder = parser._builder

    def look_up() -> Any:
        if isinstance(builder, RuleOptionBuilder):
            return builder.build_pairs(source, sides, links)
        return builder.build(source)

    parser.parse(source, sides, links, weights, CONFIG)  # what is read once is read
    looked_up, _ = cpu_ms(look_up, len(lines))
    both, forests = cpu_ms(lambda: parser.parse(source, sides, links, weights, CONFIG), len(lines))
    index = translator.index
    store = _core.ReferenceStore(len(index))
    store.add(forests.arrays(), np.arange(len(index), dtype=np.int32))
    values, model, none = weights.values_on(index), _core.ReferenceModel("likelihood"), np.zeros(0)
    order = np.arange(len(store))

    def learn() -> float:
        learner = _core.Learner(values, max(1, len(store)), none, none, 0.01, 0.0, 1.0, False, True)
        start = time.process_time()
        for _ in range(20):
            store.epoch(learner, model, order)
        return (time.process_time() - start) / 20

    epoch = min(learn() for _ in range(2)) / len(lines) * 1000
    some = training.encoded(lines[::4], 0)
    lists, _ = cpu_ms(lambda: translator.kbest(some, weights, 100, preset=Preset.FAST, distinct=True), len(lines[::4]))
    times = [looked_up, max(0.0, both - looked_up), epoch, lists]
    return times, forests.n_edges / len(lines), store.n_bytes() / max(1, len(lines)) / 1000


def main(folder: str, n_lines: int = 1000) -> None:
    system = System.load(folder).with_templates(("fastforest_sparse",))
    training = system.training
    lengths = training.source_ids.lengths()
    usable = np.flatnonzero(
        (training.folds == 0) & (lengths > 0) & (np.maximum(lengths, training.target_ids.lengths()) <= MAX_WORDS)
    )
    chosen = np.sort(np.random.default_rng(1).permutation(usable)[:n_lines])
    chosen = chosen[np.argsort(lengths[chosen], kind="stable")].astype(np.int64)
    rows = []
    print(f"{'words':>6} {'lines':>6} " + " ".join(f"{name:>10}" for name in COLUMNS) + f" {'edges':>8} {'kB':>7}")
    for group in np.array_split(chosen, N_GROUPS):
        own = np.sort(group)
        times, edges, size = measure(system, own)
        words = float(lengths[own].mean())
        rows.append((words, len(own), *times, edges, size))
        print(f"{words:6.1f} {len(own):6} " + " ".join(f"{t:10.3f}" for t in times) + f" {edges:8.0f} {size:7.1f}")
    table = np.array(rows)
    share = table[:, 1] / table[:, 1].sum()
    means = share @ table
    print(f"{means[0]:6.1f} {'mean':>6} " + " ".join(f"{t:10.3f}" for t in means[2:6]), end="")
    print(f" {means[6]:8.0f} {means[7]:7.1f}")
    together = table[:, 2] + table[:, 3] + table[:, 4]
    for name, column in zip(("all but lists", *COLUMNS), (together, *table.T[2:6]), strict=True):
        fits = (column > 0) & (table[:, 0] >= 3)
        exponent = np.polyfit(np.log(table[fits, 0]), np.log(column[fits]), 1)[0]
        print(f"exponent of {name}: {exponent:.2f}")
    print(f"100-best lists take {means[5] / (share @ together):.1f} times as long")
    print(f"forests of all {len(training):,} lines: about {means[7] * len(training) / 1048576:.2f} GiB in the learner")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
