"""Sparse reordering features in search, beside the hierarchical reordering model alone."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from bench.harness import DATA, Case, Workload
from dragoman.features import Weights
from dragoman.system import PhraseSettings, System, SystemSettings, TrainConfig, train
from dragoman.system.settings import reordering_by_name
from dragoman.text import read_lines

N_SENTENCES = 300
K = 100
TARGETS = {"sparse_hrm_local": 1.1, "sparse_hrm": 1.3}


def _workload(features: str, scale: float) -> Workload:
    data = DATA / "multi30k"
    lines = list(read_lines(data / "dev.de.xz"))[: int(N_SENTENCES * scale)]
    settings = SystemSettings(
        model=PhraseSettings(reordering=reordering_by_name("hrm5")), classes=(20, 50, 80), features=(features,)
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "system"
        sparse = train(
            data / "train.de.xz", data / "train.en.xz", folder, config=TrainConfig(settings=settings), n_threads=2
        )
        plain = System.load(folder).with_templates(())
    # All features that options of the sentences have get a weight, a small one, so that both search the same space.
    sparse.translator.prepare(lines)
    names = [name for name in sparse.index.names(np.arange(len(sparse.index), dtype=np.int32)) if ":" in name]
    values = 1e-3 * np.random.default_rng(1).normal(size=len(names))
    weights = Weights.from_dict(dict(sparse.weights.items()) | dict(zip(names, values, strict=True)), sparse.index)
    return Workload(
        n_items=len(lines),
        ours=lambda: sparse.kbest(lines, K, weights=weights),
        peer=lambda: plain.kbest(lines, K, weights=plain.weights),
        repeats=5,
        peer_repeats=5,
        note=lambda: f"{len(names):,} features",
    )


CASES = [
    Case(
        name=f"options and {K}-best with {features}, multi30k dev, hrm5",
        area="reordering",
        unit="sentences",
        prepare=partial(_workload, features),
        peer_name="hrm5 alone",
        target=f"at most {limit} times the peer",
        needs_data=True,
    )
    for features, limit in TARGETS.items()
]
