"""Chart decoding with Moses' exported hierarchical model of enja: its first hundred test sentences."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bench.harness import ANCHORS, DATA, Case, Workload
from bench.moses_rules import MosesRules, first_lines
from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.search import ChartConfig, ChartDecoder, ChartFeatures

N_SENTENCES = 100
RULE_LIMIT = 20
"""Rules of a source side, the best by p(e|f): what a grammar's view gives."""
POP_LIMITS = (20, 40, 80, 150, 300)


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
        return lambda: float(np.mean(decoder.kbest(options, weights, 1).scores)) + rules.constant()

    return with_config


def _case(name: str, config: ChartConfig, target: str = "") -> Case:
    def prepare(scale: float) -> Workload:
        n = int(N_SENTENCES * scale)
        return Workload(n_items=n, ours=_prepared(n)(config), repeats=3)

    return Case(name=name, area="chart", unit="sentences", prepare=prepare, target=target, needs_data=True)


CASES = [
    _case("decode, Moses' rules of enja test", ChartConfig(), "at most 30 ms a sentence, model score of Moses chart"),
    _case("the same, --fast", ChartConfig.fast()),
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
