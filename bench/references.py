"""Forests around references of the training text, beside 100-best lists of the same lines; epochs of learning."""

from __future__ import annotations

import numpy as np

from bench.harness import Case, Workload
from bench.stored_lists import system
from dragoman import _core
from dragoman.features import FeatureIndex, FeatureTable
from dragoman.search import ReferenceConfig
from dragoman.system import FoldDecoder, Preset
from dragoman.system.references import FoldReferences, LineForests

N_LINES = 1024
_PEER_SHARE = 0.1
FEATURES = ("fastforest_sparse",)


def _made(n_lines: int) -> LineForests:
    found = system("hiero").with_templates(FEATURES)
    weights = FeatureTable.from_weights(found.weights, "weight")
    # With beams that suit the scale of the start weights.
    config = ReferenceConfig(beam=8.0, wrong_beam=12.0)
    return FoldReferences(found).parse(np.arange(n_lines, dtype=np.int64), weights, config)


def _parse(scale: float) -> Workload:
    n_lines = round(N_LINES * scale)
    _made(64)  # opens the views
    decoder = FoldDecoder(system("hiero").with_templates(()), preset=Preset.FAST)
    lines = np.arange(round(n_lines * _PEER_SHARE), dtype=np.int64)
    return Workload(
        n_items=n_lines,
        ours=lambda: _made(n_lines),
        peer=lambda: decoder.kbest(lines, decoder.system.weights, 100, distinct=True),
        peer_share=_PEER_SHARE,
        repeats=3,
        note=lambda: f"{_made(n_lines).forests.n_edges / n_lines:.0f} edges a sentence",
    )


def _epoch(scale: float) -> Workload:
    n_lines = round(N_LINES * scale)
    part = _made(n_lines)
    index = FeatureIndex()
    ids = index.extend_table(part.features.features, None)
    store = _core.ReferenceStore(len(index))
    store.add(part.forests.arrays(), ids)
    start = system("hiero").weights.values_on(index)
    learner = _core.Learner(start, len(store), np.zeros(0), np.zeros(0), 0.01, 0.0, 1.0, False, True)
    model = _core.ReferenceModel("likelihood")
    order = np.random.default_rng(1).permutation(len(store))
    size = store.n_bytes() / max(1, len(store))
    return Workload(
        n_items=len(store),
        ours=lambda: store.epoch(learner, model, order),
        note=lambda: f"{size / 1000:.1f} kB a sentence",
    )


CASES = [
    Case(
        name="enja hierarchical, held out, contexts",
        area="forests around references",
        unit="sentences",
        prepare=_parse,
        peer_name="100-best lists, fast",
        target="500 sentences/s, 97 times the lists",
        needs_data=True,
    ),
    Case(
        name="an epoch of likelihood, enja hierarchical",
        area="forests around references",
        unit="sentences",
        prepare=_epoch,
        target="1,000 sentences/s",
        needs_data=True,
    ),
]
