"""Chart decoding: Moses' exported model of enja on its first test sentences; long lists with sparse features."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from bench.harness import ANCHORS, DATA, Case, Workload
from bench.moses_rules import MosesRules, first_lines
from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.search import ChartConfig, ChartDecoder, ChartFeatures
from dragoman.system import HieroSettings, SystemSettings, TrainConfig, train
from dragoman.text import read_lines

N_SENTENCES = 100
RULE_LIMIT = 20
"""Rules of a source side, the best by p(e|f): what a grammar's view gives."""
POP_LIMITS = (20, 40, 80, 200, 300, 500)


def _prepared(n_sentences: int) -> Callable[[ChartConfig], Callable[[], float]]:
    """For a configuration: the decoding of all sentences, which gives their mean model score in Moses' terms."""
    rules = MosesRules(ANCHORS / "moses-enja" / "hiero")
    options = rules.options(first_lines(DATA / "enja" / "test.ja.xz", n_sentences), RULE_LIMIT)
    text = TrainingText()
    text.add_file(DATA / "enja" / "train.en.xz")
    lm = estimate(text, EstimateConfig(order=5)).model

    def with_config(config: ChartConfig) -> Callable[[], float]:
        index = FeatureIndex()
        decoder = ChartDecoder(config, rules.vocab, index, features=ChartFeatures(unknown="unknown"), lm=lm)
        weights = Weights.from_dict(rules.weights, index)
        return lambda: float(np.mean(decoder.kbest(options, weights, 1).totals)) + rules.constant()

    return with_config


def _case(name: str, config: ChartConfig, target: str = "") -> Case:
    def prepare(scale: float) -> Workload:
        n = int(N_SENTENCES * scale)
        decode = _prepared(n)(config)
        score = 0.0

        def run() -> None:
            nonlocal score
            score = decode()

        return Workload(n_items=n, ours=run, repeats=3, note=lambda: f"mean model score {score:.3f}")

    return Case(name=name, area="chart", unit="sentences", prepare=prepare, target=target, needs_data=True)


def _lists(templates: tuple[str, ...], scale: float) -> Workload:
    """1000-best lists of dev sentences as a pool, from a system of our own."""
    data = DATA / "enja"
    with tempfile.TemporaryDirectory() as scratch:
        system = train(
            data / "train.ja.xz",
            data / "train.en.xz",
            Path(scratch) / "system",
            alignment=ANCHORS / "moses-enja" / "train.align.xz",
            config=TrainConfig(settings=SystemSettings(model=HieroSettings(), features=templates)),
            n_threads=2,
        )
    lines = list(read_lines(data / "dev.ja.xz"))
    lines = lines[: int(len(lines) * scale)]
    found = ""

    def run() -> None:
        nonlocal found
        shard = system.kbest(lines, 1000, n_threads=2).shards[0]
        n = len(shard.totals)
        found = f"{n:,} candidates, {len(shard.feature_ids) / n:.0f} features each"

    return Workload(n_items=len(lines), ours=run, repeats=3, note=lambda: found)


def _lists_case(name: str, templates: tuple[str, ...], target: str = "") -> Case:
    return Case(
        name=f"1000-best {name} into a pool, enja dev, two threads (wall)",
        area="chart",
        unit="sentences",
        prepare=partial(_lists, templates),
        target=target,
        needs_data=True,
        wall=True,
    )


CASES = [
    _case("decode, Moses' rules of enja test", ChartConfig(), "≤ 40 CPU-ms a sentence, model score ≥ -12.004"),
    _case("the same, --fast", ChartConfig.fast(), "model score ≥ -12.046"),
    _case("the same, --accurate", ChartConfig.accurate(), "model score ≥ -11.988"),
    _lists_case("without sparse features", ()),
    _lists_case("with rule ids and word context", ("rules_in_context",), "≤ 30 s"),
]


def main() -> None:
    """Milliseconds of CPU (the better of two runs) and mean model score for each pop limit."""
    with_config = _prepared(N_SENTENCES)
    for pop_limit in POP_LIMITS:
        run = with_config(ChartConfig(pop_limit=pop_limit))
        times = []
        for _ in range(2):
            start = time.process_time()
            score = run()
            times.append((time.process_time() - start) * 1000 / N_SENTENCES)
        print(f"pop limit {pop_limit}: {min(times):.1f} ms a sentence, mean model score {score:.3f}", flush=True)


if __name__ == "__main__":
    main()
