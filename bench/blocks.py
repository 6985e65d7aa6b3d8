"""Decoding by a block of a million coefficients, beside decoding by the weights that it stands for."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from bench.harness import ANCHORS, DATA, Case, Workload
from dragoman.features import Block, FeatureIndex, FeatureTable, Weights
from dragoman.system import KINDS, Preset, System, SystemSettings, TrainConfig, train
from dragoman.text import read_lines

N_COEFFICIENTS = 1_000_000
N_SENTENCES = 200
SHARE = 0.5
TEMPLATES = ("rule_id", "word_context(top=0)")


def _trained(kind: str, folder: Path) -> System:
    data = DATA / "enja"
    return train(
        data / "train.ja.xz",
        data / "train.en.xz",
        folder,
        alignment=ANCHORS / "moses-enja" / "train.align.xz",
        config=TrainConfig(settings=SystemSettings(model=KINDS[kind].settings(), features=TEMPLATES)),
        n_threads=2,
    )


def _direction(system: System, lines: list[str]) -> FeatureTable:
    """Features of options of the sentences, and others up to a million, with coefficients."""
    system.translator.prepare(lines)
    met = system.index.names(np.arange(len(system.index), dtype=np.int32))
    index = FeatureIndex()
    for name in met:
        if ":" in name and len(index) < N_COEFFICIENTS:
            index.intern(name)
    for i in range(N_COEFFICIENTS - len(index)):
        index.intern(f"rule_id:made,up{i}")
    values = np.random.default_rng(1).normal(size=len(index)) * 0.01
    return FeatureTable.from_ids(index, np.arange(len(index), dtype=np.int32), {"coefficient": values})


def _workload(kind: str, scale: float) -> Workload:
    lines = list(read_lines(DATA / "enja" / "dev.ja.xz"))[: int(N_SENTENCES * scale)]
    with tempfile.TemporaryDirectory() as scratch:
        plain = _trained(kind, Path(scratch) / "system")
        direction = _direction(plain, lines)
        blocks = System.load(plain.folder).with_blocks([Block("direction", direction, "coefficient")])
    dense = dict(plain.weights.items())
    coefficients = dict(zip(direction.names(), (SHARE * direction.columns["coefficient"]).tolist(), strict=True))
    whole = Weights.from_dict(dense | coefficients, plain.index)
    weights = Weights.from_dict({**dense, "direction": SHARE}, blocks.index)
    return Workload(
        n_items=len(lines),
        ours=lambda: blocks.kbest(lines, 100, weights=weights, preset=Preset.FAST),
        peer=lambda: plain.kbest(lines, 100, weights=whole, preset=Preset.FAST),
        repeats=3,
        peer_repeats=3,
    )


CASES = [
    Case(
        name=f"100-best by a block of a million coefficients, enja, {kind}",
        area="blocks",
        unit="sentences",
        prepare=partial(_workload, kind),
        peer_name="plain weights",
        target="at most 1.1 times the peer",
        needs_data=True,
    )
    for kind in KINDS
]
