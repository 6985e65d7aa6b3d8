"""What a gradient pass costs on many machines: a model fitted to runs here, and its forecast.

`python -m bench.cost_model [--lines 4096]` runs passes with 1, 2 and 4 worker processes, fits, and prints the figures
of docs/cluster.md. Decoding and gradients are done by all workers at once; the process that started them receives the
table of every shard and adds it to the sum, one after the other.
"""

from __future__ import annotations

import argparse
import pickle
import time
from dataclasses import dataclass, replace

import numpy as np

from bench.passes import _PHRASE, _system
from dragoman.cost import n_cores
from dragoman.gradients import Gradient, GradientPass, PassSettings
from dragoman.gradients.job import gradient_of
from dragoman.system import FoldDecoder
from dragoman.work.engine import LocalEngine, TreeSum
from dragoman.work.engine.processes import ProcessEngine

SHARD = 1024
N_SHARDS = 8
"""Of the runs here."""
N_SENTENCES, N_FEATURES = 1e7, 1e8
"""Of the forecast."""
NETWORK_BYTES_S = 1.1e9
"""Of the starting host: 10 Gbit/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """Seconds of one core. A sum of n lines has `features · n^growth` features, at most those that there are."""

    decode_s: float
    """Of a sentence: search and statistics of its candidates."""
    gradient_s: float
    """Of a sentence."""
    bytes_per_feature: float
    """Of a shard's table on its way."""
    transfer_s: float
    """Of a byte: packing at the worker and unpacking here; the network comes on top."""
    reduce_s: float
    """Of a feature of either summand, in the sum of two tables."""
    features: float
    growth: float
    start_s: float
    """Of a worker, until it has opened the system."""

    def n_features(self, n_lines: float, n_all: float = np.inf) -> float:
        return float(min(self.features * n_lines**self.growth, n_all))

    def times(
        self,
        n_sentences: float,
        n_workers: int,
        *,
        shard: float = SHARD,
        n_features: float = np.inf,
        network: float = np.inf,
    ) -> dict[str, float]:
        """Seconds of each part of a pass; decode and gradient of all workers together, transfer and reduce here."""
        n_shards = max(1.0, n_sentences / shard)
        table = self.n_features(shard, n_features)
        reduce, size, n_nodes = 0.0, float(shard), n_shards
        while n_nodes > 1:
            reduce += n_nodes * self.n_features(size, n_features) * self.reduce_s
            size, n_nodes = 2 * size, n_nodes / 2
        n_bytes = n_shards * table * self.bytes_per_feature
        return {
            "start": self.start_s,
            "decode": n_sentences * self.decode_s / n_workers,
            "gradient": n_sentences * self.gradient_s / n_workers,
            "transfer": n_bytes * (self.transfer_s + 1 / network),
            "reduce": reduce,
        }

    def wall_s(self, n_sentences: float, n_workers: int, **limits: float) -> float:
        """Workers go on while this process receives and adds: the slower of the two counts."""
        t = self.times(n_sentences, n_workers, **limits)
        return t["start"] + max(t["decode"] + t["gradient"], t["transfer"] + t["reduce"])

    def sum_s(self, n_sentences: float, n_parts: int, *, network: float = np.inf) -> float:
        """Seconds for the sum of parts that are files on a shared disk."""
        table, reduce, size, n_nodes = (
            self.n_features(n_sentences / n_parts),
            0.0,
            n_sentences / n_parts,
            float(n_parts),
        )
        while n_nodes > 1:
            reduce += n_nodes * self.n_features(size) * self.reduce_s
            size, n_nodes = 2 * size, n_nodes / 2
        return n_parts * table * self.bytes_per_feature / network + reduce


def measure(n_lines: int) -> tuple[CostModel, dict[int, float]]:
    """The model's figures from one worker here, and the wall time of passes with 1, 2 and 4 worker processes."""
    settings = PassSettings(features=("rule_id",), scale=3, limit=n_lines, k=500, lines_per_shard=n_lines // N_SHARDS)
    work = GradientPass.of(_system("enja", _PHRASE, 5), settings)
    decoder = FoldDecoder(work.system)
    metric, losses = settings.measure(), settings.made_losses()
    weights = work.system.weights
    decoder.kbest(work.shards[0][:50], weights, settings.k)  # opens the views
    cpu = time.process_time()
    pool = decoder.measured(decoder.kbest(work.shards[0], weights, settings.k), metric)
    decode = time.process_time() - cpu
    cpu = time.process_time()
    gradient_of(pool, losses, settings.scale * weights.on(pool.index).values)
    gradient = time.process_time() - cpu
    parts = list(LocalEngine(1).map(work.job, work.shards))
    cpu = time.process_time()
    data = [pickle.dumps(part) for part in parts]
    for one in data:
        pickle.loads(one)
    transfer = time.process_time() - cpu
    n_bytes, n_table = sum(map(len, data)), sum(len(part.table) for part in parts)
    n_added = 0

    def add(left: Gradient, right: Gradient) -> Gradient:
        nonlocal n_added
        n_added += len(left.table) + len(right.table)
        return left.add(right)

    tree = TreeSum(add)
    cpu = time.process_time()
    for shard, part in enumerate(parts):
        tree.put(shard, part)
    whole = tree.total()
    reduce = time.process_time() - cpu
    growth = np.log(len(whole.table) / np.mean([len(part.table) for part in parts])) / np.log(len(parts))
    walls, starts = {}, []
    for n_workers in (1, 2, 4):
        with ProcessEngine(n_workers) as engine:
            began = time.perf_counter()
            next(iter(engine.map(work.job, [work.shards[0][:1]])))
            starts.append(time.perf_counter() - began)
            list(engine.map(work.job, [work.shards[0][:1]] * (4 * n_workers)))
            began = time.perf_counter()
            tree = TreeSum(Gradient.add)
            work.run(engine, tree)
            walls[n_workers] = time.perf_counter() - began
    model = CostModel(
        decode_s=decode / len(work.shards[0]),
        gradient_s=gradient / len(work.shards[0]),
        bytes_per_feature=n_bytes / n_table,
        transfer_s=transfer / n_bytes,
        reduce_s=reduce / n_added,
        features=float(np.mean([len(part.table) for part in parts]) / len(work.shards[0]) ** growth),
        growth=float(growth),
        start_s=float(np.median(starts)),
    )
    return model, walls


def fitted(model: CostModel, n_lines: int, walls: dict[int, float]) -> float:
    """By least squares, how many times longer than alone a sentence takes when the cores have other work too."""
    expected = np.array([_alone(model, n_lines, n) for n in walls])
    return float(expected @ np.array(list(walls.values())) / (expected @ expected))


def _alone(model: CostModel, n_lines: int, n_workers: int) -> float:
    """Seconds of a pass on this machine, its workers started, with nothing else at work."""
    return model.wall_s(n_lines, min(n_workers, n_cores()), shard=n_lines / N_SHARDS) - model.start_s


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cost_model", description=__doc__)
    parser.add_argument("--lines", type=int, default=4096)
    n_lines = parser.parse_args().lines
    model, walls = measure(n_lines)
    print(model)
    factor = fitted(model, n_lines, walls)
    for n, wall in walls.items():
        forecast = factor * _alone(model, n_lines, n)
        print(f"{n} workers on {n_cores()} cores: {wall:.1f} s, the model says {forecast:.1f} (load {factor:.2f})")
    large = replace(model, features=N_FEATURES / N_SENTENCES**model.growth)
    for machines in (1, 10, 100, 1000):
        n_workers = 16 * machines
        times = large.times(N_SENTENCES, n_workers, network=NETWORK_BYTES_S)
        shown = ", ".join(f"{name} {seconds:,.0f}" for name, seconds in times.items())
        wall = large.wall_s(N_SENTENCES, n_workers, network=NETWORK_BYTES_S)
        print(f"{machines} machines of 16 cores: {wall:,.0f} s ({shown})")
    parts = large.wall_s(N_SENTENCES / 100, 16) + large.sum_s(N_SENTENCES, 100, network=NETWORK_BYTES_S)
    print(f"100 parts of one machine each, then their sum: {parts:,.0f} s")
    table = model.n_features(SHARD) * model.bytes_per_feature / 1e6
    print(f"a shard's table: {model.n_features(SHARD):,.0f} features, {table:.1f} MB")


if __name__ == "__main__":
    main()
