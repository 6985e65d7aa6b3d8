"""Named sparse vectors: ten million weights from a binary file, and the sum of two tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.harness import RESULTS, ROOT, Case, Workload
from dragoman.features import FeatureIndex, FeatureTable, Weights, read_weights, write_weights

N_WEIGHTS = 10_000_000
_BLOCK = 1 << 18


def _write(path: Path, n_weights: int) -> None:
    """Rule ids of about 35 bytes with random weights."""
    index = FeatureIndex()
    for begin in range(0, n_weights, _BLOCK):
        names = (f"rule_id:wort{i % 997},der\\s{i},house\\s{i % 1000}\n" for i in range(begin, begin + _BLOCK))
        index.intern_lines("".join(names).encode())
    values = np.random.default_rng(1).normal(size=len(index))
    write_weights(Weights(index, values), path)


def _stored(scale: float) -> tuple[Path, int]:
    """Written by another process, whose memory does not count; kept for the next run."""
    n_weights = round(N_WEIGHTS * scale)
    path = RESULTS / "vectors" / f"{n_weights}.bin"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "bench.vectors", str(path), str(n_weights)], check=True, cwd=ROOT)
    return path, n_weights


def _load(scale: float) -> Workload:
    path, n_weights = _stored(scale)
    return Workload(n_items=n_weights, ours=lambda: read_weights(path), repeats=3)


def _sum(scale: float) -> Workload:
    path, n_weights = _stored(scale)
    whole = FeatureTable.load(path)
    column = {"weight": whole.columns["weight"]}
    left, right = (whole.with_columns(column).take(np.flatnonzero(np.arange(len(whole)) % 3 != i)) for i in range(2))
    return Workload(n_items=n_weights, ours=lambda: left.add(right), repeats=3)


CASES = [
    Case(name="load a weight file", area="vectors", unit="weights", prepare=_load, target="10M in 2 s and 1 GB"),
    Case(name="sum of two tables, a third in both", area="vectors", unit="features", prepare=_sum),
]

if __name__ == "__main__":
    _write(Path(sys.argv[1]), int(sys.argv[2]))
